//go:build server

package clew_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

const root = "../.."

// startServer starts `clew serve` with an app of the examples, and gives its address.
func startServer(t *testing.T, app string) string {
	t.Helper()
	return serve(t, filepath.Join(root, "examples", app), "memory://", "0").address
}

// A server is one that was started, as its process.
type server struct {
	address string
	process *exec.Cmd
}

// kill ends the server without a word.
func (s *server) kill() {
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
}

// serve starts `clew serve`, with settings as the environment names them.
func serve(t *testing.T, app, storage, port string, settings ...string) *server {
	t.Helper()
	program := os.Getenv("CLEW_SERVER")
	if program == "" {
		program = filepath.Join(root, ".venv", "bin", "clew")
	}
	process := exec.Command(program, "serve", app, "--port", port, "--json", "--storage", storage)
	process.Env = append(os.Environ(), settings...)
	var log bytes.Buffer
	process.Stderr = &log
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	made := &server{process: process}
	t.Cleanup(func() {
		made.kill()
		if t.Failed() {
			t.Log(log.String())
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the server said nothing: %v", err)
	}
	var ready struct{ Address string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatal(err)
	}
	made.address = ready.Address
	return made
}

// drain is the last event of a call, which went well.
func drain[R interface{ GetEvents() []*clewv1.Event }](t *testing.T, call interface{ Recv() (R, error) }, err error) *clewv1.Event {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var last *clewv1.Event
	for {
		response, err := call.Recv()
		if err == io.EOF {
			return last
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, event := range response.GetEvents() {
			last = event
		}
	}
}

func TestTheStubsAloneSendDecideRetryAndWatch(t *testing.T) {
	channel, err := grpc.NewClient(startServer(t, "support.py"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = channel.Close() }()
	stub := clewv1.NewRunServiceClient(channel)
	ctx := t.Context()

	sent, err := stub.Send(ctx, &clewv1.SendRequest{
		ThreadId: "ticket-7", App: "support", RequestId: "r-1", Input: &clewv1.SendRequest_Text{Text: "Please refund order A-1001"},
	})
	asked := drain(t, sent, err).GetRunSuspended().GetApprovals()
	if len(asked) != 1 || asked[0].GetTool() != "refund" {
		t.Fatalf("approvals: %v", asked)
	}

	decided, err := stub.Decide(ctx, &clewv1.DecideRequest{ThreadId: "ticket-7", RequestId: "r-2", Decisions: []*clewv1.Decision{
		{ApprovalId: asked[0].GetId(), Decision: &clewv1.Decision_Approve_{Approve: &clewv1.Decision_Approve{}}},
	}})
	reply := drain(t, decided, err).GetRunCompleted().GetReply()
	if !strings.Contains(reply.GetText(), "49.90") {
		t.Fatalf("reply: %v", reply)
	}

	// A run that fails at its limit is what there is to retry.
	one := int32(1)
	limited, err := stub.Send(ctx, &clewv1.SendRequest{
		ThreadId: "ticket-8", App: "support", RequestId: "r-3", Input: &clewv1.SendRequest_Text{Text: "Where is order A-1002?"},
		Options: &clewv1.RunOptions{Limits: &clewv1.Limits{MaxSteps: &one}},
	})
	if failed := drain(t, limited, err).GetRunFailed(); failed.GetCode() != clewv1.FailureCode_FAILURE_CODE_LIMIT_EXCEEDED {
		t.Fatalf("failed: %v", failed)
	}
	retried, err := stub.Retry(ctx, &clewv1.RetryRequest{ThreadId: "ticket-8", RequestId: "r-4"})
	done := drain(t, retried, err)
	if !strings.Contains(done.GetRunCompleted().GetReply().GetText(), "on its way") {
		t.Fatalf("done: %v", done)
	}

	watched, err := stub.Watch(ctx, &clewv1.WatchRequest{ThreadId: "ticket-8"})
	if last := drain(t, watched, err); last.GetVersion() != done.GetVersion() || last.GetRunCompleted() == nil {
		t.Fatalf("last: %v", last)
	}
}

func TestTheProgramsOfTheReadmeRunAndCompile(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindSubmatch(readme)[1]
	function := regexp.MustCompile("(?s)```go\n(func ask.*?)```").FindSubmatch(readme)[1]
	told := strings.Replace(string(program)+string(function), "import (", "import (\n\t\"errors\"", 1)
	told = strings.ReplaceAll(told, "localhost:50051", startServer(t, "support.py"))
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(told), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), "go", "run", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, expected := range []string{"waiting for: refund", "49.90 for order A-1001 is on its way"} {
		if !strings.Contains(string(said), expected) {
			t.Errorf("%q is not in %s", expected, said)
		}
	}
}
