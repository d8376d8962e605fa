package clew

import (
	clewv1 "clew.dev/clew/clew/v1"
)

// A position is where a reader is in a thread's log. It takes the events of one connection after the other, and gives each one once.
//
// The cursor moves only where a version is whole. Events of one write come in a fixed order, so that a part of them, read before a
// connection broke, is known by its number.
type position struct {
	// What the log may be read on after; it means nothing before it has started, which the first logged event tells.
	cursor  int64
	started bool

	runID     string
	threadUID string

	text    *shownText
	part    place
	here    place
	endedAt int64
}

// A place is that of an event over one connection: its version, and its number within it.
type place struct {
	version int64
	number  int
}

func (p place) beyond(other place) bool {
	return p.version > other.version || p.version == other.version && p.number > other.number
}

// attemptPosition is before the first event of an attempt.
func attemptPosition() *position {
	return &position{text: newShownText(true), endedAt: -1}
}

// watchPosition is after a version.
func watchPosition(cursor int64) *position {
	return &position{cursor: cursor, started: true, text: newShownText(false), endedAt: -1}
}

// join says that another connection carries the stream from here on.
func (p *position) join() {
	p.here = place{}
	p.text.join()
}

// accept gives what the reader has not had of an event. A kind that this version does not know only moves the cursor.
func (p *position) accept(event *clewv1.Event) []*clewv1.Event {
	if event.GetPayload() == nil {
		if p.started && event.GetVersion() > p.cursor {
			p.advance(event)
		}
		return nil
	}
	if isLogged(event) && !p.isNew(event) {
		return nil
	}
	return p.text.show(event)
}

func (p *position) isNew(event *clewv1.Event) bool {
	version := event.GetVersion()
	if !p.started {
		p.cursor, p.started, p.runID = version-1, true, event.GetRunId()
	}
	p.threadUID = event.GetThreadUid()
	// A thread at rest says its last word again to whoever asks; a reader that has it needs it no more.
	isNew := isTerminal(event) && p.endedAt != version
	if version > p.cursor {
		isNew = p.advance(event)
	}
	if isTerminal(event) {
		p.endedAt = version
	}
	return isNew
}

// advance counts an event of a version that is not whole yet, and is whether it is beyond all that were seen.
func (p *position) advance(event *clewv1.Event) bool {
	if p.here.version == event.GetVersion() {
		p.here.number++
	} else {
		p.here = place{version: event.GetVersion(), number: 1}
	}
	isNew := p.here.beyond(p.part)
	if isNew {
		p.part = p.here
	}
	if event.GetLastOfVersion() {
		p.cursor = event.GetVersion()
	}
	return isNew
}

// isLogged is whether an event is in the thread's log, where every reader finds it again.
func isLogged(event *clewv1.Event) bool {
	switch event.GetPayload().(type) {
	case *clewv1.Event_RunStarted, *clewv1.Event_ToolCallStarted, *clewv1.Event_ToolCallFinished, *clewv1.Event_ApprovalRequested,
		*clewv1.Event_CheckpointWritten:
		return true
	}
	return isTerminal(event)
}

// isTerminal is whether an event ends its attempt.
func isTerminal(event *clewv1.Event) bool {
	switch event.GetPayload().(type) {
	case *clewv1.Event_RunSuspended, *clewv1.Event_RunCompleted, *clewv1.Event_RunFailed:
		return true
	}
	return false
}
