package clew

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
)

const (
	// How long a worker that drains waits for its calls, where its context has no deadline.
	drainLimit = 30 * time.Second
	// How long a worker waits for a server to end its stream, and for tools that are cancelled to end.
	lastWordTime = 2 * time.Second
	defaultLease = 30 * time.Second
)

// A Worker runs tools for agents and workflows, at whatever server of a database those are. Client.Worker makes one.
//
// It keeps what came of a call until a server has written that down, over broken connections and restarts of the server. Where its process
// dies, the calls that it had are given to another worker, but for those of tools that are Once: people are asked what became of them.
type Worker struct {
	to       *connection
	id       string
	maxCalls int32
	threadID string
	log      *slog.Logger
	held     *heldCalls
	lease    atomic.Int64

	mu    sync.Mutex
	tools map[string]Tool
	offer []*clewv1.WorkerTool
	// Set by Run: ends it, and ends its stream alone.
	stop  context.CancelCauseFunc
	leave context.CancelFunc

	ready    chan struct{}
	readied  sync.Once
	draining chan struct{}
	drained  sync.Once
	// Closed when the last stream has ended, and when Run has.
	streamOver chan struct{}
	runOver    chan struct{}
}

// A WorkerOption is what Client.Worker takes.
type WorkerOption func(*Worker)

// WithWorkerID is the worker's own name for itself, 1 to 128 characters, another one in each process; it is left to chance unless it is
// given.
func WithWorkerID(id string) WorkerOption { return func(w *Worker) { w.id = id } }

// WithMaxCalls is how many calls the worker takes at a time over all its tools, 1 to 1,000; 10 unless it is given.
func WithMaxCalls(calls int32) WorkerOption { return func(w *Worker) { w.maxCalls = calls } }

// WithCallsOf takes the calls of one thread alone.
func WithCallsOf(threadID string) WorkerOption { return func(w *Worker) { w.threadID = threadID } }

// WithLogger is where the worker tells what goes wrong on its way: slog's default logger unless it is given.
func WithLogger(logger *slog.Logger) WorkerOption { return func(w *Worker) { w.log = logger } }

// Worker is a worker over this client's connection. It has to be given tools, and to be run.
func (c *Client) Worker(options ...WorkerOption) *Worker {
	made := &Worker{
		to:         c.to,
		log:        slog.Default(),
		held:       newHeldCalls(),
		tools:      map[string]Tool{},
		ready:      make(chan struct{}),
		draining:   make(chan struct{}),
		streamOver: make(chan struct{}),
		runOver:    make(chan struct{}),
	}
	made.lease.Store(int64(defaultLease))
	for _, option := range options {
		option(made)
	}
	if made.id == "" {
		made.id = newWorkerID()
	}
	return made
}

// ID is the worker's own name for itself.
func (w *Worker) ID() string { return w.id }

// Tool offers a tool, before Run. What no tool can be is refused with ArgumentInvalid or StateInvalid by its field; a server may refuse
// more, which Run tells.
func (w *Worker) Tool(tool Tool) error {
	offer, err := tool.offer()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, has := w.tools[tool.Name]; has {
		return invalid(ArgumentInvalid, "name", fmt.Sprintf("this worker has a tool %q already", tool.Name))
	}
	if w.stop != nil {
		return misused("a worker is given its tools before it runs")
	}
	w.tools[tool.Name] = tool
	w.offer = append(w.offer, offer)
	return nil
}

// Ready is closed when a server has registered the worker for the first time.
func (w *Worker) Ready() <-chan struct{} { return w.ready }

// Run takes calls until Drain, and gives nil then; once. Broken connections are mended for as long as it takes.
//
// It fails with what no later try mends: InvalidArgument for tools or an id that the server refuses, PermissionDenied, Unauthenticated, and
// LeaseLost when another process has come under this worker's id. Where its context ends, or the client is closed, it fails with Cancelled
// or DeadlineExceeded. Tools that are running then are cancelled, and have 2 s to end.
func (w *Worker) Run(ctx context.Context) error {
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	streaming, leave := context.WithCancel(running)
	defer leave()
	if !w.begin(stop, leave) {
		return misused("a worker runs once")
	}
	defer close(w.runOver)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		w.renew(running)
	}()
	err := w.takeCalls(running, streaming)
	close(w.streamOver)
	if err == nil {
		select {
		case <-w.held.empty():
		case <-running.Done():
			err = stopped(running)
		}
	}
	stop(err)
	<-renewing
	select {
	case <-w.held.empty():
	case <-time.After(lastWordTime):
	}
	return err
}

func (w *Worker) begin(stop context.CancelCauseFunc, leave context.CancelFunc) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil {
		return false
	}
	w.stop, w.leave = stop, leave
	return true
}

// Drain takes no more calls, finishes those that are there, and ends Run. It waits for that, for 30 s where its context has no deadline.
//
// What is not done by then is cancelled, and left to its lease: then Drain and Run fail with DeadlineExceeded, or with Cancelled where the
// context was.
func (w *Worker) Drain(ctx context.Context) error {
	w.drained.Do(func() { close(w.draining) })
	w.mu.Lock()
	stop, leave := w.stop, w.leave
	w.mu.Unlock()
	if stop == nil {
		return nil
	}
	ctx, cancel := withLimit(ctx, drainLimit)
	defer cancel()
	// A server that does not hear of it is left all the same.
	_, _ = ask(ctx, w.to, w.to.workers.DrainWorker, &clewv1.DrainWorkerRequest{WorkerId: w.id})
	select {
	case <-w.held.empty():
		select {
		case <-w.streamOver:
		case <-time.After(lastWordTime):
		case <-ctx.Done():
		}
		leave()
	case <-w.runOver:
	case <-ctx.Done():
	}
	select {
	case <-w.runOver:
		return nil
	case <-ctx.Done():
	}
	err := *stopped(ctx)
	if left := w.held.count(); left > 0 {
		err.Message = fmt.Sprintf("%d calls were not done when the worker had to end, and are left to their leases", left)
	}
	stop(&err)
	<-w.runOver
	return &err
}

// RunUntilStopped is the whole of a worker's program: it runs until the process is asked to stop, by SIGTERM or Ctrl-C, then drains for up
// to 30 s. A second signal ends the process at once. It gives nil where every call was finished, and otherwise what Run or Drain gave.
func (w *Worker) RunUntilStopped(ctx context.Context) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(asked)
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()
	select {
	case err := <-ran:
		return err
	case <-asked:
		signal.Stop(asked)
	}
	if err := w.Drain(ctx); err != nil {
		return err
	}
	return <-ran
}

func newWorkerID() string {
	digits := make([]byte, 8)
	_, _ = rand.Read(digits) // never fails
	return "worker-" + hex.EncodeToString(digits)
}

// stopped is the error of what ended with its context.
func stopped(ctx context.Context) *Error {
	var told *Error
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &told):
		return told
	case errors.Is(cause, context.DeadlineExceeded):
		text := "the worker's time was over; what it had is left to its lease"
		return &Error{Code: DeadlineExceeded, Message: text, status: codes.DeadlineExceeded, cause: cause}
	}
	return cancelledBy(ctx, "the worker was stopped by its context; what it had is left to its lease")
}

func misused(text string) *Error {
	return &Error{Code: FailedPrecondition, Message: text, status: codes.FailedPrecondition}
}
