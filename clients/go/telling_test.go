package clew

import (
	"slices"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	statusv1 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/types/known/anypb"
)

// Events as a server tells them: one run of thread `t-1`, whose incarnation is `u`.

func event(version int64) *clewv1.Event {
	return &clewv1.Event{ThreadId: "t-1", ThreadUid: "u", RunId: "u.r1", Version: version}
}

func last(event *clewv1.Event) *clewv1.Event {
	event.LastOfVersion = true
	return event
}

func notLast(event *clewv1.Event) *clewv1.Event {
	event.LastOfVersion = false
	return event
}

func queued() *clewv1.Event {
	told := event(0)
	told.RunId = ""
	told.Payload = &clewv1.Event_RunQueued{RunQueued: &clewv1.RunQueued{}}
	return told
}

func started(version int64) *clewv1.Event {
	told := event(version)
	told.Payload = &clewv1.Event_RunStarted{RunStarted: &clewv1.RunStarted{Attempt: 1}}
	return told
}

func text(version int64, messageID string, offset int64, text string) *clewv1.Event {
	return textOfPart(version, messageID, 0, offset, text)
}

func textOfPart(version int64, messageID string, part int32, offset int64, text string) *clewv1.Event {
	return delta{textPart{answer, messageID, part}, offset, text}.in(event(version))
}

func reasoning(version int64, messageID string, offset int64, text string) *clewv1.Event {
	return delta{textPart{thought, messageID, 0}, offset, text}.in(event(version))
}

func discarded(version int64, messageID string) *clewv1.Event {
	told := event(version)
	told.Payload = &clewv1.Event_MessageDiscarded{MessageDiscarded: &clewv1.MessageDiscarded{
		MessageId: messageID, Code: clewv1.FailureCode_FAILURE_CODE_MODEL_INCOMPLETE,
	}}
	return told
}

func heartbeat(version int64) *clewv1.Event {
	told := event(version)
	told.Payload = &clewv1.Event_Heartbeat{Heartbeat: &clewv1.Heartbeat{}}
	return told
}

func said(messageID, text string) *clewv1.Message {
	return &clewv1.Message{Id: messageID, Role: clewv1.Role_ROLE_ASSISTANT, Content: []*clewv1.Part{
		{Kind: &clewv1.Part_Text{Text: &clewv1.TextPart{Text: text}}},
	}}
}

func asked(messageID, text string) *clewv1.Message {
	message := said(messageID, text)
	message.Role = clewv1.Role_ROLE_USER
	return message
}

func written(version int64, messages ...*clewv1.Message) *clewv1.Event {
	return writtenBy(clewv1.CheckpointSource_CHECKPOINT_SOURCE_STEP, version, messages...)
}

func writtenBy(source clewv1.CheckpointSource, version int64, messages ...*clewv1.Message) *clewv1.Event {
	told := last(event(version))
	told.Payload = &clewv1.Event_CheckpointWritten{CheckpointWritten: &clewv1.CheckpointWritten{
		Checkpoint:    &clewv1.Checkpoint{ThreadId: "t-1", ThreadUid: "u", RunId: "u.r1", Version: version, Source: source},
		ParentVersion: version - 1,
		Messages:      messages,
	}}
	return told
}

func insideNode(written *clewv1.Event, node string, message *clewv1.Message) *clewv1.Event {
	payload := written.GetCheckpointWritten()
	payload.NodeMessages = append(payload.NodeMessages, &clewv1.NodeMessage{Node: node, Message: message})
	return written
}

func toolStarted(version int64, callID string) *clewv1.Event {
	told := event(version)
	told.Payload = &clewv1.Event_ToolCallStarted{ToolCallStarted: &clewv1.ToolCallStarted{
		ToolCall: &clewv1.ToolCall{Id: callID, Name: "look_up", ArgumentsJson: `{"order":"A-1"}`},
	}}
	return told
}

func toolFinished(version int64, callID string) *clewv1.Event {
	told := event(version)
	told.Payload = &clewv1.Event_ToolCallFinished{ToolCallFinished: &clewv1.ToolCallFinished{
		ToolCallId: callID, Name: "look_up", Outcome: clewv1.ToolOutcome_TOOL_OUTCOME_DONE,
	}}
	return told
}

func approval(approvalID string, version int64) *clewv1.Approval {
	return &clewv1.Approval{Id: approvalID, ThreadId: "t-1", RunId: "u.r1", Version: version, Tool: "refund"}
}

func approvalRequested(version int64, approvalID string) *clewv1.Event {
	told := event(version)
	told.Payload = &clewv1.Event_ApprovalRequested{ApprovalRequested: &clewv1.ApprovalRequested{Approval: approval(approvalID, version)}}
	return told
}

func completed(version int64, text, messageID string) *clewv1.Event {
	told := last(event(version))
	told.Payload = &clewv1.Event_RunCompleted{RunCompleted: &clewv1.RunCompleted{Reply: &clewv1.Reply{
		ThreadId: "t-1", ThreadUid: "u", RunId: "u.r1", Version: version, Text: text, MessageId: messageID,
		Message: said(messageID, text), Usage: &clewv1.Usage{InputTokens: 3, OutputTokens: 2}, Steps: 1,
	}}}
	return told
}

func suspended(version int64, count int32, approvals ...*clewv1.Approval) *clewv1.Event {
	told := last(event(version))
	told.Payload = &clewv1.Event_RunSuspended{RunSuspended: &clewv1.RunSuspended{Approvals: approvals, ApprovalCount: count}}
	return told
}

func failed(version int64, code clewv1.FailureCode, details ...*anypb.Any) *clewv1.Event {
	told := last(event(version))
	told.Payload = &clewv1.Event_RunFailed{RunFailed: &clewv1.RunFailed{
		Code: code, Retryable: true, Status: &statusv1.Status{Message: "it failed", Details: details},
	}}
	return told
}

func errorInfo(reason string, metadata map[string]string) *anypb.Any {
	packed, err := anypb.New(&errdetails.ErrorInfo{Reason: reason, Domain: domain, Metadata: metadata})
	if err != nil {
		panic(err)
	}
	return packed
}

// What is seen of events.

func kind(event *clewv1.Event) string {
	message := event.ProtoReflect()
	field := message.WhichOneof(message.Descriptor().Oneofs().ByName("payload"))
	if field == nil {
		return ""
	}
	return string(field.Name())
}

func kinds(events []*clewv1.Event) []string {
	names := []string{}
	for _, event := range events {
		names = append(names, kind(event))
	}
	return names
}

func ofKind(events []*clewv1.Event, name string) []*clewv1.Event {
	return slices.DeleteFunc(slices.Clone(events), func(event *clewv1.Event) bool { return kind(event) != name })
}
