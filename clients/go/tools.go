package clew

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// A Tool is what a worker runs for agents and workflows, which name it like their own. Name and Run are required.
type Tool struct {
	// Name is what agents call it: 1 to 64 letters, digits, `_` and `-`.
	Name string
	// Description is what the model is told of it, where the app says nothing; up to 4 KiB.
	Description string
	// Parameters is the JSON schema of its arguments: anything that encoding/json writes as an object, as a json.RawMessage; up to 64 KiB.
	// nil is an object with anything in it. Where the app declares one, that holds.
	Parameters any
	// Once runs a call at most once: it is never started again by itself when its result is not known, nor tried again.
	Once bool
	// Timeout is how long a call may take, over all its tries; 0 for as long as it needs.
	Timeout time.Duration
	// MaxCalls is how many run at a time; 0 for as many as the worker takes at all.
	MaxCalls int32
	// MaxTries is how often a call is tried that fails with an error that is retryable, 1 to 100; 0 is once.
	MaxTries int32
	// Run carries out one call, in a goroutine of its own.
	//
	// A string is text for the model to read, ToolContent are parts, and anything else is what encoding/json makes of it. An error is read by
	// the model, too, and the run goes on: a *ToolError by its message; any other, and a panic, by its type and text, and it is tried again
	// while the tool has tries left.
	//
	// The context ends when the call is not wanted from this worker any more; context.Cause says why. What Run gives then is dropped.
	Run func(ctx context.Context, call *ToolCall) (any, error)
}

// ToolContent is what a tool returns to give the model parts to read: text, images, audio, video, documents and data.
type ToolContent []*clewv1.Part

// A ToolError is what a tool returns to say, for the model to read, what was wrong.
type ToolError struct {
	// Message is cut to 4,096 bytes.
	Message string
	// Retryable tries the call again while the tool has tries left, but for a tool that is Once.
	Retryable bool
	// RetryAfter is how long to wait before, up to an hour; 0 for not at all.
	RetryAfter time.Duration
}

// Error is the message.
func (e *ToolError) Error() string { return e.Message }

// A ToolCall is the call that a tool is run for.
type ToolCall struct {
	// Tool is the tool's name.
	Tool string
	// ThreadID and RunID are the run's that asked for it.
	ThreadID string
	RunID    string
	// ToolCallID is the call's id in the transcript.
	ToolCallID string
	// IdempotencyKey is the same for every try of this call: hand it to whatever has the effect.
	IdempotencyKey string
	// Actor is on whose behalf the run was started; empty where nobody said.
	Actor string
	// Delivery counts from 1 how often the call was given to a worker.
	Delivery int
	// Deadline is when the call's time is over, by the server's clock; zero where it has no limit.
	Deadline time.Time
	// RawArguments are the arguments as they came: a JSON object.
	RawArguments json.RawMessage

	report func(ctx context.Context, progress []byte)
}

// Arguments reads the arguments into what the target points to, as json.Unmarshal does; in a map[string]any numbers are json.Number, with
// all their digits. The error is a *ToolError that is not tried again, for the tool to return.
func (c *ToolCall) Arguments(target any) error {
	text := c.RawArguments
	if len(text) == 0 {
		text = json.RawMessage("{}")
	}
	if err := decodeJSON(text, target); err != nil {
		return &ToolError{Message: fmt.Sprintf("the arguments do not fit %s: %v", c.Tool, err)}
	}
	return nil
}

// Report tells those who watch the thread how far the call is: anything that encoding/json writes, up to 64 KiB, as a ToolCallProgress. One
// that cannot be told just now is dropped; an error is only about what is no JSON.
func (c *ToolCall) Report(ctx context.Context, progress any) error {
	text, err := encodeJSON(progress, "progress")
	if err == nil && c.report != nil {
		c.report(ctx, text)
	}
	return err
}

// offer is the tool as a server is told of it.
func (t Tool) offer() (*clewv1.WorkerTool, error) {
	offer := &clewv1.WorkerTool{
		Name: t.Name, Description: t.Description, Once: t.Once, MaxCalls: t.MaxCalls, MaxTries: t.MaxTries,
	}
	if t.Run == nil {
		return nil, invalid(ArgumentInvalid, "run", "a tool has a function that runs it")
	}
	if t.Timeout < 0 {
		return nil, invalid(ArgumentInvalid, "timeout", "a time is not negative")
	}
	if t.Timeout > 0 {
		offer.Timeout = durationpb.New(t.Timeout)
	}
	if t.Parameters != nil {
		text, err := encodeObject(t.Parameters, "parameters")
		if err != nil {
			return nil, err
		}
		offer.ParametersSchemaJson = string(text)
	}
	return offer, checkText(offer)
}
