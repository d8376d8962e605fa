package clew

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// What a model is told of an error at most, in bytes.
const longestMessage = 4096

var errGoneAway = errors.New("the tool ended its goroutine")

// A toolOutcome is what came of a call: one of both.
type toolOutcome struct {
	result  *clewv1.CallResult
	failure *clewv1.CallError
}

// into puts the outcome into the request that brings it.
func (o toolOutcome) into(request *clewv1.FinishCallRequest) *clewv1.FinishCallRequest {
	if o.failure != nil {
		request.Outcome = &clewv1.FinishCallRequest_Error{Error: o.failure}
	} else {
		request.Outcome = &clewv1.FinishCallRequest_Result{Result: o.result}
	}
	return request
}

// A panicError is what a tool panicked with.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// runTool is what the tool gives. A goroutine of its own lets it panic, and end itself, without taking the call along.
func runTool(ctx context.Context, tool Tool, call *ToolCall) (any, error) {
	var value any
	err, ended := errGoneAway, make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if panicked := recover(); panicked != nil {
				err = &panicError{panicked, debug.Stack()}
			}
		}()
		value, err = tool.Run(ctx, call)
	}()
	<-ended
	return value, err
}

// outcomeOf is what a tool gave, as it travels.
func outcomeOf(value any, err error) toolOutcome {
	if err != nil {
		return toolOutcome{failure: toolFailure(err)}
	}
	switch value := value.(type) {
	case string:
		part := &clewv1.Part{Kind: &clewv1.Part_Text{Text: &clewv1.TextPart{Text: value}}}
		return toolOutcome{result: &clewv1.CallResult{Content: []*clewv1.Part{part}}}
	case ToolContent:
		return toolOutcome{result: &clewv1.CallResult{Content: value}}
	}
	text, err := encodeJSON(value, "result")
	if err != nil {
		var refused *Error
		errors.As(err, &refused)
		// No other try gives anything else.
		return toolOutcome{failure: toolFailure(&ToolError{Message: refused.Message})}
	}
	return toolOutcome{result: &clewv1.CallResult{StructuredJson: proto.String(string(text))}}
}

// toolFailure is an error as the model reads it.
func toolFailure(err error) *clewv1.CallError {
	var meant *ToolError
	if !errors.As(err, &meant) {
		return &clewv1.CallError{Message: cutMessage(typeAndText(err)), Retryable: true}
	}
	told := &clewv1.CallError{Message: cutMessage(meant.Message), Retryable: meant.Retryable}
	if meant.RetryAfter > 0 {
		told.RetryAfter = durationpb.New(max(meant.RetryAfter, time.Millisecond))
	}
	return told
}

// typeAndText leaves out the types that only carry a text.
func typeAndText(err error) string {
	name := fmt.Sprintf("%T", err)
	if strings.HasPrefix(name, "*errors.") || strings.HasPrefix(name, "*fmt.") || name == "*clew.panicError" {
		return err.Error()
	}
	return name + ": " + err.Error()
}

func cutMessage(text string) string {
	text = strings.ToValidUTF8(text, string(utf8.RuneError))
	if text == "" {
		return "the tool failed"
	}
	if len(text) <= longestMessage {
		return text
	}
	end := longestMessage - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
