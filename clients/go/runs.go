package clew

import (
	"context"

	clewv1 "clew.dev/clew/clew/v1"
)

// Send gives the thread's agent a user's message and runs its turn. It makes the thread where there is none.
func (t *Thread) Send(ctx context.Context, text string, options ...SendOption) *Stream {
	return t.start(ctx, func(context.Context) (startRequest, error) {
		request, err := sendRequest(t.app, t.id, t.actor, optionsOf(options))
		if err == nil {
			request.Input = &clewv1.SendRequest_Text{Text: text}
		}
		return request, err
	})
}

// SendParts is Send with a message of several parts: text, images, audio, video, documents and data.
func (t *Thread) SendParts(ctx context.Context, parts []*clewv1.Part, options ...SendOption) *Stream {
	return t.start(ctx, func(context.Context) (startRequest, error) {
		request, err := sendRequest(t.app, t.id, t.actor, optionsOf(options))
		if err == nil {
			request.Input = &clewv1.SendRequest_Content{Content: &clewv1.Content{Parts: parts}}
		}
		return request, err
	})
}

// Run runs the thread's workflow with values, which are merged into the state that the thread has: anything that encoding/json writes as
// an object, or nil for none.
func (t *Thread) Run(ctx context.Context, values any, options ...SendOption) *Stream {
	return t.start(ctx, func(context.Context) (startRequest, error) {
		return runRequest(t.app, t.id, t.actor, values, optionsOf(options))
	})
}

// Approve approves tool calls, or where no id is given all that the thread waits for, as it is when that is read.
func (t *Thread) Approve(ctx context.Context, approvalIDs []string, options ...ApproveOption) *Stream {
	given := optionsOf(options)
	return t.decideEach(ctx, approvalIDs, given, func(approvalID string) Decision {
		if given.arguments == nil {
			return Approve(approvalID)
		}
		return ApproveWith(approvalID, given.arguments)
	})
}

// Reject rejects tool calls and pauses, or where no id is given all that the thread waits for, as it is when that is read. The model
// reads the reason, which may be empty.
func (t *Thread) Reject(ctx context.Context, reason string, approvalIDs []string, options ...RunOption) *Stream {
	return t.decideEach(ctx, approvalIDs, optionsOf(options), func(approvalID string) Decision { return Reject(approvalID, reason) })
}

// Decide decides approvals, all or none. The run continues when the last one is decided; until then the reply names the rest.
func (t *Thread) Decide(ctx context.Context, decisions []Decision, options ...RunOption) *Stream {
	return t.start(ctx, func(context.Context) (startRequest, error) {
		return t.decideRequest(decisions, optionsOf(options))
	})
}

// Resume answers the one pause that the thread waits with: anything that encoding/json writes.
func (t *Thread) Resume(ctx context.Context, value any, options ...RunOption) *Stream {
	return t.start(ctx, func(context.Context) (startRequest, error) {
		text, err := encodeJSON(value, "value_json")
		if err != nil {
			return nil, err
		}
		given := optionsOf(options)
		return &clewv1.ResumeRequest{
			Target:          &clewv1.ResumeRequest_ThreadId{ThreadId: t.id},
			ValueJson:       string(text),
			RequestId:       given.requestID,
			ExpectedVersion: given.expectedVersion,
			Options:         given.run(t.actor),
		}, nil
	})
}

// Retry continues a failed, cancelled or interrupted run where it stopped. Finished tool calls are not run again.
func (t *Thread) Retry(ctx context.Context, options ...RunOption) *Stream {
	return t.start(ctx, func(context.Context) (startRequest, error) {
		given := optionsOf(options)
		return &clewv1.RetryRequest{
			ThreadId:        t.id,
			RequestId:       given.requestID,
			ExpectedVersion: given.expectedVersion,
			Options:         given.run(t.actor),
		}, nil
	})
}

// A WatchQuery is where a watch begins, and when it ends.
type WatchQuery struct {
	// AfterVersion is the last version that the reader has whole; 0 for the beginning.
	AfterVersion int64
	// RunID ends the watch with that run's first end after the version. Without it the watch ends when the thread is at rest.
	RunID string
	// Follow stays for later runs, until the reader leaves.
	Follow bool
}

// Watch gives what is in the log after a version, then what happens. Nothing is lost between a read and a watch after its version.
func (t *Thread) Watch(ctx context.Context, query WatchQuery) *Watching {
	course := &watch{to: t.to, threadID: t.id, runID: query.RunID, follow: query.Follow}
	return &Watching{eventStream{reader: newEventReader(ctx, t.to, course, watchPosition(query.AfterVersion))}}
}

// Cancel cancels a run, or where its id is empty the newest one, and gives the thread's head when that is written. Retry continues it.
func (t *Thread) Cancel(ctx context.Context, runID string, options ...CallOption) (*clewv1.Checkpoint, error) {
	given := optionsOf(options)
	response, err := ask(ctx, t.to, t.to.runs.CancelRun, &clewv1.CancelRunRequest{
		ThreadId:        t.id,
		RunId:           runID,
		RequestId:       given.requestID,
		ExpectedVersion: given.expectedVersion,
		Actor:           t.actor,
	})
	return response.GetCheckpoint(), err
}

func (t *Thread) start(ctx context.Context, prepare func(context.Context) (startRequest, error)) *Stream {
	named := func(ctx context.Context) (startRequest, error) {
		if t.id == "" {
			// Said here, since a request without one is a run without a thread: the server would take it, and keep nothing.
			return nil, invalid(IDInvalid, "thread_id", "an id is needed: 1 to 128 characters")
		}
		return prepare(ctx)
	}
	return startAttempt(ctx, &attempt{to: t.to, threadID: t.id, actor: t.actor, prepare: named})
}

func (t *Thread) decideEach(
	ctx context.Context, approvalIDs []string, given *callOptions, decide func(approvalID string) Decision,
) *Stream {
	return t.start(ctx, func(ctx context.Context) (startRequest, error) {
		if len(approvalIDs) == 0 {
			found, version, err := pending(ctx, t.to, t.id)
			if err != nil {
				return nil, err
			}
			approvalIDs = found
			if given.expectedVersion == nil {
				given.expectedVersion = &version
			}
		}
		decisions := make([]Decision, 0, len(approvalIDs))
		for _, approvalID := range approvalIDs {
			decisions = append(decisions, decide(approvalID))
		}
		return t.decideRequest(decisions, given)
	})
}

func (t *Thread) decideRequest(decisions []Decision, given *callOptions) (startRequest, error) {
	wires, err := decisionsOf(decisions)
	if err != nil {
		return nil, err
	}
	return &clewv1.DecideRequest{
		ThreadId:        t.id,
		Decisions:       wires,
		RequestId:       given.requestID,
		ExpectedVersion: given.expectedVersion,
		Options:         given.run(t.actor),
	}, nil
}

func startAttempt(ctx context.Context, course *attempt) *Stream {
	return &Stream{eventStream{reader: newEventReader(ctx, course.to, course, attemptPosition())}}
}

func runRequest(app, threadID, actor string, values any, given *callOptions) (*clewv1.SendRequest, error) {
	request, err := sendRequest(app, threadID, actor, given)
	if err != nil {
		return nil, err
	}
	text, err := encodeObject(values, "input_json")
	request.Input = &clewv1.SendRequest_InputJson{InputJson: text}
	return request, err
}

func sendRequest(app, threadID, actor string, given *callOptions) (*clewv1.SendRequest, error) {
	request := &clewv1.SendRequest{
		ThreadId:        threadID,
		App:             app,
		RequestId:       given.requestID,
		ExpectedVersion: given.expectedVersion,
		Options:         given.run(actor),
		UserId:          given.userID,
	}
	if given.state != nil {
		text, err := encodeObject(given.state, "state_json")
		if err != nil {
			return nil, err
		}
		request.StateJson = text
	}
	if given.metadata != nil {
		text, err := encodeObject(given.metadata, "metadata_json")
		if err != nil {
			return nil, err
		}
		request.MetadataJson = string(text)
	}
	return request, nil
}
