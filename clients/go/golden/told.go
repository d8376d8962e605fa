package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"clew.dev/clew"
	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/protobuf/proto"
)

// told is one line: an op, and what it takes.
type told struct {
	ID     int    `json:"id"`
	Op     string `json:"op"`
	Of     int    `json:"of"`
	App    string `json:"app"`
	Thread string `json:"thread"`

	OnBusy          string         `json:"on_busy"`
	BusyTimeout     *float64       `json:"busy_timeout"`
	ExpectedVersion *int64         `json:"expected_version"`
	RequestID       string         `json:"request_id"`
	Timeout         *float64       `json:"timeout"`
	Limits          *limits        `json:"limits"`
	Text            string         `json:"text"`
	State           *string        `json:"state"`
	UserID          string         `json:"user_id"`
	Values          *string        `json:"values"`
	Value           string         `json:"value"`
	Arguments       *string        `json:"arguments"`
	Decisions       []toldDecision `json:"decisions"`
	IDs             []string       `json:"ids"`
	Reason          string         `json:"reason"`

	AfterVersion int64    `json:"after_version"`
	RunID        string   `json:"run_id"`
	Follow       bool     `json:"follow"`
	Search       string   `json:"search"`
	Order        string   `json:"order"`
	Limit        int      `json:"limit"`
	Checkpoint   string   `json:"checkpoint"`
	To           string   `json:"to"`
	RemoveKeys   []string `json:"remove_keys"`

	Target string             `json:"target"`
	Times  map[string]float64 `json:"times"`
}

type limits struct {
	Steps       int32   `json:"steps"`
	Tokens      int64   `json:"tokens"`
	Seconds     float64 `json:"seconds"`
	ToolSeconds float64 `json:"tool_seconds"`
}

type toldDecision struct {
	ID        string  `json:"id"`
	Approve   bool    `json:"approve"`
	Arguments *string `json:"arguments"`
	Reject    *string `json:"reject"`
	Value     *string `json:"value"`
	RunAgain  bool    `json:"run_again"`
	Result    *string `json:"result"`
	Fail      *string `json:"fail"`
}

var (
	policies = map[string]clewv1.BusyPolicy{
		"wait": clew.BusyWait, "reject": clew.BusyReject, "interrupt": clew.BusyInterrupt,
	}
	timeOptions = map[string]func(time.Duration) clew.ClientOption{
		"timeout":         clew.WithTimeout,
		"connect_timeout": clew.WithConnectTimeout,
		"rejoin_timeout":  clew.WithRejoinTimeout,
		"leave_timeout":   clew.WithLeaveTimeout,
	}
)

// outcome does what was told with the client, and gives what is said of its end.
func (c *call) outcome(ctx context.Context) (answer, error) {
	said := c.told
	thread := c.client.App(said.App).Thread(said.Thread)
	switch said.Op {
	case "send":
		options := sendOptions(said.runOptions())
		if said.State != nil {
			options = append(options, clew.WithState(value(*said.State)))
		}
		if said.UserID != "" {
			options = append(options, clew.WithUserID(said.UserID))
		}
		return c.attempt(ctx, thread.Send(ctx, said.Text, options...))
	case "run":
		return c.attempt(ctx, thread.Run(ctx, optional(said.Values), sendOptions(said.runOptions())...))
	case "decide":
		return c.attempt(ctx, thread.Decide(ctx, said.decisions(), said.runOptions()...))
	case "approve":
		options := []clew.ApproveOption{}
		for _, option := range said.runOptions() {
			options = append(options, option)
		}
		if said.Arguments != nil {
			options = append(options, clew.WithArguments(value(*said.Arguments)))
		}
		return c.attempt(ctx, thread.Approve(ctx, said.IDs, options...))
	case "reject":
		return c.attempt(ctx, thread.Reject(ctx, said.Reason, said.IDs, said.runOptions()...))
	case "resume":
		return c.attempt(ctx, thread.Resume(ctx, value(said.Value), said.runOptions()...))
	case "retry":
		return c.attempt(ctx, thread.Retry(ctx, said.runOptions()...))
	case "watch":
		query := clew.WatchQuery{AfterVersion: said.AfterVersion, RunID: said.RunID, Follow: said.Follow}
		return result(nil, c.tell(ctx, thread.Watch(ctx, query).Events()))
	case "messages":
		query := clew.MessageQuery{Search: said.Search, NewestFirst: said.Order == "newest_first", Limit: said.Limit}
		found, err := thread.Messages(ctx, query)
		return result(encodedList(found), err)
	case "state":
		var state map[string]any
		if err := thread.StateAt(ctx, said.Checkpoint, &state); err != nil {
			return nil, err
		}
		text, err := json.Marshal(state)
		return result(string(text), err)
	case "history":
		found, err := thread.History(ctx, said.Limit)
		return result(encodedList(found), err)
	case "rewind":
		checkpoint, err := thread.Rewind(ctx, said.Checkpoint)
		return result(encoded(checkpoint), err)
	case "copy":
		copied, err := thread.Copy(ctx, said.To)
		if err != nil {
			return nil, err
		}
		return result(copied.ID(), nil)
	case "cancel":
		checkpoint, err := thread.Cancel(ctx, said.RunID)
		return result(encoded(checkpoint), err)
	case "info":
		info, err := thread.Info(ctx)
		return result(encoded(info), err)
	case "approvals":
		found, err := thread.Approvals(ctx)
		return result(encodedList(found), err)
	case "update_state":
		checkpoint, err := thread.UpdateState(ctx, optional(said.Values), clew.WithoutKeys(said.RemoveKeys...))
		return result(encoded(checkpoint), err)
	case "delete":
		existed, err := thread.Delete(ctx)
		return result(existed, err)
	}
	return nil, fmt.Errorf("no op: %s", said.Op)
}

// attempt tells the events of a stream, and then its reply.
func (c *call) attempt(ctx context.Context, stream *clew.Stream) (answer, error) {
	if err := c.tell(ctx, stream.Events()); err != nil {
		return nil, err
	}
	reply, err := stream.Reply()
	if err != nil {
		return nil, err
	}
	return answer{"reply": replyText(reply)}, nil
}

func (c *call) tell(ctx context.Context, events iter.Seq2[*clewv1.Event, error]) error {
	for event, err := range events {
		if err != nil {
			return err
		}
		c.say(answer{"event": encoded(event)})
		c.gate.pass(ctx)
	}
	return nil
}

func (t told) runOptions() []clew.RunOption {
	options := []clew.RunOption{}
	if t.OnBusy != "" {
		options = append(options, clew.WithOnBusy(policies[t.OnBusy]))
	}
	if t.BusyTimeout != nil {
		options = append(options, clew.WithBusyTimeout(seconds(*t.BusyTimeout)))
	}
	if t.ExpectedVersion != nil {
		options = append(options, clew.WithExpectedVersion(*t.ExpectedVersion))
	}
	if t.RequestID != "" {
		options = append(options, clew.WithRequestID(t.RequestID))
	}
	if t.Limits != nil {
		options = append(options, clew.Limits{
			Steps:       t.Limits.Steps,
			Tokens:      t.Limits.Tokens,
			Duration:    seconds(t.Limits.Seconds),
			ToolTimeout: seconds(t.Limits.ToolSeconds),
		})
	}
	return options
}

func sendOptions(options []clew.RunOption) []clew.SendOption {
	same := []clew.SendOption{}
	for _, option := range options {
		same = append(same, option)
	}
	return same
}

func (t told) decisions() []clew.Decision {
	made := []clew.Decision{}
	for _, each := range t.Decisions {
		switch {
		case each.Arguments != nil:
			made = append(made, clew.ApproveWith(each.ID, value(*each.Arguments)))
		case each.Reject != nil:
			made = append(made, clew.Reject(each.ID, *each.Reject))
		case each.Value != nil:
			made = append(made, clew.Answer(each.ID, value(*each.Value)))
		case each.RunAgain:
			made = append(made, clew.RunAgain(each.ID))
		case each.Result != nil:
			made = append(made, clew.Result(each.ID, value(*each.Result)))
		case each.Fail != nil:
			made = append(made, clew.Fail(each.ID, *each.Fail))
		case each.Approve:
			made = append(made, clew.Approve(each.ID))
		}
	}
	return made
}

// value is a text of JSON as a program has it: numbers keep their digits.
func value(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var read any
	if err := decoder.Decode(&read); err != nil {
		fail(err)
	}
	return read
}

func optional(text *string) any {
	if text == nil {
		return nil
	}
	return value(*text)
}

func result(what any, err error) (answer, error) {
	if err != nil {
		return nil, err
	}
	return answer{"result": what}, nil
}

func encoded(message proto.Message) string {
	wire, err := proto.Marshal(message)
	if err != nil {
		fail(err)
	}
	return base64.StdEncoding.EncodeToString(wire)
}

func encodedList[M proto.Message](messages []M) []string {
	texts := []string{}
	for _, message := range messages {
		texts = append(texts, encoded(message))
	}
	return texts
}

func replyText(reply *clew.Reply) map[string]any {
	text := map[string]any{
		"status":     reply.Status,
		"text":       reply.Text,
		"thread_id":  reply.ThreadID,
		"thread_uid": reply.ThreadUID,
		"run_id":     reply.RunID,
		"version":    reply.Version,
		"message_id": reply.MessageID,
		"message":    nil,
		"approvals":  encodedList(reply.Approvals),
		"usage":      nil,
		"steps":      reply.Steps,
	}
	if reply.Message != nil {
		text["message"] = encoded(reply.Message)
	}
	if used := reply.Usage; used != nil {
		text["usage"] = map[string]any{
			"input_tokens":        used.GetInputTokens(),
			"output_tokens":       used.GetOutputTokens(),
			"cached_input_tokens": used.GetCachedInputTokens(),
			"cache_write_tokens":  used.GetCacheWriteTokens(),
			"reasoning_tokens":    used.GetReasoningTokens(),
		}
	}
	return text
}

func errorText(err error) map[string]any {
	var failed *clew.Error
	if !errors.As(err, &failed) {
		fail(err)
	}
	metadata := failed.Metadata
	if metadata == nil {
		metadata = map[string]string{}
	}
	text := map[string]any{"code": failed.Code, "message": failed.Message, "metadata": metadata}
	if failed.RetryAfter != 0 {
		text["retry_after"] = failed.RetryAfter.Seconds()
	}
	if failed.Code == clew.RunFailed {
		text["failure_code"], text["retryable"] = failed.FailureCode, failed.Retryable
	}
	return text
}

func seconds(given float64) time.Duration { return time.Duration(given * float64(time.Second)) }
