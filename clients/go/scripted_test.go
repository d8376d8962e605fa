package clew

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// A step is what the scripted server does next on a stream: it sends something, waits, or ends the call with a status.
type step func(ctx context.Context, send func(...*clewv1.Event) error) error

// A scripted server speaks the contract and says what a test tells it to. Each call of a name takes the next of its answers; the last one
// stays.
type scripted struct {
	clewv1.UnimplementedRunServiceServer
	clewv1.UnimplementedApprovalServiceServer
	clewv1.UnimplementedThreadServiceServer

	target string

	mu        sync.Mutex
	streams   map[string][][]step
	requests  map[string][]proto.Message
	tokens    []string
	deadlines []time.Duration
	approvals []*clewv1.ListApprovalsResponse
	state     string
	cancel    func(*clewv1.CancelRunRequest) error
	arrived   chan string
}

func startScripted(t *testing.T) *scripted {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	made := &scripted{
		target:   listener.Addr().String(),
		streams:  map[string][][]step{},
		requests: map[string][]proto.Message{},
		arrived:  make(chan string, 100),
	}
	server := grpc.NewServer()
	clewv1.RegisterRunServiceServer(server, made)
	clewv1.RegisterApprovalServiceServer(server, made)
	clewv1.RegisterThreadServiceServer(server, made)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return made
}

// client is one of the server's thread `t-1`.
func (s *scripted) client(t *testing.T, options ...ClientOption) *Client {
	t.Helper()
	client, err := NewClient(s.target, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (s *scripted) thread(t *testing.T, options ...ClientOption) *Thread {
	t.Helper()
	return s.client(t, options...).App("support").Thread("t-1")
}

func (s *scripted) on(name string, steps ...step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[name] = append(s.streams[name], steps)
}

func (s *scripted) asked(name string) []proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[name]
}

func (s *scripted) take(ctx context.Context, name string, request proto.Message) []step {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[name] = append(s.requests[name], request)
	s.arrived <- name
	incoming, _ := metadata.FromIncomingContext(ctx)
	s.tokens = append(s.tokens, append(incoming.Get("authorization"), "")[0])
	limit := time.Duration(0)
	if deadline, has := ctx.Deadline(); has {
		limit = time.Until(deadline)
	}
	s.deadlines = append(s.deadlines, limit)
	steps := s.streams[name]
	if len(steps) == 0 {
		return nil
	}
	if len(steps) > 1 {
		s.streams[name] = steps[1:]
	}
	return steps[0]
}

func play(ctx context.Context, steps []step, send func(...*clewv1.Event) error) error {
	for _, each := range steps {
		if err := each(ctx, send); err != nil {
			return err
		}
	}
	return nil
}

func (s *scripted) Send(request *clewv1.SendRequest, stream grpc.ServerStreamingServer[clewv1.SendResponse]) error {
	return play(stream.Context(), s.take(stream.Context(), "Send", request), func(events ...*clewv1.Event) error {
		return stream.Send(&clewv1.SendResponse{Events: events})
	})
}

func (s *scripted) Decide(request *clewv1.DecideRequest, stream grpc.ServerStreamingServer[clewv1.DecideResponse]) error {
	return play(stream.Context(), s.take(stream.Context(), "Decide", request), func(events ...*clewv1.Event) error {
		return stream.Send(&clewv1.DecideResponse{Events: events})
	})
}

func (s *scripted) Watch(request *clewv1.WatchRequest, stream grpc.ServerStreamingServer[clewv1.WatchResponse]) error {
	return play(stream.Context(), s.take(stream.Context(), "Watch", request), func(events ...*clewv1.Event) error {
		return stream.Send(&clewv1.WatchResponse{Events: events})
	})
}

func (s *scripted) CancelRun(ctx context.Context, request *clewv1.CancelRunRequest) (*clewv1.CancelRunResponse, error) {
	s.take(ctx, "CancelRun", request)
	s.mu.Lock()
	answer := s.cancel
	s.mu.Unlock()
	if answer != nil {
		if err := answer(request); err != nil {
			return nil, err
		}
	}
	return &clewv1.CancelRunResponse{Checkpoint: &clewv1.Checkpoint{Id: "u.2", Version: 2}}, nil
}

func (s *scripted) ListApprovals(ctx context.Context, request *clewv1.ListApprovalsRequest) (*clewv1.ListApprovalsResponse, error) {
	s.take(ctx, "ListApprovals", proto.CloneOf(request))
	s.mu.Lock()
	defer s.mu.Unlock()
	page := s.approvals[0]
	if len(s.approvals) > 1 {
		s.approvals = s.approvals[1:]
	}
	return page, nil
}

func (s *scripted) GetState(ctx context.Context, request *clewv1.GetStateRequest) (*clewv1.GetStateResponse, error) {
	s.take(ctx, "GetState", request)
	return &clewv1.GetStateResponse{StateJson: []byte(s.state)}, nil
}

// tells sends events, all in one message.
func tells(events ...*clewv1.Event) step {
	return func(_ context.Context, send func(...*clewv1.Event) error) error { return send(events...) }
}

// breaks ends the call as a connection does that breaks.
func breaks() step {
	return refuses(status.New(codes.Unavailable, "gone"))
}

func refuses(with *status.Status) step {
	return func(context.Context, func(...*clewv1.Event) error) error { return with.Err() }
}

// hangs says nothing until the client leaves.
func hangs() step {
	return func(ctx context.Context, _ func(...*clewv1.Event) error) error {
		<-ctx.Done()
		return ctx.Err()
	}
}

// waits goes on when the channel is closed.
func waits(until <-chan struct{}) step {
	return func(ctx context.Context, _ func(...*clewv1.Event) error) error {
		select {
		case <-until:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reason is a status as the contract says it.
func reason(code codes.Code, reason string, values map[string]string) *status.Status {
	told := status.New(code, "so it is").Proto()
	told.Details = append(told.Details, errorInfo(reason, values))
	return status.FromProto(told)
}
