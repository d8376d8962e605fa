//go:build server

package clew_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"clew.dev/clew"
	clewv1 "clew.dev/clew/clew/v1"
)

const (
	shop  = "testdata/shop.py"
	lease = 500 * time.Millisecond
)

type run = func(context.Context, *clew.ToolCall) (any, error)

func startShop(t *testing.T) *clew.Client {
	t.Helper()
	return clientOf(t, serve(t, shop, "memory://", "0", "CLEW_CALL_LEASE=0.5").address)
}

func clientOf(t *testing.T, target string, options ...clew.ClientOption) *clew.Client {
	t.Helper()
	client, err := clew.NewClient(target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// working runs a worker with the tool `charge` until the test ends, or it is stopped.
func working(t *testing.T, client *clew.Client, tool clew.Tool) (worker *clew.Worker, ran chan error, stop func()) {
	t.Helper()
	worker = client.Worker(clew.WithLogger(slog.New(slog.DiscardHandler)))
	tool.Name = "charge"
	if err := worker.Tool(tool); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ran = make(chan error, 1)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		ran <- worker.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	await(t, worker.Ready())
	return worker, ran, stop
}

func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case told := <-from:
		return told
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
		panic("not reached")
	}
}

// charges is a tool that waits until a test lets it end.
type charges struct {
	begun     chan *clew.ToolCall
	open      chan bool
	cancelled chan error
}

func newCharges() *charges {
	return &charges{make(chan *clew.ToolCall, 10), make(chan bool), make(chan error, 10)}
}

func (c *charges) run(ctx context.Context, call *clew.ToolCall) (any, error) {
	c.begun <- call
	select {
	case <-c.open:
		return "40 for A-1", nil
	case <-ctx.Done():
		c.cancelled <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

type turn struct {
	reply *clew.Reply
	err   error
}

// sending sends in a goroutine of its own.
func sending(thread *clew.Thread) <-chan turn {
	ended := make(chan turn, 1)
	go func() {
		reply, err := thread.Send(context.Background(), "go").Reply()
		ended <- turn{reply, err}
	}()
	return ended
}

func says(t *testing.T, told turn, text string) {
	t.Helper()
	if told.err != nil || told.reply.Text != text {
		t.Fatalf("%+v, %v", told.reply, told.err)
	}
}

func TestWhatAToolGivesIsWhatTheModelReads(t *testing.T) {
	client := startShop(t)
	part := func(text string) *clewv1.Part {
		return &clewv1.Part{Kind: &clewv1.Part_Text{Text: &clewv1.TextPart{Text: text}}}
	}
	for name, each := range map[string]struct {
		run  run
		said string
	}{
		"text": {func(_ context.Context, call *clew.ToolCall) (any, error) {
			var order struct{ Order string }
			err := call.Arguments(&order)
			return "40 for " + order.Order, err
		}, "It is 40 for A-1."},
		"structure": {func(_ context.Context, call *clew.ToolCall) (any, error) {
			return map[string]any{"large": int64(1)<<53 + 1, "raw": call.RawArguments}, nil
		}, `It is {"large": 9007199254740993, "raw": {"order": "A-1", "amount": 40}}.`},
		"parts": {func(context.Context, *clew.ToolCall) (any, error) {
			return clew.ToolContent{part("A-1: "), part("40")}, nil
		}, "It is A-1: 40."},
		"nothing": {func(context.Context, *clew.ToolCall) (any, error) { return nil, nil }, "It is null."},
		"no JSON": {func(context.Context, *clew.ToolCall) (any, error) {
			return func() {}, nil
		}, "It is result: json: unsupported type: func(); give what encoding/json can write."},
		"error": {func(context.Context, *clew.ToolCall) (any, error) { return nil, errors.New("boom") }, "It is boom."},
		"meant": {func(context.Context, *clew.ToolCall) (any, error) { return nil, &clew.ToolError{Message: "no money"} }, "It is no money."},
		"panic": {func(context.Context, *clew.ToolCall) (any, error) { panic("no card") }, "It is panic: no card."},
	} {
		t.Run(name, func(t *testing.T) {
			working(t, client, clew.Tool{Run: each.run})
			reply, err := client.App("shop").Thread("t-"+strings.ReplaceAll(name, " ", "-")).Send(t.Context(), "go").Reply()
			if err != nil || strings.ReplaceAll(reply.Text, "\n", "") != each.said {
				t.Fatalf("%+v, %v", reply, err)
			}
		})
	}
}

func TestTheSchemaOfAToolIsHeeded(t *testing.T) {
	client := startShop(t)
	schema := json.RawMessage(`{"type":"object","properties":{"order":{"type":"integer"}}}`)
	working(t, client, clew.Tool{Parameters: schema, Run: newCharges().run})
	says(t, await(t, sending(client.App("shop").Thread("t"))), `It is invalid arguments for charge: order: "A-1" is not of type "integer".`)
}

func TestAnErrorThatIsRetryableIsTriedAgain(t *testing.T) {
	client, tries := startShop(t), make(chan int, 10)
	working(t, client, clew.Tool{MaxTries: 5, Run: func(_ context.Context, call *clew.ToolCall) (any, error) {
		tries <- call.Delivery
		if len(tries) < 3 {
			return nil, &clew.ToolError{Message: "busy", Retryable: true, RetryAfter: time.Millisecond}
		}
		return "charged", nil
	}})
	says(t, await(t, sending(client.App("shop").Thread("t"))), "It is charged.")
	for expected := 1; expected <= 3; expected++ {
		if delivery := await(t, tries); delivery != expected {
			t.Fatalf("delivery %d", delivery)
		}
	}
}

func TestALongCallKeepsItsLease(t *testing.T) {
	client, charges := startShop(t), newCharges()
	working(t, client, clew.Tool{Run: charges.run})
	working(t, client, clew.Tool{Run: charges.run})
	ended := sending(client.App("shop").Thread("t"))
	await(t, charges.begun)
	time.Sleep(3 * lease)
	close(charges.open)
	says(t, await(t, ended), "It is 40 for A-1.")
	if len(charges.begun) != 0 {
		t.Fatal("it ran twice")
	}
}

func TestACancelledRunCancelsItsTool(t *testing.T) {
	client, charges := startShop(t), newCharges()
	working(t, client, clew.Tool{Run: charges.run})
	thread := client.App("shop").Thread("t")
	ended := sending(thread)
	await(t, charges.begun)
	if _, err := thread.Cancel(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if why := await(t, charges.cancelled); !errors.Is(why, clew.Cancelled) || !errors.Is(why, context.Canceled) {
		t.Fatal(why)
	}
	if told := await(t, ended); !errors.Is(told.err, clew.Cancelled) {
		t.Fatal(told.err)
	}
}

func TestACallOfAWorkerThatIsGoneIsMadeByAnother(t *testing.T) {
	client, lost, charges := startShop(t), newCharges(), newCharges()
	_, _, stop := working(t, client, clew.Tool{Run: lost.run})
	ended := sending(client.App("shop").Thread("t"))
	first := await(t, lost.begun)
	stop()
	close(charges.open)
	working(t, client, clew.Tool{Run: charges.run})
	says(t, await(t, ended), "It is 40 for A-1.")
	if second := await(t, charges.begun); second.IdempotencyKey != first.IdempotencyKey || second.Delivery != 2 {
		t.Fatalf("%+v, %+v", first, second)
	}
}

func TestProgressIsToldToWhoWatches(t *testing.T) {
	client, seen := startShop(t), make(chan bool)
	working(t, client, clew.Tool{Run: func(ctx context.Context, call *clew.ToolCall) (any, error) {
		if err := call.Report(ctx, map[string]bool{"half": true}); err != nil {
			return nil, err
		}
		<-seen
		return "charged", nil
	}})
	var told []string
	for event, err := range client.App("shop").Thread("t").Send(t.Context(), "go").Events() {
		if err != nil {
			t.Fatal(err)
		}
		if progress := event.GetToolCallProgress(); progress != nil {
			told = append(told, progress.GetName()+" "+progress.GetProgressJson())
			close(seen)
		}
	}
	if len(told) != 1 || told[0] != `charge {"half":true}` {
		t.Fatalf("told: %v", told)
	}
}

func TestADrainingWorkerEndsWhenItsCallsAreDone(t *testing.T) {
	client, charges := startShop(t), newCharges()
	worker, ran, _ := working(t, client, clew.Tool{Run: charges.run})
	ended := sending(client.App("shop").Thread("t"))
	await(t, charges.begun)
	drained := make(chan error, 1)
	go func() { drained <- worker.Drain(context.Background()) }()
	time.Sleep(50 * time.Millisecond)
	if len(ran) != 0 || len(drained) != 0 {
		t.Fatal("it did not wait for its call")
	}
	close(charges.open)
	if err := errors.Join(await(t, drained), await(t, ran)); err != nil {
		t.Fatal(err)
	}
	says(t, await(t, ended), "It is 40 for A-1.")
}

func TestWhatNoLaterTryMendsEndsAWorker(t *testing.T) {
	client := startShop(t)
	refused := client.Worker()
	if err := refused.Tool(clew.Tool{Name: "no name", Run: newCharges().run}); err != nil {
		t.Fatal(err)
	}
	if err := refused.Run(t.Context()); !errors.Is(err, clew.ArgumentInvalid) {
		t.Fatal(err)
	}
	first, ran, _ := working(t, client, clew.Tool{Run: newCharges().run})
	second := client.Worker(clew.WithWorkerID(first.ID()))
	if err := second.Tool(clew.Tool{Name: "charge", Run: newCharges().run}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	others := make(chan error, 1)
	go func() { others <- second.Run(ctx) }()
	if err := await(t, ran); !errors.Is(err, clew.LeaseLost) {
		t.Fatal(err)
	}
	cancel()
	if err := await(t, others); !errors.Is(err, clew.Cancelled) {
		t.Fatal(err)
	}
}

func TestAResultOutlivesTheServerThatAskedForIt(t *testing.T) {
	for app, once := range map[string]bool{"shop": false, "careful": true} {
		t.Run(app, func(t *testing.T) {
			storage := "sqlite://" + filepath.Join(t.TempDir(), "clew.db")
			first := serve(t, shop, storage, "0", "CLEW_CALL_LEASE=0.5")
			_, port, err := net.SplitHostPort(first.address)
			if err != nil {
				t.Fatal(err)
			}
			client, charges := clientOf(t, first.address, clew.WithRejoinTimeout(100*time.Millisecond)), newCharges()
			var runs atomic.Int32
			working(t, client, clew.Tool{Once: once, Run: func(ctx context.Context, call *clew.ToolCall) (any, error) {
				runs.Add(1)
				return charges.run(ctx, call)
			}})
			ended := sending(client.App(app).Thread("t"))
			await(t, charges.begun)
			first.kill()
			if told := await(t, ended); !errors.Is(told.err, clew.Unavailable) {
				t.Fatal(told.err)
			}
			close(charges.open)
			serve(t, shop, storage, port, "CLEW_CALL_LEASE=0.5")
			thread := clientOf(t, first.address).App(app).Thread("t")
			reply, err := thread.Retry(t.Context()).Reply()
			if err != nil {
				t.Fatal(err)
			}
			if reply.Status == clew.Suspended {
				// People were asked before the worker was back, whose answer is theirs.
				reply = laterReply(t, thread, reply.Version)
			}
			says(t, turn{reply, nil}, "It is 40 for A-1.")
			if runs.Load() != 1 {
				t.Fatalf("it ran %d times", runs.Load())
			}
		})
	}
}

// laterReply is what a run comes to that others continue.
func laterReply(t *testing.T, thread *clew.Thread, after int64) *clew.Reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for event, err := range thread.Watch(ctx, clew.WatchQuery{AfterVersion: after, Follow: true}).Events() {
		if err != nil {
			t.Fatal(err)
		}
		if completed := event.GetRunCompleted(); completed != nil {
			return &clew.Reply{Text: completed.GetReply().GetText()}
		}
	}
	return nil
}

func TestTheWorkerOfTheReadmeRunsUntilItIsStopped(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	programs := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindAllSubmatch(readme, -1)
	program := string(programs[len(programs)-1][1])
	if lines := strings.Count(program, "\n"); lines > 30 {
		t.Errorf("it has %d lines", lines)
	}
	target := serve(t, shop, "memory://", "0").address
	folder := t.TempDir()
	file, built := filepath.Join(folder, "main.go"), filepath.Join(folder, "worker")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("go", "build", "-o", built, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	worker := exec.Command(built)
	worker.Env = append(os.Environ(), "CLEW_TARGET="+target)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	told := await(t, sending(clientOf(t, target).App("careful").Thread("t")))
	if told.err != nil || !strings.HasPrefix(told.reply.Text, "It is charged A-1 under ") {
		t.Fatalf("%+v, %v", told.reply, told.err)
	}
	if err := worker.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); err != nil {
		t.Fatal(err)
	}
}
