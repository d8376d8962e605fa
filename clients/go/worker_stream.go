package clew

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
)

const (
	longestWorkerPause = 5 * time.Second
	// What a request may name.
	mostHeld = 1000
)

// What a tool's context says of why it was cancelled.
var (
	errUnwanted = &Error{
		Code: Cancelled, Message: "nobody wants the call any more: its run was cancelled, or its time is over", status: codes.Canceled,
		cause: context.Canceled,
	}
	errElsewhere = &Error{
		Code: LeaseLost, Message: "the call's lease ran out, and another worker has it", status: codes.Aborted, cause: context.Canceled,
	}
)

// takeCalls opens the stream of calls, and opens it anew where it breaks, until it has drained. `streaming` ends it alone.
func (w *Worker) takeCalls(ctx, streaming context.Context) error {
	for tries := 0; !w.isDraining(); tries++ {
		heard, broken := w.listen(ctx, streaming)
		switch {
		case errors.Is(broken, io.EOF):
			return nil
		case ctx.Err() != nil:
			return stopped(ctx)
		case streaming.Err() != nil:
			return nil
		case w.to.channel.GetState() == connectivity.Shutdown:
			return &Error{Code: Cancelled, Message: "the client was closed; what the worker had is left to its lease", status: codes.Canceled}
		}
		refused := w.to.refusalOf(ctx, broken)
		if isFinal(refused) {
			return refused
		}
		if heard {
			tries = 0
		}
		if tries == 0 {
			w.log.Warn("clew: the stream of calls broke, and is opened again", "worker", w.id, "error", refused)
		}
		select {
		case <-time.After(workerPause(tries)):
		case <-w.draining:
		case <-ctx.Done():
			return stopped(ctx)
		}
	}
	return nil
}

// listen opens the stream and heeds what comes, to its end; whether anything came, and what it ended with.
func (w *Worker) listen(ctx, streaming context.Context) (heard bool, err error) {
	held := w.held.ours()
	request := &clewv1.WorkRequest{
		WorkerId: w.id, Tools: w.offer, MaxCalls: w.maxCalls, ThreadId: w.threadID, Held: namesOf(held[:min(len(held), mostHeld)]),
	}
	if err := checkText(request); err != nil {
		return false, err
	}
	streaming, hangUp := context.WithCancel(streaming)
	defer hangUp()
	stream, err := w.to.workers.Work(streaming, request)
	for err == nil {
		var response *clewv1.WorkResponse
		if response, err = stream.Recv(); err == nil {
			heard = true
			w.heed(ctx, response)
		}
	}
	return heard, err
}

func (w *Worker) heed(ctx context.Context, response *clewv1.WorkResponse) {
	if ready := response.GetReady(); ready != nil {
		if lease := ready.GetLease().AsDuration(); lease > 0 {
			w.lease.Store(int64(lease))
		}
		w.readied.Do(func() { close(w.ready) })
	}
	for _, revoked := range response.GetRevoked() {
		w.revoke(revoked, nil)
	}
	for _, wire := range response.GetCalls() {
		if held := w.held.take(ctx, wire); held != nil {
			go w.carryOut(ctx, held)
		}
	}
}

// renew says in good time that the calls are being worked on.
func (w *Worker) renew(ctx context.Context) {
	select {
	case <-w.ready:
	case <-ctx.Done():
	}
	for {
		third := time.Duration(w.lease.Load()) / 3
		select {
		case <-time.After(third):
		case <-ctx.Done():
			return
		}
		for calls := range slices.Chunk(w.held.ours(), mostHeld) {
			w.renewCalls(ctx, third, calls)
		}
	}
}

func (w *Worker) renewCalls(ctx context.Context, within time.Duration, calls []*heldCall) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// The next one is due soon.
	response, _ := ask(ctx, w.to, w.to.workers.RenewCalls, &clewv1.RenewCallsRequest{WorkerId: w.id, Calls: namesOf(calls)})
	for _, revoked := range response.GetRevoked() {
		key := keyOf(revoked.GetCall())
		for _, held := range calls {
			// A call that was finished meanwhile, and came again, is not meant.
			if keyOf(held.wire.GetName()) == key {
				w.revoke(revoked, held)
			}
		}
	}
}

// revoke stops a call; where `named` is given, that very try of it.
func (w *Worker) revoke(revoked *clewv1.WorkResponse_Revoked, named *heldCall) {
	why := whyOf(revoked)
	if w.held.revoke(keyOf(revoked.GetCall()), named, why) {
		w.log.Info("clew: a call is not wanted from this worker any more", "thread", revoked.GetCall().GetThreadId(), "error", why)
	}
}

func (w *Worker) isDraining() bool {
	select {
	case <-w.draining:
		return true
	default:
		return false
	}
}

func whyOf(revoked *clewv1.WorkResponse_Revoked) error {
	if revoked.GetReason() == clewv1.CallRevokedReason_CALL_REVOKED_REASON_LEASE_LOST {
		return errElsewhere
	}
	return errUnwanted
}

// refusalOf is the error that a stream ended with: one of the client's own, or the server's.
func (c *connection) refusalOf(ctx context.Context, broken error) *Error {
	var own *Error
	if errors.As(broken, &own) {
		return own
	}
	return c.errorOf(ctx, broken)
}

// isFinal is whether no later try mends what a worker was refused with.
func isFinal(refused *Error) bool {
	for _, final := range []Code{InvalidArgument, LeaseLost, PermissionDenied, Unauthenticated} {
		if errors.Is(refused, final) {
			return true
		}
	}
	return false
}

// workerPause is how long to wait before the next try. Workers that lost one server do not come back at once.
func workerPause(tries int) time.Duration {
	longest := min(longestWorkerPause, firstPause<<min(tries, 16))
	return longest/2 + rand.N(longest/2)
}
