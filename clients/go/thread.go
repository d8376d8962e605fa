package clew

import (
	"context"

	clewv1 "clew.dev/clew/clew/v1"
)

const (
	mostMessages    = 500
	mostCheckpoints = 200
)

// A Thread is the handle of a thread: its id, its app, and on whose behalf it is used. To make one asks nobody, and two on one id are
// the same thread. The thread itself is made by its first send or run.
type Thread struct {
	to    *connection
	id    string
	app   string
	actor string
}

// ID is the thread's id.
func (t *Thread) ID() string { return t.id }

// As is the same thread, used on behalf of an actor, who is recorded with what is done.
func (t *Thread) As(actor string) *Thread {
	other := *t
	other.actor = actor
	return &other
}

// A MessageQuery is which messages to read; its zero value is all of them, from the beginning.
type MessageQuery struct {
	// Search finds the messages that have all of its words, whatever their case and accents.
	Search string
	// NewestFirst begins at the end.
	NewestFirst bool
	// Limit is how many to read at most; 0 for all.
	Limit int
	// Reasoning gives what models thought as well.
	Reasoning bool
}

// Messages reads the conversation.
func (t *Thread) Messages(ctx context.Context, query MessageQuery) ([]*clewv1.Message, error) {
	request := &clewv1.ListMessagesRequest{
		ThreadId:         t.id,
		Order:            clewv1.MessageOrder_MESSAGE_ORDER_OLDEST_FIRST,
		IncludeReasoning: query.Reasoning,
		Search:           query.Search,
	}
	if query.NewestFirst {
		request.Order = clewv1.MessageOrder_MESSAGE_ORDER_NEWEST_FIRST
	}
	var found []*clewv1.Message
	err := readPages(query.Limit, mostMessages, func(size int32) (int, string, error) {
		request.PageSize = size
		page, err := ask(ctx, t.to, t.to.threads.ListMessages, request)
		found = append(found, page.GetMessages()...)
		request.PageToken = page.GetNextPageToken()
		return len(found), request.PageToken, err
	})
	return found, err
}

// State reads the thread's state into what the target points to, as json.Unmarshal does. In a map[string]any numbers are json.Number,
// with all their digits. Neither the conversation nor the engine's own values are in it.
func (t *Thread) State(ctx context.Context, target any) error {
	return t.StateAt(ctx, "", target)
}

// StateAt is State as of a checkpoint.
func (t *Thread) StateAt(ctx context.Context, checkpointID string, target any) error {
	response, err := ask(ctx, t.to, t.to.threads.GetState, &clewv1.GetStateRequest{ThreadId: t.id, CheckpointId: checkpointID})
	if err != nil {
		return err
	}
	text := response.GetStateJson()
	if len(text) == 0 {
		text = []byte("{}")
	}
	if err := decodeJSON(text, target); err != nil {
		return &Error{Code: StateInvalid, Message: "the state does not fit what it is read into: " + err.Error(), cause: err}
	}
	return nil
}

// History reads the newest checkpoints of the present line, newest first; a limit of 0 is all of them.
func (t *Thread) History(ctx context.Context, limit int) ([]*clewv1.Checkpoint, error) {
	request := &clewv1.ListCheckpointsRequest{ThreadId: t.id}
	var found []*clewv1.Checkpoint
	err := readPages(limit, mostCheckpoints, func(size int32) (int, string, error) {
		request.PageSize = size
		page, err := ask(ctx, t.to, t.to.checkpoints.ListCheckpoints, request)
		found = append(found, page.GetCheckpoints()...)
		request.PageToken = page.GetNextPageToken()
		return len(found), request.PageToken, err
	})
	return found, err
}

// Info reads how the thread stands, and whether anyone works on it.
func (t *Thread) Info(ctx context.Context) (*clewv1.Thread, error) {
	response, err := ask(ctx, t.to, t.to.threads.GetThread, &clewv1.GetThreadRequest{ThreadId: t.id})
	return response.GetThread(), err
}

// Approvals reads what the thread waits for, oldest first.
func (t *Thread) Approvals(ctx context.Context) ([]*clewv1.Approval, error) {
	return listApprovals(ctx, t.to, &clewv1.ListApprovalsRequest{ThreadId: t.id})
}

// UpdateState merges values into the state, each top-level value whole, and gives the checkpoint that says so. The values are anything
// that encoding/json writes as an object, or nil for none; see WithoutKeys. It makes the thread where there is none.
func (t *Thread) UpdateState(ctx context.Context, values any, options ...UpdateOption) (*clewv1.Checkpoint, error) {
	text, err := encodeObject(values, "state_json")
	if err != nil {
		return nil, err
	}
	given := optionsOf(options)
	ctx, cancel := withLimit(ctx, given.writeTime(t.to.settings.timeout))
	defer cancel()
	merge := &clewv1.UpdateStateRequest_Merge{StateJson: text, RemoveKeys: given.removeKeys}
	response, err := ask(ctx, t.to, t.to.threads.UpdateState, &clewv1.UpdateStateRequest{
		ThreadId:        t.id,
		Change:          &clewv1.UpdateStateRequest_Merge_{Merge: merge},
		App:             t.app,
		RequestId:       given.requestID,
		ExpectedVersion: given.expectedVersion,
		OnBusy:          given.onBusy,
		BusyTimeout:     given.wait(),
		Actor:           t.actor,
		Force:           given.force,
	})
	return response.GetCheckpoint(), err
}

// Rewind makes an older checkpoint the head again, and gives the checkpoint that says so. Nothing is erased.
func (t *Thread) Rewind(ctx context.Context, checkpointID string, options ...WriteOption) (*clewv1.Checkpoint, error) {
	given := optionsOf(options)
	ctx, cancel := withLimit(ctx, given.writeTime(t.to.settings.timeout))
	defer cancel()
	response, err := ask(ctx, t.to, t.to.checkpoints.Rewind, &clewv1.RewindRequest{
		ThreadId:        t.id,
		CheckpointId:    checkpointID,
		RequestId:       given.requestID,
		ExpectedVersion: given.expectedVersion,
		OnBusy:          given.onBusy,
		BusyTimeout:     given.wait(),
		Actor:           t.actor,
	})
	return response.GetCheckpoint(), err
}

// Copy copies the thread, up to its head or an older checkpoint, to a new thread that owns all it has, and gives the handle on that.
func (t *Thread) Copy(ctx context.Context, targetID string, options ...CopyOption) (*Thread, error) {
	given := optionsOf(options)
	_, err := ask(ctx, t.to, t.to.threads.CopyThread, &clewv1.CopyThreadRequest{
		ThreadId:        t.id,
		TargetThreadId:  targetID,
		CheckpointId:    given.checkpointID,
		RequestId:       given.requestID,
		ExpectedVersion: given.expectedVersion,
	})
	if err != nil {
		return nil, err
	}
	return &Thread{to: t.to, id: targetID, app: t.app, actor: t.actor}, nil
}

// Delete deletes the thread for good, and is whether it existed.
func (t *Thread) Delete(ctx context.Context, options ...CallOption) (bool, error) {
	given := optionsOf(options)
	response, err := ask(ctx, t.to, t.to.threads.DeleteThread, &clewv1.DeleteThreadRequest{
		ThreadId: t.id, RequestId: given.requestID, ExpectedVersion: given.expectedVersion,
	})
	return response.GetExisted(), err
}

// readPages reads pages to their end, or to the limit where there is one. A page of a size gives how many were read so far, and the token
// of the next one.
func readPages(limit, most int, read func(size int32) (int, string, error)) error {
	size := most
	if limit < 0 {
		return invalid(ArgumentInvalid, "limit", "at least 1, or 0 for all")
	}
	for count := 0; ; {
		if limit > 0 {
			size = min(most, limit-count)
		}
		so, next, err := read(int32(size))
		if err != nil || next == "" || limit > 0 && so >= limit {
			return err
		}
		count = so
	}
}
