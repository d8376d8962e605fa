package clew

import (
	"context"
	"errors"
	"testing"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
)

var (
	beginning = tells(started(1), written(1, asked("m1.1", "hi")))
	end       = tells(notLast(written(2, said("m2.1", "done"))), completed(2, "done", "m2.1"))
)

func all(t *testing.T, stream *Stream) []*clewv1.Event {
	t.Helper()
	var events []*clewv1.Event
	for event, err := range stream.Events() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

func first(t *testing.T, stream *Stream) {
	t.Helper()
	if _, err := stream.events.next(); err != nil {
		t.Fatal(err)
	}
}

func codeIn(t *testing.T, err error) Code {
	t.Helper()
	var failed *Error
	if !errors.As(err, &failed) {
		t.Fatalf("no *Error: %v", err)
	}
	return failed.Code
}

func TestTheReplyIsThereAfterTheEvents(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, end)
	stream := server.thread(t).Send(t.Context(), "hi")
	same(t, "kinds", kinds(all(t, stream)), []string{"run_started", "checkpoint_written", "checkpoint_written", "run_completed"})
	reply, err := stream.Reply()
	if err != nil || reply.Status != Completed || reply.Text != "done" || reply.Usage.GetInputTokens() != 3 {
		t.Fatalf("reply: %v, %v", reply, err)
	}
}

func TestNothingIsSentBeforeTheFirstEventIsAskedFor(t *testing.T) {
	server := startScripted(t)
	stream := server.thread(t).Send(t.Context(), "hi")
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := stream.Reply()
	if codeIn(t, err) != StreamLeft || len(server.asked("Send")) != 0 {
		t.Fatalf("%v, %v", err, server.asked("Send"))
	}
}

func TestAStreamThatBreaksIsJoinedWhereItWasLeft(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, tells(text(1, "m2.1", 0, "do")), breaks())
	server.on("Watch", tells(text(1, "m2.1", 0, "don")), end)
	events := all(t, server.thread(t).Send(t.Context(), "hi"))
	same(t, "text", []string{textOf(t, events, "m2.1")}, []string{"done"})
	joined := server.asked("Watch")[0].(*clewv1.WatchRequest)
	if joined.GetAfterVersion() != 1 || joined.GetRunId() != "u.r1" || joined.GetThreadUid() != "u" {
		t.Fatalf("joined: %v", joined)
	}
}

func TestSilenceIsABreak(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, hangs())
	server.on("Watch", end)
	shortSilence := func(s *settings) { s.silenceTimeout = 50 * time.Millisecond }
	reply, err := server.thread(t, shortSilence).Send(t.Context(), "hi").Reply()
	if err != nil || reply.Text != "done" {
		t.Fatalf("%v, %v", reply, err)
	}
}

func TestACancelledContextLeavesTheStreamAndCancelsItsRun(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, hangs())
	ctx, cancel := context.WithCancel(t.Context())
	stream := server.thread(t).As("ada").Send(ctx, "hi")
	first(t, stream)
	cancel()
	_, err := stream.Reply()
	if codeIn(t, err) != Cancelled || !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	left := server.asked("CancelRun")[0].(*clewv1.CancelRunRequest)
	if left.GetRunId() != "u.r1" || left.GetStartedByRequestId() != "" || left.GetRequestId() == "" || left.GetActor() != "ada" {
		t.Fatalf("left: %v", left)
	}
}

func TestACancelledContextLeavesAStreamThatNobodyReads(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, hangs())
	ctx, cancel := context.WithCancel(t.Context())
	stream := server.thread(t).Send(ctx, "hi")
	first(t, stream)
	<-server.arrived
	cancel()
	if name := <-server.arrived; name != "CancelRun" {
		t.Fatal(name)
	}
}

func TestBreakingOutOfTheLoopLeaves(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, hangs())
	stream := server.thread(t).Send(t.Context(), "hi")
	for range stream.Events() {
		break
	}
	if len(server.asked("CancelRun")) != 1 {
		t.Fatal("the run was not cancelled")
	}
}

func TestClosingTheClientLeavesWhatIsOpen(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, hangs())
	client := server.client(t)
	first(t, client.App("support").Thread("t-1").Send(t.Context(), "hi"))
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if len(server.asked("CancelRun")) != 1 {
		t.Fatal("the run was not cancelled")
	}
}

func TestARequestThatHasNotComeYetIsCancelledWhenItHas(t *testing.T) {
	server := startScripted(t)
	came := make(chan struct{})
	server.on("Send", waits(came), beginning, hangs())
	server.cancel = func(request *clewv1.CancelRunRequest) error {
		if request.GetStartedByRequestId() != "" {
			close(came)
			return reason(codes.NotFound, "RUN_NOT_FOUND", nil).Err()
		}
		return nil
	}
	stream := server.thread(t).Send(t.Context(), "hi", WithRequestID("r-1"))
	go func() { _, _ = stream.Reply() }()
	<-server.arrived
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	asked := server.asked("CancelRun")
	if len(asked) != 2 || asked[0].(*clewv1.CancelRunRequest).GetStartedByRequestId() != "r-1" ||
		asked[1].(*clewv1.CancelRunRequest).GetRunId() != "u.r1" {
		t.Fatalf("asked: %v", asked)
	}
}

func TestADeadlineEndsTheCallAndNotTheRun(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, hangs())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	stream := server.thread(t).Send(ctx, "hi")
	_, err := stream.Reply()
	if codeIn(t, err) != DeadlineExceeded || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil || len(server.asked("CancelRun")) != 0 {
		t.Fatalf("%v, %v", err, server.asked("CancelRun"))
	}
}

func TestWhatCannotBeLeftIsTold(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, hangs())
	server.cancel = func(*clewv1.CancelRunRequest) error {
		return reason(codes.PermissionDenied, "PERMISSION_DENIED", nil).Err()
	}
	stream := server.thread(t).Send(t.Context(), "hi")
	first(t, stream)
	if err := stream.Close(); !errors.Is(err, PermissionDenied) {
		t.Fatal(err)
	}
}

func TestLeavingAWatchCancelsNothing(t *testing.T) {
	server := startScripted(t)
	server.on("Watch", beginning, hangs())
	for range server.thread(t).Watch(t.Context(), WatchQuery{}).Events() {
		break
	}
	if len(server.asked("CancelRun")) != 0 {
		t.Fatal("something was cancelled")
	}
}

func TestARunWithoutAThreadIsNotJoinedOnceItHasStarted(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, breaks())
	_, err := server.client(t).App("support").Send(t.Context(), "hi").Reply()
	if codeIn(t, err) != Unavailable || len(server.asked("Send")) != 1 || len(server.asked("Watch")) != 0 {
		t.Fatal(err)
	}
	options := server.asked("Send")[0].(*clewv1.SendRequest).GetOptions()
	if options.GetOnDisconnect() != clewv1.DisconnectPolicy_DISCONNECT_POLICY_CANCEL {
		t.Fatalf("options: %v", options)
	}
}

func TestASuspendedReplyHasAllApprovals(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, tells(
		approvalRequested(2, "a-1"), approvalRequested(2, "a-2"), notLast(written(2)), suspended(2, 2, approval("a-1", 2))))
	reply, err := server.thread(t).Send(t.Context(), "hi").Reply()
	if err != nil || reply.Status != Suspended || len(reply.Approvals) != 2 {
		t.Fatalf("%v, %v", reply, err)
	}
}

func TestApprovalsThatWereNotToldAreListed(t *testing.T) {
	server := startScripted(t)
	server.on("Send", beginning, tells(notLast(written(2)), suspended(2, 2, approval("a-1", 2))))
	other := approval("a-0", 1)
	other.RunId = "u.r0"
	server.approvals = []*clewv1.ListApprovalsResponse{{Approvals: []*clewv1.Approval{other, approval("a-1", 2), approval("a-2", 2)}}}
	reply, err := server.thread(t).Send(t.Context(), "hi").Reply()
	if err != nil || len(reply.Approvals) != 2 || reply.Approvals[1].GetId() != "a-2" {
		t.Fatalf("%v, %v", reply, err)
	}
}

func TestAllThatWaitsIsDecidedAtTheVersionThatWasRead(t *testing.T) {
	server := startScripted(t)
	server.approvals = []*clewv1.ListApprovalsResponse{
		{Approvals: []*clewv1.Approval{approval("a-1", 2)}, NextPageToken: "more", Version: 2},
		{Approvals: []*clewv1.Approval{approval("a-2", 2)}, Version: 2},
	}
	server.on("Decide", tells(started(3), notLast(written(3)), completed(3, "done", "")))
	if _, err := server.thread(t).Approve(t.Context(), nil, WithArguments(map[string]any{"amount": 1})).Reply(); err != nil {
		t.Fatal(err)
	}
	decided := server.asked("Decide")[0].(*clewv1.DecideRequest)
	if len(decided.GetDecisions()) != 2 || decided.GetExpectedVersion() != 2 || decided.ExpectedVersion == nil ||
		decided.GetDecisions()[1].GetApprove().GetArgumentsJson() != `{"amount":1}` {
		t.Fatalf("decided: %v", decided)
	}
}

func TestWhereNothingWaitsThereIsNothingToApprove(t *testing.T) {
	server := startScripted(t)
	server.approvals = []*clewv1.ListApprovalsResponse{{Version: 2}}
	stream := server.thread(t).Approve(t.Context(), nil)
	_, err := stream.Reply()
	if codeIn(t, err) != ResumeInvalid || !errors.Is(err, FailedPrecondition) || len(server.asked("Decide")) != 0 {
		t.Fatal(err)
	}
	if _, again := stream.Reply(); again != err {
		t.Fatalf("an error stays: %v", again)
	}
}

func TestARunThatFailedSaysWhy(t *testing.T) {
	server := startScripted(t)
	info := errorInfo("MODEL_UNAVAILABLE", map[string]string{"model": "m"})
	server.on("Send", beginning, tells(failed(2, clewv1.FailureCode_FAILURE_CODE_MODEL_UNAVAILABLE, info)))
	_, err := server.thread(t).Send(t.Context(), "hi").Reply()
	var told *Error
	if !errors.As(err, &told) || told.Code != RunFailed || told.FailureCode != "model_unavailable" || !told.Retryable ||
		told.RunID != "u.r1" || told.Metadata["model"] != "m" || errors.Is(err, Unavailable) {
		t.Fatalf("%#v", err)
	}
}

func TestWhatIsNoArgumentIsRefusedByItsFieldBeforeItIsSent(t *testing.T) {
	server := startScripted(t)
	thread := server.thread(t)
	for field, stream := range map[string]*Stream{
		"thread_id":  server.client(t).Thread("").Send(t.Context(), "hi"),
		"text":       thread.Send(t.Context(), "\xff"),
		"state_json": thread.Send(t.Context(), "hi", WithState([]int{1})),
		"input_json": thread.Run(t.Context(), func() {}),
		"decisions":  thread.Decide(t.Context(), make([]Decision, 1)),
	} {
		_, err := stream.Reply()
		var refused *Error
		if !errors.As(err, &refused) || refused.Metadata["field"] != field || !errors.Is(err, InvalidArgument) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if len(server.asked("Send")) != 0 {
		t.Error("something was sent")
	}
}
