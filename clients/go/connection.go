package clew

import (
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"sync"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/protobuf/proto"
)

const (
	maxReceived = 4 << 20
	// More than any field may have, so that the server refuses what is too large by the field's name.
	maxSent = 8 << 20
)

//go:embed clew/v1/service_config.json
var serviceConfig string

// A connection is a channel, the stubs over it, and the streams that are open on it.
type connection struct {
	settings    *settings
	channel     *grpc.ClientConn
	runs        clewv1.RunServiceClient
	threads     clewv1.ThreadServiceClient
	checkpoints clewv1.CheckpointServiceClient
	approvals   clewv1.ApprovalServiceClient
	workers     clewv1.WorkerServiceClient

	mu   sync.Mutex
	open map[*eventReader]bool
}

func connect(settings *settings) (*connection, error) {
	channel, err := grpc.NewClient(settings.target, channelOptions(settings)...)
	if err != nil {
		return nil, invalid(ArgumentInvalid, "target", err.Error())
	}
	return &connection{
		settings:    settings,
		channel:     channel,
		runs:        clewv1.NewRunServiceClient(channel),
		threads:     clewv1.NewThreadServiceClient(channel),
		checkpoints: clewv1.NewCheckpointServiceClient(channel),
		approvals:   clewv1.NewApprovalServiceClient(channel),
		workers:     clewv1.NewWorkerServiceClient(channel),
		open:        map[*eventReader]bool{},
	}, nil
}

func channelOptions(settings *settings) []grpc.DialOption {
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(transportOf(settings.tls)),
		grpc.WithUserAgent("clew-go/" + Version),
		// What is retried is part of the contract, and not asked of a name server.
		grpc.WithDisableServiceConfig(),
		grpc.WithDefaultServiceConfig(serviceConfig),
		grpc.WithDefaultCallOptions(
			grpc.MaxCallRecvMsgSize(maxReceived),
			grpc.MaxCallSendMsgSize(maxSent),
			// A large request is kept to be sent again, too.
			grpc.MaxRetryRPCBufferSize(maxSent),
		),
		// A connection that died without a word is noticed while a call waits on it, and a server that comes back is found soon.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 30 * time.Second, Timeout: 10 * time.Second}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: time.Second},
			MinConnectTimeout: 5 * time.Second,
		}),
		grpc.WithChainUnaryInterceptor(limited(settings.timeout)),
	}
	if settings.token != nil {
		options = append(options, grpc.WithPerRPCCredentials(bearer{settings.token, settings.tls != nil}))
	}
	return append(options, settings.dialOptions...)
}

func transportOf(config *tls.Config) credentials.TransportCredentials {
	if config == nil {
		return insecure.NewCredentials()
	}
	return credentials.NewTLS(config)
}

// limited gives a call that answers once the client's timeout, where its context has no deadline.
func limited(timeout time.Duration) grpc.UnaryClientInterceptor {
	return func(
		ctx context.Context, method string, request, reply any, channel *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		ctx, cancel := withLimit(ctx, timeout)
		defer cancel()
		return invoke(ctx, method, request, reply, channel, options...)
	}
}

// withLimit is the context with a deadline: its own where it has one.
func withLimit(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// bearer puts a token into what goes with every call, those of the stubs included.
type bearer struct {
	token  func(context.Context) (string, error)
	secure bool
}

func (b bearer) GetRequestMetadata(ctx context.Context, _ ...string) (map[string]string, error) {
	token, err := b.token(ctx)
	if err != nil {
		return nil, fmt.Errorf("no token: %w", err)
	}
	return map[string]string{"authorization": "Bearer " + token}, nil
}

func (b bearer) RequireTransportSecurity() bool { return b.secure }

// ask is a call that answers once, and the error that a refusal stands for.
func ask[Q proto.Message, R any](
	ctx context.Context, to *connection, method func(context.Context, Q, ...grpc.CallOption) (R, error), request Q,
) (R, error) {
	var none R
	if err := checkText(request); err != nil {
		return none, err
	}
	response, err := method(ctx, request)
	if err != nil {
		return none, to.errorOf(ctx, err)
	}
	return response, nil
}

// errorOf is the error of a call on this channel that ended with a status.
func (c *connection) errorOf(ctx context.Context, refused error) *Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return cancelledBy(ctx, "the call was cancelled by its context; what was asked may have happened")
	}
	return refusal(refused, c.settings.target, c.channel.GetState() == connectivity.Ready)
}

func cancelledBy(ctx context.Context, text string) *Error {
	return &Error{Code: Cancelled, Message: text, status: codes.Canceled, cause: errors.Join(context.Canceled, context.Cause(ctx))}
}

func (c *connection) add(reader *eventReader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[reader] = true
}

func (c *connection) remove(reader *eventReader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, reader)
}

// close leaves what is open, and lets the channel go.
func (c *connection) close() error {
	c.mu.Lock()
	readers := make([]*eventReader, 0, len(c.open))
	for reader := range c.open {
		readers = append(readers, reader)
	}
	c.mu.Unlock()
	left := make([]error, len(readers))
	var leaving sync.WaitGroup
	for index, reader := range readers {
		leaving.Add(1)
		go func() {
			defer leaving.Done()
			left[index] = reader.leave()
		}()
	}
	leaving.Wait()
	return errors.Join(append(left, c.channel.Close())...)
}
