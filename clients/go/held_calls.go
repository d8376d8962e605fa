package clew

import (
	"context"
	"sync"

	clewv1 "clew.dev/clew/clew/v1"
)

// A callKey names a call among all that there are.
type callKey struct {
	threadID       string
	idempotencyKey string
}

func keyOf(name *clewv1.CallName) callKey {
	return callKey{name.GetThreadId(), name.GetIdempotencyKey()}
}

// A heldCall is a call that a worker has: being run, or with an outcome that is not acknowledged.
type heldCall struct {
	wire *clewv1.WorkerCall
	// Ends when the call is not wanted from this worker any more.
	ctx    context.Context
	cancel context.CancelCauseFunc
	// Has a token where the call came again while its outcome is there.
	asked chan struct{}

	// Under the lock of heldCalls.
	ended   bool
	revoked bool
	// The call as it came again, since its outcome was last brought or it was revoked.
	again *clewv1.WorkerCall
}

// isOurs is whether the call is this worker's. A tool that is revoked may take a while to end, and its call may come again meanwhile.
func (h *heldCall) isOurs() bool { return !h.revoked || h.again != nil }

// heldCalls are all that a worker has.
type heldCalls struct {
	mu    sync.Mutex
	calls map[callKey]*heldCall
	// Closed while there are none.
	none chan struct{}
}

func newHeldCalls() *heldCalls {
	made := &heldCalls{calls: map[callKey]*heldCall{}, none: make(chan struct{})}
	close(made.none)
	return made
}

// take gives a call that is new here; nil for one that is held, which runs nothing: where its outcome is there, that is brought again.
func (h *heldCalls) take(ctx context.Context, wire *clewv1.WorkerCall) *heldCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.calls[keyOf(wire.GetName())]
	if known == nil {
		return h.add(ctx, wire)
	}
	if known.ended || known.revoked {
		known.again = wire
		select {
		case known.asked <- struct{}{}:
		default:
		}
	}
	return nil
}

func (h *heldCalls) add(ctx context.Context, wire *clewv1.WorkerCall) *heldCall {
	select {
	case <-h.none:
		h.none = make(chan struct{})
	default:
	}
	made := &heldCall{wire: wire, asked: make(chan struct{}, 1)}
	made.ctx, made.cancel = context.WithCancelCause(ctx)
	h.calls[keyOf(wire.GetName())] = made
	return made
}

// end says that the call's tool has ended; false where nothing of it is to be brought.
func (h *heldCalls) end(held *heldCall) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	held.ended = true
	return held.ctx.Err() == nil
}

// bringing is due before each try to bring an outcome: only a call that comes from then on is one that the try set going.
func (h *heldCalls) bringing(held *heldCall) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-held.asked:
	default:
	}
	if !held.revoked {
		held.again = nil
	}
}

// forget lets go of a call, and gives what is to be begun in its place: itself, where it came again and is tried anew.
func (h *heldCalls) forget(ctx context.Context, held *heldCall, retried bool) *heldCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	held.cancel(nil)
	delete(h.calls, keyOf(held.wire.GetName()))
	if held.again != nil && (retried || held.revoked) && ctx.Err() == nil {
		return h.add(ctx, held.again)
	}
	if len(h.calls) == 0 {
		close(h.none)
	}
	return nil
}

// revoke cancels the tool of a call; where `named` is given, only of that very one, and not of another try of it. It is whether it was held.
func (h *heldCalls) revoke(key callKey, named *heldCall, why error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.calls[key]
	if held == nil || named != nil && named != held {
		return false
	}
	held.revoked, held.again = true, nil
	held.cancel(why)
	return true
}

// ours are the calls that are this worker's, those that are being run first.
func (h *heldCalls) ours() []*heldCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	var running, ended []*heldCall
	for _, held := range h.calls {
		switch {
		case !held.isOurs():
		case held.ended:
			ended = append(ended, held)
		default:
			running = append(running, held)
		}
	}
	return append(running, ended...)
}

// empty is closed when there are none.
func (h *heldCalls) empty() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.none
}

func (h *heldCalls) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.calls)
}

// namesOf are calls as servers are told of them.
func namesOf(calls []*heldCall) []*clewv1.CallName {
	names := make([]*clewv1.CallName, 0, len(calls))
	for _, held := range calls {
		names = append(names, held.wire.GetName())
	}
	return names
}
