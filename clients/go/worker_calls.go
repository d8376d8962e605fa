package clew

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/protobuf/proto"
)

// How long one try to bring an outcome may take.
const finishTime = 30 * time.Second

// carryOut runs a call's tool and brings what came of it; and again where the call came again meanwhile.
func (w *Worker) carryOut(ctx context.Context, held *heldCall) {
	for held != nil {
		outcome := w.run(held)
		retried := w.held.end(held) && w.bring(held, outcome)
		held = w.held.forget(ctx, held, retried)
	}
}

func (w *Worker) run(held *heldCall) toolOutcome {
	tool, has := w.tools[held.wire.GetTool()]
	if !has {
		return outcomeOf(nil, &ToolError{Message: fmt.Sprintf("worker %s has no tool %s", w.id, held.wire.GetTool()), Retryable: true})
	}
	value, err := runTool(held.ctx, tool, w.callOf(held))
	var panicked *panicError
	if errors.As(err, &panicked) {
		w.log.Error("clew: a tool panicked", "tool", tool.Name, "panic", panicked.value, "stack", string(panicked.stack))
	}
	return outcomeOf(value, err)
}

// callOf is a call as its tool may know it.
func (w *Worker) callOf(held *heldCall) *ToolCall {
	wire := held.wire
	call := &ToolCall{
		Tool:           wire.GetTool(),
		ThreadID:       wire.GetName().GetThreadId(),
		RunID:          wire.GetRunId(),
		ToolCallID:     wire.GetToolCallId(),
		IdempotencyKey: wire.GetName().GetIdempotencyKey(),
		Actor:          wire.GetActor(),
		Delivery:       int(wire.GetDelivery()),
		RawArguments:   []byte(wire.GetArgumentsJson()),
	}
	if wire.GetExpireTime() != nil {
		call.Deadline = wire.GetExpireTime().AsTime()
	}
	call.report = func(ctx context.Context, progress []byte) {
		// The next one tells more.
		_, _ = ask(ctx, w.to, w.to.workers.ReportProgress, &clewv1.ReportProgressRequest{
			WorkerId: w.id, Call: wire.GetName(), ProgressJson: string(progress),
		})
	}
	return call
}

// bring brings an outcome until a server has it, or says that nobody wants it; whether the call is tried again instead.
func (w *Worker) bring(held *heldCall, outcome toolOutcome) bool {
	tool := held.wire.GetTool()
	log := w.log.With("tool", tool, "thread", held.wire.GetName().GetThreadId())
	for tries := 0; ; tries++ {
		w.held.bringing(held)
		response, err := w.finish(held, outcome)
		switch {
		case err == nil:
			return response.GetRetried()
		case held.ctx.Err() != nil:
			return false
		case errors.Is(err, CallNotPending):
			log.Info("clew: an outcome came too late", "error", err)
			return false
		case errors.Is(err, InvalidArgument) || errors.Is(err, StateTooLarge):
			if outcome.failure != nil {
				log.Error("clew: what became of a call cannot be told", "error", err)
				return false
			}
			text := fmt.Sprintf("the result of %s cannot be kept: %s", tool, err.Message)
			outcome = toolOutcome{failure: &clewv1.CallError{Message: cutMessage(text)}}
			continue
		default:
			level := slog.LevelWarn
			if tries > 0 {
				level = slog.LevelDebug
			}
			log.Log(held.ctx, level, "clew: an outcome could not be brought, and is kept", "error", err)
		}
		select {
		case <-time.After(workerPause(tries)):
		case <-held.asked:
		case <-held.ctx.Done():
			return false
		}
	}
}

// finish is one try to bring an outcome.
func (w *Worker) finish(held *heldCall, outcome toolOutcome) (*clewv1.FinishCallResponse, *Error) {
	request := outcome.into(&clewv1.FinishCallRequest{WorkerId: w.id, Call: held.wire.GetName()})
	if size := proto.Size(request); size > maxSent {
		// The transport would say so in a way that looks like a server without room, which later tries may find.
		return nil, &Error{Code: StateTooLarge, Message: fmt.Sprintf("it has %d bytes, more than can be sent", size)}
	}
	ctx, cancel := context.WithTimeout(held.ctx, finishTime)
	defer cancel()
	response, err := ask(ctx, w.to, w.to.workers.FinishCall, request)
	var refused *Error
	errors.As(err, &refused)
	return response, refused
}
