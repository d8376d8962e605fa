package clew

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

// A desk is a server of workers that does what a test says. What a worker asks waits in a channel until the test takes it.
type desk struct {
	clewv1.UnimplementedWorkerServiceServer

	target   string
	streams  chan *deskStream
	renewed  chan *clewv1.RenewCallsRequest
	reported chan *clewv1.ReportProgressRequest
	drains   chan *clewv1.DrainWorkerRequest
	finishes chan *deskFinish
	revoked  chan []*clewv1.WorkResponse_Revoked
}

// A deskStream is an open stream of calls, whose end the test says.
type deskStream struct {
	request *clewv1.WorkRequest
	stream  grpc.ServerStreamingServer[clewv1.WorkResponse]
	end     chan error
}

// A deskFinish is an outcome that was brought, and waits for an answer: whether it is tried again, or an error.
type deskFinish struct {
	request *clewv1.FinishCallRequest
	answer  chan any
}

func startDesk(t *testing.T) *desk {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	made := &desk{
		target:   listener.Addr().String(),
		streams:  make(chan *deskStream, 10),
		renewed:  make(chan *clewv1.RenewCallsRequest, 1000),
		reported: make(chan *clewv1.ReportProgressRequest, 10),
		drains:   make(chan *clewv1.DrainWorkerRequest, 10),
		finishes: make(chan *deskFinish, 10),
		revoked:  make(chan []*clewv1.WorkResponse_Revoked, 10),
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(2 * maxSent))
	clewv1.RegisterWorkerServiceServer(server, made)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return made
}

func (d *desk) Work(request *clewv1.WorkRequest, stream grpc.ServerStreamingServer[clewv1.WorkResponse]) error {
	opened := &deskStream{request: request, stream: stream, end: make(chan error, 1)}
	d.streams <- opened
	select {
	case err := <-opened.end:
		return err
	case <-stream.Context().Done():
		return stream.Context().Err()
	}
}

func (d *desk) RenewCalls(_ context.Context, request *clewv1.RenewCallsRequest) (*clewv1.RenewCallsResponse, error) {
	d.renewed <- request
	select {
	case revoked := <-d.revoked:
		return &clewv1.RenewCallsResponse{Revoked: revoked}, nil
	default:
		return &clewv1.RenewCallsResponse{}, nil
	}
}

func (d *desk) ReportProgress(_ context.Context, request *clewv1.ReportProgressRequest) (*clewv1.ReportProgressResponse, error) {
	d.reported <- request
	return &clewv1.ReportProgressResponse{}, nil
}

func (d *desk) DrainWorker(_ context.Context, request *clewv1.DrainWorkerRequest) (*clewv1.DrainWorkerResponse, error) {
	d.drains <- request
	return &clewv1.DrainWorkerResponse{Known: true}, nil
}

func (d *desk) FinishCall(ctx context.Context, request *clewv1.FinishCallRequest) (*clewv1.FinishCallResponse, error) {
	brought := &deskFinish{request: request, answer: make(chan any, 1)}
	d.finishes <- brought
	select {
	case answer := <-brought.answer:
		if err, failed := answer.(error); failed {
			return nil, err
		}
		return &clewv1.FinishCallResponse{Retried: answer.(bool)}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// opened is the next stream of the worker, once it is told that it is registered.
func (d *desk) opened(t *testing.T) *deskStream {
	t.Helper()
	stream := within(t, d.streams)
	stream.say(t, &clewv1.WorkResponse{Ready: &clewv1.WorkResponse_Ready{Lease: durationpb.New(150 * time.Millisecond)}})
	return stream
}

func (s *deskStream) say(t *testing.T, response *clewv1.WorkResponse) {
	t.Helper()
	if err := s.stream.Send(response); err != nil {
		t.Fatal(err)
	}
}

func (s *deskStream) give(t *testing.T, delivery int32) {
	t.Helper()
	s.say(t, &clewv1.WorkResponse{Calls: []*clewv1.WorkerCall{{
		Name: callName("k-1"), Tool: "charge", ArgumentsJson: `{"order":"A-1","amount":9007199254740993}`, RunId: "u.r1", ToolCallId: "c-1",
		Actor: "ada", Delivery: delivery,
	}}})
}

// finished answers the next outcome that is brought, and gives it.
func (d *desk) finished(t *testing.T, answer any) *clewv1.FinishCallRequest {
	t.Helper()
	brought := within(t, d.finishes)
	brought.answer <- answer
	return brought.request
}

func callName(key string) *clewv1.CallName {
	return &clewv1.CallName{ThreadId: "t-1", IdempotencyKey: key}
}

func revokedCall(reason clewv1.CallRevokedReason) *clewv1.WorkResponse_Revoked {
	return &clewv1.WorkResponse_Revoked{Call: callName("k-1"), Reason: reason}
}

// within is what comes over a channel soon.
func within[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case told := <-from:
		return told
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		panic("not reached")
	}
}

// A working is a worker with the tool `charge` that is being run.
type working struct {
	*Worker
	ran chan error
}

func (d *desk) working(t *testing.T, charge func(context.Context, *ToolCall) (any, error)) *working {
	t.Helper()
	client, err := NewClient(d.target)
	if err != nil {
		t.Fatal(err)
	}
	made := &working{client.Worker(WithLogger(slog.New(slog.DiscardHandler))), make(chan error, 1)}
	if err := made.Tool(Tool{Name: "charge", Run: charge}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() { made.ran <- made.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		within(t, made.runOver)
		_ = client.Close()
	})
	return made
}
