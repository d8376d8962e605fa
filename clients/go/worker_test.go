package clew

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A gated tool says that it has begun, and ends when the test lets it.
type gated struct {
	begun chan *ToolCall
	open  chan string
	ended chan error
}

func newGated() *gated {
	return &gated{begun: make(chan *ToolCall, 10), open: make(chan string, 10), ended: make(chan error, 10)}
}

func (g *gated) charge(ctx context.Context, call *ToolCall) (any, error) {
	g.begun <- call
	select {
	case said := <-g.open:
		return said, nil
	case <-ctx.Done():
		g.ended <- context.Cause(ctx)
		return "late", nil
	}
}

func says(value any, err error) func(context.Context, *ToolCall) (any, error) {
	return func(context.Context, *ToolCall) (any, error) { return value, err }
}

func TestAToolKnowsItsCall(t *testing.T) {
	desk, gated := startDesk(t), newGated()
	worker := desk.working(t, gated.charge)
	stream := desk.opened(t)
	within(t, worker.Ready())
	if request := stream.request; request.GetWorkerId() != worker.ID() || !strings.HasPrefix(worker.ID(), "worker-") || len(worker.ID()) != 23 {
		t.Fatalf("request: %v", request)
	}
	stream.give(t, 3)
	call := within(t, gated.begun)
	if call.Tool != "charge" || call.ThreadID != "t-1" || call.RunID != "u.r1" || call.ToolCallID != "c-1" || call.IdempotencyKey != "k-1" ||
		call.Actor != "ada" || call.Delivery != 3 || !call.Deadline.IsZero() {
		t.Fatalf("call: %+v", call)
	}
	var arguments map[string]any
	if err := call.Arguments(&arguments); err != nil || arguments["amount"] != json.Number("9007199254740993") {
		t.Fatalf("%v, %v", arguments, err)
	}
	if err := call.Report(t.Context(), map[string]any{"done": 0.5}); err != nil {
		t.Fatal(err)
	}
	if told := within(t, desk.reported); told.GetProgressJson() != `{"done":0.5}` || told.GetCall().GetIdempotencyKey() != "k-1" {
		t.Fatalf("told: %v", told)
	}
	if err := call.Report(t.Context(), func() {}); codeIn(t, err) != StateInvalid {
		t.Fatal(err)
	}
	var wrong struct{ Order int }
	var refused *ToolError
	if err := call.Arguments(&wrong); !errors.As(err, &refused) || refused.Retryable {
		t.Fatal(err)
	}
}

func TestWhatAToolGivesTravelsByItsKind(t *testing.T) {
	part := func(text string) *clewv1.Part {
		return &clewv1.Part{Kind: &clewv1.Part_Text{Text: &clewv1.TextPart{Text: text}}}
	}
	for name, each := range map[string]struct {
		value     any
		content   []string
		structure string
	}{
		"text":      {value: "done", content: []string{"done"}},
		"parts":     {value: ToolContent{part("a"), part("b")}, content: []string{"a", "b"}},
		"structure": {value: map[string]any{"n": json.Number("9007199254740993")}, structure: `{"n":9007199254740993}`},
		"nothing":   {value: nil, structure: "null"},
	} {
		outcome := outcomeOf(each.value, nil)
		var texts []string
		for _, part := range outcome.result.GetContent() {
			texts = append(texts, part.GetText().GetText())
		}
		same(t, name, texts, each.content)
		if outcome.failure != nil || outcome.result.GetStructuredJson() != each.structure {
			t.Errorf("%s: %v", name, outcome)
		}
	}
	if failure := outcomeOf(func() {}, nil).failure; !strings.HasPrefix(failure.GetMessage(), "result: ") || failure.GetRetryable() {
		t.Errorf("no JSON: %v", failure)
	}
}

func TestErrorsAreToldByTheirTypeAndText(t *testing.T) {
	meant := &ToolError{Message: "no money", RetryAfter: time.Second}
	for err, expected := range map[error]string{
		errors.New("boom"):                         "boom",
		&json.SyntaxError{}:                        "*json.SyntaxError: ",
		context.DeadlineExceeded:                   "context.deadlineExceededError: context deadline exceeded",
		fmt.Errorf("charging: %w", errors.New("")): "charging: ",
		fmt.Errorf("charging: %w", meant):          "no money",
		&ToolError{}:                               "the tool failed",
		errors.New("\xff"):                         "\uFFFD",
	} {
		var known *ToolError
		failure := outcomeOf(nil, err).failure
		if failure.GetMessage() != expected || failure.GetRetryable() == errors.As(err, &known) {
			t.Errorf("%v: %v", err, failure)
		}
	}
	if told := outcomeOf(nil, meant).failure; told.GetRetryAfter().AsDuration() != time.Second {
		t.Error(told)
	}
	long := outcomeOf(nil, errors.New(strings.Repeat("é", 4096))).failure.GetMessage()
	if len(long) > longestMessage || len(long) < longestMessage-2 || !utf8.ValidString(long) || !strings.HasSuffix(long, "é…") {
		t.Errorf("%d bytes", len(long))
	}
}

func TestAToolThatPanicsOrEndsItsGoroutineHasFailed(t *testing.T) {
	desk := startDesk(t)
	var runs atomic.Int32
	worker := desk.working(t, func(context.Context, *ToolCall) (any, error) {
		if runs.Add(1) == 1 {
			panic("no card")
		}
		runtime.Goexit()
		return nil, nil
	})
	stream := desk.opened(t)
	for _, expected := range []string{"panic: no card", errGoneAway.Error()} {
		stream.give(t, 1)
		if told := desk.finished(t, false).GetError(); told.GetMessage() != expected || !told.GetRetryable() {
			t.Fatalf("told: %v", told)
		}
		within(t, worker.held.empty())
	}
}

func TestACallThatIsHeldIsNotBegunAgain(t *testing.T) {
	desk, gated := startDesk(t), newGated()
	desk.working(t, gated.charge)
	stream := desk.opened(t)
	stream.give(t, 1)
	within(t, gated.begun)
	stream.give(t, 2)
	gated.open <- "done"
	for range 5 {
		// By now the pauses between tries are longer than it takes here.
		desk.finished(t, reason(codes.FailedPrecondition, "THREAD_INTERRUPTED", nil).Err())
	}
	asked := time.Now()
	stream.give(t, 3)
	if brought := desk.finished(t, false); brought.GetResult().GetContent()[0].GetText().GetText() != "done" {
		t.Fatalf("brought: %v", brought)
	}
	if waited := time.Since(asked); waited > 700*time.Millisecond {
		t.Fatalf("it was brought after %v", waited)
	}
	if len(gated.begun) != 0 {
		t.Fatal("it ran again")
	}
}

func TestACallThatIsTriedAgainBeginsWhereItCameMeanwhile(t *testing.T) {
	desk := startDesk(t)
	deliveries := make(chan int, 10)
	desk.working(t, func(_ context.Context, call *ToolCall) (any, error) {
		deliveries <- call.Delivery
		return nil, &ToolError{Message: "busy", Retryable: true}
	})
	stream := desk.opened(t)
	stream.give(t, 1)
	brought := within(t, desk.finishes)
	stream.give(t, 2)
	time.Sleep(50 * time.Millisecond)
	brought.answer <- true
	within(t, deliveries)
	if delivery := within(t, deliveries); delivery != 2 {
		t.Fatalf("delivery %d", delivery)
	}
	desk.finished(t, false)
}

func TestWhatIsRevokedIsCancelledAndNotBrought(t *testing.T) {
	for name, expected := range map[string]Code{"stream": Cancelled, "renewal": LeaseLost} {
		t.Run(name, func(t *testing.T) {
			desk, gated := startDesk(t), newGated()
			desk.working(t, gated.charge)
			stream := desk.opened(t)
			stream.give(t, 1)
			within(t, gated.begun)
			if name == "stream" {
				revoked := revokedCall(clewv1.CallRevokedReason_CALL_REVOKED_REASON_CANCELLED)
				stream.say(t, &clewv1.WorkResponse{Revoked: []*clewv1.WorkResponse_Revoked{revoked}})
			} else {
				desk.revoked <- []*clewv1.WorkResponse_Revoked{revokedCall(clewv1.CallRevokedReason_CALL_REVOKED_REASON_LEASE_LOST)}
			}
			if why := within(t, gated.ended); !errors.Is(why, expected) || !errors.Is(why, context.Canceled) {
				t.Fatal(why)
			}
			// It is the worker's anew when it comes again.
			stream.give(t, 2)
			if call := within(t, gated.begun); call.Delivery != 2 {
				t.Fatalf("call: %+v", call)
			}
			gated.open <- "done"
			if brought := desk.finished(t, false); brought.GetResult().GetContent()[0].GetText().GetText() != "done" || len(desk.finishes) != 0 {
				t.Fatalf("brought: %v", brought)
			}
		})
	}
}

func TestACallComesAgainBesideItsToolThatDoesNotHeedItsContext(t *testing.T) {
	desk := startDesk(t)
	begun, open := make(chan int, 10), make(chan bool)
	desk.working(t, func(_ context.Context, call *ToolCall) (any, error) {
		begun <- call.Delivery
		<-open
		return call.Delivery, nil
	})
	stream := desk.opened(t)
	stream.give(t, 1)
	within(t, begun)
	revoked := revokedCall(clewv1.CallRevokedReason_CALL_REVOKED_REASON_LEASE_LOST)
	stream.say(t, &clewv1.WorkResponse{Revoked: []*clewv1.WorkResponse_Revoked{revoked}})
	stream.give(t, 2)
	select {
	case <-begun:
		t.Fatal("it ran twice at a time")
	case <-time.After(100 * time.Millisecond):
	}
	close(open)
	if brought := desk.finished(t, false); brought.GetResult().GetStructuredJson() != "2" {
		t.Fatalf("brought: %v", brought)
	}
}

func TestAResultThatCannotBeKeptIsAnError(t *testing.T) {
	for name, value := range map[string]string{"refused": "done", "too large to be sent": strings.Repeat("x", maxSent)} {
		t.Run(name, func(t *testing.T) {
			desk := startDesk(t)
			desk.working(t, says(value, nil))
			desk.opened(t).give(t, 1)
			if name == "refused" {
				desk.finished(t, reason(codes.ResourceExhausted, "STATE_TOO_LARGE", nil).Err())
			}
			if told := desk.finished(t, false).GetError(); !strings.HasPrefix(told.GetMessage(), "the result of charge cannot be kept: ") {
				t.Fatalf("told: %v", told)
			}
		})
	}
}

func TestAnErrorThatIsRefusedIsForgotten(t *testing.T) {
	desk := startDesk(t)
	worker := desk.working(t, says(nil, errors.New("boom")))
	desk.opened(t).give(t, 1)
	desk.finished(t, reason(codes.InvalidArgument, "ARGUMENT_INVALID", nil).Err())
	within(t, worker.held.empty())
}

func TestWhatIsHeldIsNamedToWhoeverComes(t *testing.T) {
	desk, gated := startDesk(t), newGated()
	desk.working(t, gated.charge)
	stream := desk.opened(t)
	if len(stream.request.GetHeld()) != 0 || stream.request.GetTools()[0].GetName() != "charge" {
		t.Fatalf("request: %v", stream.request)
	}
	stream.give(t, 1)
	within(t, gated.begun)
	if renewed := within(t, desk.renewed); renewed.GetCalls()[0].GetIdempotencyKey() != "k-1" {
		t.Fatalf("renewed: %v", renewed)
	}
	stream.end <- reason(codes.Unavailable, "STREAM_CUT", nil).Err()
	if again := desk.opened(t); len(again.request.GetHeld()) != 1 || again.request.GetHeld()[0].GetThreadId() != "t-1" {
		t.Fatalf("request: %v", again.request)
	}
	gated.open <- "done"
	desk.finished(t, false)
}

func TestAWorkerEndsWithWhatNoLaterTryMends(t *testing.T) {
	for told, expected := range map[*status.Status]Code{
		reason(codes.InvalidArgument, "ARGUMENT_INVALID", nil): ArgumentInvalid,
		reason(codes.Aborted, "LEASE_LOST", nil):               LeaseLost,
		status.New(codes.PermissionDenied, ""):                 PermissionDenied,
		status.New(codes.Unauthenticated, ""):                  Unauthenticated,
	} {
		desk := startDesk(t)
		worker := desk.working(t, says("done", nil))
		within(t, desk.streams).end <- status.Error(codes.Unimplemented, "")
		desk.opened(t).end <- told.Err()
		if err := within(t, worker.ran); codeIn(t, err) != expected {
			t.Fatal(err)
		}
	}
}

func TestAStreamThatHasDrainedEndsTheWorkerWithItsCalls(t *testing.T) {
	desk, gated := startDesk(t), newGated()
	worker := desk.working(t, gated.charge)
	stream := desk.opened(t)
	stream.give(t, 1)
	within(t, gated.begun)
	stream.end <- nil
	gated.open <- "done"
	desk.finished(t, false)
	if err := within(t, worker.ran); err != nil {
		t.Fatal(err)
	}
}

func TestADrainingWorkerLeavesAStreamThatDoesNotEnd(t *testing.T) {
	desk := startDesk(t)
	worker := desk.working(t, says("done", nil))
	stream := desk.opened(t)
	within(t, worker.Ready())
	if err := worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	within(t, desk.drains)
	if err := within(t, worker.ran); err != nil {
		t.Fatal(err)
	}
	within(t, stream.stream.Context().Done())
}

func TestWhatIsNotDoneInTimeIsCancelledAndLeft(t *testing.T) {
	desk, gated := startDesk(t), newGated()
	worker := desk.working(t, gated.charge)
	desk.opened(t).give(t, 1)
	within(t, gated.begun)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := worker.Drain(ctx); codeIn(t, err) != DeadlineExceeded || !strings.Contains(err.Error(), "1 calls") {
		t.Fatal(err)
	}
	within(t, gated.ended)
	if err := within(t, worker.ran); codeIn(t, err) != DeadlineExceeded || len(desk.finishes) != 0 {
		t.Fatal(err)
	}
}

func TestAClientThatIsClosedEndsItsWorker(t *testing.T) {
	desk := startDesk(t)
	worker := desk.working(t, says("done", nil))
	desk.opened(t)
	_ = worker.to.close()
	if err := within(t, worker.ran); codeIn(t, err) != Cancelled {
		t.Fatal(err)
	}
}

func TestWhatIsNoToolIsRefusedByItsField(t *testing.T) {
	client, err := NewClient("")
	if err != nil {
		t.Fatal(err)
	}
	run := says("done", nil)
	worker := client.Worker(WithWorkerID("w-1"), WithMaxCalls(3), WithCallsOf("t-1"))
	if err := worker.Tool(Tool{Name: "a", Run: run}); err != nil || worker.ID() != "w-1" {
		t.Fatal(err)
	}
	for field, tool := range map[string]Tool{
		"run":        {Name: "b"},
		"timeout":    {Name: "b", Run: run, Timeout: -1},
		"parameters": {Name: "b", Run: run, Parameters: "object"},
		"name":       {Name: "a", Run: run},
	} {
		var refused *Error
		if err := worker.Tool(tool); !errors.As(err, &refused) || refused.Metadata["field"] != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	if err := worker.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := worker.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := worker.Run(t.Context()); codeIn(t, err) != FailedPrecondition {
		t.Fatal(err)
	}
}

func TestAWorkersPausesGrowFromATenthOfASecondToFifteen(t *testing.T) {
	for tries, longest := range map[int]time.Duration{0: 100 * time.Millisecond, 3: 800 * time.Millisecond, 8: longestWorkerPause, 99: longestWorkerPause} {
		if pause := workerPause(tries); pause < longest/2 || pause > longest {
			t.Errorf("%d: %v", tries, pause)
		}
	}
}

func TestProgressIsGivenAndMovesNoCursor(t *testing.T) {
	at := watchPosition(4)
	told := event(7)
	told.Payload = &clewv1.Event_ToolCallProgress{ToolCallProgress: &clewv1.ToolCallProgress{ToolCallId: "c-1", ProgressJson: "1"}}
	if given := at.accept(told); len(given) != 1 || at.cursor != 4 {
		t.Fatalf("%v, cursor %d", given, at.cursor)
	}
}
