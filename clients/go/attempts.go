package clew

import (
	"context"
	"errors"

	clewv1 "clew.dev/clew/clew/v1"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
)

// A startRequest is what begins an attempt.
type startRequest interface {
	proto.Message
	GetRequestId() string
}

// An attempt is a send, decide, resume or retry, to the end of its attempt.
//
// Until the attempt is known to have started, a stream that breaks is asked for again with the same request id, which the server answers
// with the attempt that the first one started, if it did. From then on the thread is watched.
type attempt struct {
	to *connection
	// Empty for a run without a thread.
	threadID string
	actor    string
	// Makes the request once the server can be asked what it is about.
	prepare func(context.Context) (startRequest, error)
	request startRequest
}

func (a *attempt) call(ctx context.Context, at *position) (open, error) {
	if at.started {
		return a.to.watching(&clewv1.WatchRequest{
			ThreadId: a.threadID, ThreadUid: at.threadUID, AfterVersion: at.cursor, RunId: at.runID,
		}), nil
	}
	if a.request == nil {
		request, err := a.prepare(ctx)
		if err != nil {
			return nil, err
		}
		if err := checkText(request); err != nil {
			return nil, err
		}
		a.request = request
	}
	return a.to.starting(a.request), nil
}

func (a *attempt) endsWith(event *clewv1.Event) bool { return isTerminal(event) }

// A run without a thread is in no log, and cancelled when its stream breaks.
func (a *attempt) mayRejoin(at *position) bool { return a.threadID != "" || !at.started }

func (a *attempt) ended() bool { return false }

// part cancels the run; before it is known, what the request began or waits for. A run without a thread ends with its call.
func (a *attempt) part(ctx context.Context, reader *eventReader) error {
	for a.threadID != "" && a.request != nil {
		started := reader.at.started
		err := a.cancel(ctx, reader.at)
		if !errors.Is(err, NotFound) {
			return err
		}
		// The thread is gone; or a newer run has taken the place of this one, which has ended then; or else the request has not come yet,
		// which its stream shows when it has.
		if started || !reader.learn(ctx) {
			return nil
		}
	}
	return nil
}

func (a *attempt) cancel(ctx context.Context, at *position) error {
	request := &clewv1.CancelRunRequest{ThreadId: a.threadID, RunId: at.runID, RequestId: newRequestID(), Actor: a.actor}
	if !at.started {
		request.StartedByRequestId = a.request.GetRequestId()
	}
	_, err := ask(ctx, a.to, a.to.runs.CancelRun, request)
	return err
}

// A watch is a thread's events after a version. Leaving it has no effect on any run.
type watch struct {
	to       *connection
	threadID string
	runID    string
	follow   bool
	rests    bool
}

func (w *watch) call(_ context.Context, at *position) (open, error) {
	request := &clewv1.WatchRequest{
		ThreadId: w.threadID, ThreadUid: at.threadUID, AfterVersion: at.cursor, RunId: w.runID, Follow: w.follow,
	}
	if err := checkText(request); err != nil {
		return nil, err
	}
	return w.to.watching(request), nil
}

// A run's first terminal event ends a watch of that run; the server ends the others.
func (w *watch) endsWith(event *clewv1.Event) bool {
	if isLogged(event) {
		w.rests = isTerminal(event)
	}
	return w.runID != "" && isTerminal(event)
}

func (w *watch) mayRejoin(*position) bool { return true }

// After a terminal event the thread is at rest.
func (w *watch) ended() bool { return w.rests && !w.follow }

func (w *watch) part(context.Context, *eventReader) error { return nil }

func (c *connection) starting(request startRequest) open {
	return func(ctx context.Context) (receive, error) {
		switch request := request.(type) {
		case *clewv1.DecideRequest:
			return receiving(c.runs.Decide(ctx, request))
		case *clewv1.ResumeRequest:
			return receiving(c.runs.Resume(ctx, request))
		case *clewv1.RetryRequest:
			return receiving(c.runs.Retry(ctx, request))
		default:
			return receiving(c.runs.Send(ctx, request.(*clewv1.SendRequest)))
		}
	}
}

func (c *connection) watching(request *clewv1.WatchRequest) open {
	return func(ctx context.Context) (receive, error) { return receiving(c.runs.Watch(ctx, request)) }
}

// newRequestID names one request, however often it has to be sent.
func newRequestID() string { return uuid.NewString() }
