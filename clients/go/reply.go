package clew

import (
	"maps"
	"strings"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
)

// A Status is how an attempt ended that did not fail.
type Status string

const (
	// Completed: the run came to its end.
	Completed Status = "completed"
	// Suspended: it waits for people, who are asked by the reply's approvals.
	Suspended Status = "suspended"
)

// A Reply is what an attempt came to.
type Reply struct {
	Status Status
	// Text is the text of the final message; empty where the run is suspended, and for a workflow that ends without one.
	Text string
	// ThreadID, ThreadUID, RunID and Version say where it stands in which incarnation of the thread. A run without a thread has but a RunID.
	ThreadID  string
	ThreadUID string
	RunID     string
	Version   int64
	// MessageID and Message are the final message; empty and nil where there is none.
	MessageID string
	Message   *clewv1.Message
	// Usage is what the run's models used, and Steps how many steps it took, over all its attempts; nil and 0 where it is suspended.
	Usage *clewv1.Usage
	Steps int
	// Approvals are all that the run waits for.
	Approvals []*clewv1.Approval
	// Snapshot is what a suspended run without a thread can be continued from, with the Decide or Resume of the stubs.
	Snapshot []byte
}

// An outcome is what a stream told of the end of its attempt so far.
type outcome struct {
	last   *clewv1.Event
	spoken []*clewv1.Message
	asked  []*clewv1.Event
}

func (o *outcome) heed(event *clewv1.Event) {
	switch payload := event.GetPayload().(type) {
	case *clewv1.Event_CheckpointWritten:
		o.spoken = payload.CheckpointWritten.GetMessages()
	case *clewv1.Event_ApprovalRequested:
		o.asked = append(o.asked, event)
	}
	if isTerminal(event) {
		o.last = event
	}
}

// reply is what the attempt came to. What its last event had no room for is looked up among what was told before, or else listed.
func (o *outcome) reply(list func(threadID string) ([]*clewv1.Approval, error)) (*Reply, error) {
	switch payload := o.last.GetPayload().(type) {
	case *clewv1.Event_RunCompleted:
		return o.completed(payload.RunCompleted.GetReply()), nil
	case *clewv1.Event_RunSuspended:
		return o.suspended(payload.RunSuspended, list)
	case *clewv1.Event_RunFailed:
		return nil, failureOf(o.last, payload.RunFailed)
	}
	text := "the stream ended without a word on the run; watch the thread for the rest"
	return nil, &Error{Code: StreamCut, Message: text, status: codes.Unavailable}
}

func (o *outcome) completed(told *clewv1.Reply) *Reply {
	message := told.GetMessage()
	for _, each := range o.spoken {
		// Where it is very large it travels with the checkpoint alone.
		if message == nil && each.GetId() == told.GetMessageId() {
			message = each
		}
	}
	return &Reply{
		Status:    Completed,
		Text:      told.GetText(),
		ThreadID:  told.GetThreadId(),
		ThreadUID: told.GetThreadUid(),
		RunID:     told.GetRunId(),
		Version:   told.GetVersion(),
		MessageID: told.GetMessageId(),
		Message:   message,
		Usage:     told.GetUsage(),
		Steps:     int(told.GetSteps()),
	}
}

func (o *outcome) suspended(told *clewv1.RunSuspended, list func(string) ([]*clewv1.Approval, error)) (*Reply, error) {
	approvals, count := told.GetApprovals(), int(told.GetApprovalCount())
	if len(approvals) < count {
		found := o.askedAt(o.last.GetVersion())
		if len(found) < count && o.last.GetThreadId() != "" {
			waiting, err := list(o.last.GetThreadId())
			if err != nil {
				return nil, err
			}
			found = ofRun(waiting, o.last.GetRunId())
		}
		if len(found) > len(approvals) {
			approvals = found
		}
	}
	return &Reply{
		Status:    Suspended,
		ThreadID:  o.last.GetThreadId(),
		ThreadUID: o.last.GetThreadUid(),
		RunID:     o.last.GetRunId(),
		Version:   o.last.GetVersion(),
		Approvals: approvals,
		Snapshot:  told.GetSnapshot(),
	}, nil
}

func (o *outcome) askedAt(version int64) []*clewv1.Approval {
	var found []*clewv1.Approval
	for _, event := range o.asked {
		if event.GetVersion() == version {
			found = append(found, event.GetApprovalRequested().GetApproval())
		}
	}
	return found
}

func ofRun(approvals []*clewv1.Approval, runID string) []*clewv1.Approval {
	var found []*clewv1.Approval
	for _, approval := range approvals {
		if approval.GetRunId() == runID {
			found = append(found, approval)
		}
	}
	return found
}

// failureOf is the error that a run which failed, or was cancelled, stands for.
func failureOf(event *clewv1.Event, failed *clewv1.RunFailed) *Error {
	info, retryAfter := details(failed.GetStatus())
	metadata := maps.Clone(info.GetMetadata())
	if failed.GetCode() == clewv1.FailureCode_FAILURE_CODE_CANCELLED {
		if metadata == nil {
			metadata = map[string]string{}
		}
		metadata["run_id"] = event.GetRunId()
		return &Error{
			Code:     Cancelled,
			Message:  failed.GetStatus().GetMessage(),
			Metadata: metadata,
			RunID:    event.GetRunId(),
			status:   codes.Canceled,
		}
	}
	return &Error{
		Code:        RunFailed,
		Message:     failed.GetStatus().GetMessage(),
		Metadata:    metadata,
		RetryAfter:  retryAfter,
		FailureCode: failureCode(failed.GetCode()),
		Retryable:   failed.GetRetryable(),
		RunID:       event.GetRunId(),
		Usage:       failed.GetUsage(),
		Snapshot:    failed.GetSnapshot(),
	}
}

// failureCode is the code as a word; empty for one that this version does not know.
func failureCode(told clewv1.FailureCode) string {
	name, known := clewv1.FailureCode_name[int32(told)]
	if !known || told == clewv1.FailureCode_FAILURE_CODE_UNSPECIFIED {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(name, "FAILURE_CODE_"))
}
