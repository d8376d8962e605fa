package clew

import (
	"context"
	"errors"
	"io"
	"iter"

	clewv1 "clew.dev/clew/clew/v1"
)

// A Stream is the events of one attempt of a run, and its reply. Nothing is sent before the first event is asked for, and a refusal is
// told then.
//
// To leave it before its end cancels the run, which Retry continues: a loop that is broken out of does so, and Close, and a context that
// is cancelled. A context whose deadline is over ends the stream alone. One goroutine at a time may read a stream; any may close it.
type Stream struct {
	events eventStream
}

// Events gives what comes, as it comes. A loop may be taken up again by a second one only after an end; to leave it is to close the
// stream. An error is the last that is given, and always an *Error.
func (s *Stream) Events() iter.Seq2[*clewv1.Event, error] { return s.events.all() }

// Reply reads what is left of the stream, and gives what the attempt came to. A run that failed gives an *Error of the code RunFailed,
// and one that was cancelled of the code Cancelled.
func (s *Stream) Reply() (*Reply, error) {
	for {
		if _, err := s.events.next(); errors.Is(err, io.EOF) {
			return s.events.told.reply(s.events.waitingApprovals)
		} else if err != nil {
			return nil, err
		}
	}
}

// Close leaves the stream, and waits until that has its effect: for the run to be cancelled, if it has not ended. The error says why the
// run goes on.
func (s *Stream) Close() error { return s.events.close() }

// A Watching is a thread's events: those in the log after a version, then what happens. To leave it has no effect on any run.
type Watching struct {
	events eventStream
}

// Events gives what comes, as it comes; see Stream.Events.
func (w *Watching) Events() iter.Seq2[*clewv1.Event, error] { return w.events.all() }

// Close leaves the watch.
func (w *Watching) Close() error { return w.events.close() }

// An eventStream is a reader as its user holds it: event by event, with an error that stays.
type eventStream struct {
	reader *eventReader
	read   []*clewv1.Event
	told   outcome
	err    error
}

func (e *eventStream) next() (*clewv1.Event, error) {
	if len(e.read) == 0 && e.err == nil {
		e.read, e.err = e.reader.read()
	}
	if len(e.read) == 0 {
		return nil, e.err
	}
	event := e.read[0]
	e.read = e.read[1:]
	e.told.heed(event)
	return event, nil
}

func (e *eventStream) all() iter.Seq2[*clewv1.Event, error] {
	return func(yield func(*clewv1.Event, error) bool) {
		ended := false
		// Also where the loop's body panics.
		defer func() {
			if !ended {
				_ = e.close() // the loop has no place for an error; Close has
			}
		}()
		for {
			event, err := e.next()
			if err != nil {
				ended = true
				if !errors.Is(err, io.EOF) {
					yield(nil, err)
				}
				return
			}
			if !yield(event, nil) {
				return
			}
		}
	}
}

func (e *eventStream) close() error { return e.reader.leave() }

// waitingApprovals are what the run waits for now.
func (e *eventStream) waitingApprovals(threadID string) ([]*clewv1.Approval, error) {
	return listApprovals(context.WithoutCancel(e.reader.ctx), e.reader.to, &clewv1.ListApprovalsRequest{ThreadId: threadID})
}
