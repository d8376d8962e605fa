package clew

import (
	"context"

	clewv1 "clew.dev/clew/clew/v1"
)

// open begins a call that streams events.
type open func(context.Context) (receive, error)

// receive gives the next events of a call, one or more, or what it ended with: io.EOF where that went well.
type receive func() ([]*clewv1.Event, error)

// heard is what came of one receive.
type heard struct {
	events []*clewv1.Event
	err    error
}

// A line is one call, which is read in a goroutine of its own, so that who waits for it may cease to wait. It holds one response that
// nobody took, and lets the server wait with the others.
type line struct {
	heard  chan heard
	hangUp context.CancelFunc
}

// startLine opens a call that has the context's deadline and values, but is not cancelled with it: who leaves has to hear what comes of
// the request meanwhile.
func startLine(ctx context.Context, open open) *line {
	calling, hangUp := context.WithCancel(context.WithoutCancel(ctx))
	if deadline, has := ctx.Deadline(); has {
		hangUp()
		calling, hangUp = context.WithDeadline(context.WithoutCancel(ctx), deadline)
	}
	made := &line{heard: make(chan heard), hangUp: hangUp}
	go made.listen(calling, open)
	return made
}

func (l *line) listen(ctx context.Context, open open) {
	next, err := open(ctx)
	for {
		var told heard
		if err == nil {
			told.events, err = next()
		}
		told.err = err
		select {
		case l.heard <- told:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// receiving is the receive of a stub's streaming call.
func receiving[R interface{ GetEvents() []*clewv1.Event }](call interface{ Recv() (R, error) }, err error) (receive, error) {
	if err != nil {
		return nil, err
	}
	return func() ([]*clewv1.Event, error) {
		response, err := call.Recv()
		if err != nil {
			return nil, err
		}
		return response.GetEvents(), nil
	}, nil
}
