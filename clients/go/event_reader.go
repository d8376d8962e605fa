package clew

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
)

const drainTime = 250 * time.Millisecond

var (
	errSilent      = errors.New("nothing came for so long that the connection must be dead")
	errInterrupted = errors.New("the reader was called away")
)

// A course is what makes the stream of an attempt differ from that of a watch.
type course interface {
	// call is how to begin where the position is. It may ask the server first, within the context.
	call(ctx context.Context, at *position) (open, error)
	// endsWith is whether the stream is over with this event.
	endsWith(event *clewv1.Event) bool
	// mayRejoin is whether a stream that broke can be opened anew without doing anything twice.
	mayRejoin(at *position) bool
	// ended is whether a stream that the server ended in good order is at its end, and was not just cut.
	ended() bool
	// part does what is due when the reader leaves before the end.
	part(ctx context.Context, reader *eventReader) error
}

// An eventReader reads events until the stream is over, and opens it anew where it breaks. One goroutine reads it; any may leave it.
type eventReader struct {
	to     *connection
	ctx    context.Context
	course course

	// Ends when ctx does, or when the reader is left.
	reading     context.Context
	stopReading context.CancelFunc
	leaving     sync.Once
	leaveErr    error

	// Held by who reads, and by who parts.
	mu       sync.Mutex
	at       *position
	patience *patience
	line     *line
	opened   int
	over     bool
	broken   string
	unwatch  func() bool
}

func newEventReader(ctx context.Context, to *connection, course course, at *position) *eventReader {
	reading, stopReading := context.WithCancel(ctx)
	return &eventReader{to: to, ctx: ctx, course: course, at: at, reading: reading, stopReading: stopReading}
}

// read gives the next events, one or more; io.EOF when the stream is over, or what ended it otherwise.
func (r *eventReader) read() ([]*clewv1.Event, error) {
	events, err := r.readOn()
	if !errors.Is(err, errInterrupted) {
		return events, err
	}
	switch {
	case errors.Is(r.ctx.Err(), context.Canceled):
		text := "the stream was left, since its context was cancelled"
		if err := r.leave(); err != nil {
			text += "; its run goes on: " + err.Error()
		}
		return nil, cancelledBy(r.ctx, text)
	case r.ctx.Err() != nil:
		r.giveUp()
		return nil, r.late()
	}
	return nil, &Error{Code: StreamLeft, Message: "the stream was closed before its end", status: codes.Canceled}
}

func (r *eventReader) readOn() ([]*clewv1.Event, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.over {
		if r.reading.Err() != nil {
			return nil, errInterrupted
		}
		r.begin()
		if err := r.connect(); err != nil {
			return nil, err
		}
		told, err := r.hear()
		switch {
		case errors.Is(err, errInterrupted):
			return nil, err
		case err == nil:
			if events := r.take(told); len(events) > 0 {
				return events, nil
			}
		case errors.Is(err, io.EOF) && r.course.ended():
			r.over = true
		default:
			if err := r.mend(err); err != nil {
				return nil, err
			}
		}
	}
	r.drain()
	return nil, io.EOF
}

// begin is due before the first read: from now on the context's end is heeded, whether anyone reads or not.
func (r *eventReader) begin() {
	if r.patience != nil {
		return
	}
	r.patience = newPatience(r.to.settings, time.Now())
	r.to.add(r)
	r.unwatch = context.AfterFunc(r.ctx, func() {
		if errors.Is(r.ctx.Err(), context.Canceled) {
			_ = r.leave() // who reads on is told
		} else {
			r.giveUp()
		}
	})
}

// connect opens a call where there is none.
func (r *eventReader) connect() error {
	if r.line != nil {
		return nil
	}
	open, err := r.course.call(r.reading, r.at)
	if err != nil {
		if r.reading.Err() != nil {
			return errInterrupted
		}
		r.end()
		return err
	}
	r.line = startLine(r.ctx, open)
	if r.opened > 0 {
		r.at.join()
	}
	r.opened++
	return nil
}

// hear gives what comes next of the call that is open.
func (r *eventReader) hear() ([]*clewv1.Event, error) {
	var silence <-chan time.Time
	// Only a run that is under way sends heartbeats for sure.
	if r.at.started {
		timer := time.NewTimer(r.to.settings.silenceTimeout)
		defer timer.Stop()
		silence = timer.C
	}
	select {
	case told := <-r.line.heard:
		if told.err != nil && r.reading.Err() != nil {
			return nil, errInterrupted
		}
		return told.events, told.err
	case <-silence:
		return nil, errSilent
	case <-r.reading.Done():
		return nil, errInterrupted
	}
}

func (r *eventReader) take(told []*clewv1.Event) []*clewv1.Event {
	r.patience.heard(time.Now())
	var events []*clewv1.Event
	for _, wire := range told {
		for _, event := range r.at.accept(wire) {
			events = append(events, event)
			r.over = r.course.endsWith(event) || r.over
		}
	}
	return events
}

// mend waits a moment, if it makes sense to try again. What ended the stream is given if not: nobody left it, and the run goes on, if it
// does.
func (r *eventReader) mend(broken error) error {
	r.hangUp()
	failure, mendable := r.cut(), true
	if !errors.Is(broken, io.EOF) && !errors.Is(broken, errSilent) {
		failure, mendable = r.to.errorOf(r.reading, broken), isBreak(broken)
	}
	r.broken = failure.Message
	pause, again := r.patience.pause(time.Now())
	if !mendable || !again || !r.course.mayRejoin(r.at) {
		r.end()
		return failure
	}
	select {
	case <-time.After(pause):
		return nil
	case <-r.reading.Done():
		return errInterrupted
	}
}

// drain reads the end of a call that has said its last word, so that it counts as one that went well.
func (r *eventReader) drain() {
	late := time.After(drainTime)
	for r.line != nil {
		select {
		case told := <-r.line.heard:
			if told.err != nil {
				r.hangUp()
			}
		case <-late:
			r.hangUp()
		}
	}
	r.close()
}

// leave ends the stream on purpose, and gives what went wrong with that. It is harmless when the stream is over.
func (r *eventReader) leave() error {
	r.leaving.Do(func() {
		r.stopReading()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.opened > 0 && !r.over && !errors.Is(r.ctx.Err(), context.DeadlineExceeded) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), r.to.settings.leaveTimeout)
			defer cancel()
			r.leaveErr = r.course.part(ctx, r)
		}
		r.close()
	})
	return r.leaveErr
}

// learn waits for what is on its way, to know how a request stands whose reader has left; false when nothing more comes.
func (r *eventReader) learn(ctx context.Context) bool {
	if r.line == nil {
		return false
	}
	select {
	case told := <-r.line.heard:
		for _, event := range told.events {
			r.at.accept(event)
			if isTerminal(event) {
				return false
			}
		}
		return told.err == nil
	case <-ctx.Done():
		return false
	}
}

// giveUp lets go of the call that is open, without a word to the server.
func (r *eventReader) giveUp() {
	r.stopReading()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close()
}

func (r *eventReader) end() {
	r.over = true
	r.close()
}

func (r *eventReader) close() {
	r.hangUp()
	r.stopReading()
	if r.unwatch != nil {
		r.unwatch()
	}
	r.to.remove(r)
}

func (r *eventReader) hangUp() {
	if r.line != nil {
		r.line.hangUp()
		r.line = nil
	}
}

func (r *eventReader) cut() *Error {
	version := int64(0)
	if r.at.started {
		version = r.at.cursor
	}
	return &Error{
		Code: StreamCut,
		Message: fmt.Sprintf(
			"the stream broke off after version %d, and could not be joined again in time; watch the thread for the rest", version),
		Metadata: map[string]string{"version": strconv.FormatInt(version, 10)},
		status:   codes.Unavailable,
	}
}

func (r *eventReader) late() *Error {
	text := "the call's time is over; a run that has started goes on, and a watch of the thread shows it"
	if r.broken != "" {
		text += ". The last that is known of " + r.to.settings.target + ": " + r.broken
	}
	return &Error{Code: DeadlineExceeded, Message: text, status: codes.DeadlineExceeded, cause: context.DeadlineExceeded}
}
