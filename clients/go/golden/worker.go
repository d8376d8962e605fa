package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"time"

	"clew.dev/clew"
)

// An entry is a line of the ledger: a tool began or ended a call.
type entry struct {
	Phase string `json:"phase"`
	Tool  string `json:"tool"`
	Run   string `json:"run"`
	Call  string `json:"call"`
	Key   string `json:"key"`
	PID   int    `json:"pid"`
	Token string `json:"token"`
}

// work runs `fetch` and `charge` until the process is asked to stop, for up to `most` each call.
func work(target, ledger string, most time.Duration) error {
	client, err := clew.NewClient(target)
	if err != nil {
		return err
	}
	worker := client.Worker()
	enter := func(ctx context.Context, call *clew.ToolCall) (any, error) {
		line := entry{Phase: "started", Tool: call.Tool, Run: call.RunID, Call: call.ToolCallID, Key: call.IdempotencyKey, PID: os.Getpid()}
		if err := line.append(ledger); err != nil {
			return nil, err
		}
		select {
		case <-time.After(time.Duration(mathrand.Float64() * float64(most))):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		line.Phase, line.Token = "done", newToken()
		return line.Token, line.append(ledger)
	}
	for _, name := range []string{"fetch", "charge"} {
		tool := clew.Tool{Name: name, Parameters: map[string]string{"type": "object"}, Once: name == "charge", Run: enter}
		if err := worker.Tool(tool); err != nil {
			return err
		}
	}
	return errors.Join(worker.RunUntilStopped(context.Background()), client.Close())
}

// append writes the line in one go, and waits for the disk.
func (e entry) append(ledger string) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(ledger, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Sync(), file.Close())
}

func newToken() string {
	token := make([]byte, 8)
	_, _ = rand.Read(token) // never fails
	return hex.EncodeToString(token)
}

// workTime is how long a call takes at most, as the environment says.
func workTime() (time.Duration, error) {
	text := os.Getenv("CLEW_FAULTS_WORK_S")
	if text == "" {
		return 10 * time.Millisecond, nil
	}
	most, err := strconv.ParseFloat(text, 64)
	return seconds(most), err
}
