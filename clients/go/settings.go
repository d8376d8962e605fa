package clew

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
)

const (
	defaultTarget  = "localhost:50051"
	targetVariable = "CLEW_TARGET"

	firstPause   = 100 * time.Millisecond
	longestPause = 2 * time.Second
)

// settings are how a client reaches its server, and how long it tries.
type settings struct {
	target        string
	token         func(context.Context) (string, error)
	insecureToken bool
	tls           *tls.Config
	dialOptions   []grpc.DialOption

	timeout        time.Duration
	connectTimeout time.Duration
	rejoinTimeout  time.Duration
	leaveTimeout   time.Duration
	// After that much silence the connection of a run that is under way must be dead.
	silenceTimeout time.Duration
}

// A ClientOption is what NewClient takes.
type ClientOption func(*settings)

// WithToken sends a token with every call, as `authorization: Bearer …`. Without TLS it is refused but on the way to this machine.
func WithToken(token string) ClientOption {
	return WithTokenSource(func(context.Context) (string, error) { return token, nil })
}

// WithTokenSource asks for a token before each call; see WithToken. A call whose token cannot be had fails with Unauthenticated.
func WithTokenSource(source func(context.Context) (string, error)) ClientOption {
	return func(s *settings) { s.token = source }
}

// WithInsecureToken sends the token without TLS, too, where anyone on the way can read it.
func WithInsecureToken() ClientOption {
	return func(s *settings) { s.insecureToken = true }
}

// WithTLS encrypts, with roots and certificates of one's own; nil takes the system's roots.
func WithTLS(config *tls.Config) ClientOption {
	return func(s *settings) { s.tls = cmp.Or(config, &tls.Config{MinVersion: tls.VersionTLS12}) }
}

// WithTimeout is how long a call may take that answers once, where its context has no deadline: 30 s unless it is given. Streams have a
// limit only where their context has one.
func WithTimeout(timeout time.Duration) ClientOption {
	return func(s *settings) { s.timeout = timeout }
}

// WithConnectTimeout is how long to try before a server that was never heard is given up: 5 s unless it is given.
func WithConnectTimeout(timeout time.Duration) ClientOption {
	return func(s *settings) { s.connectTimeout = timeout }
}

// WithRejoinTimeout is how long to try before a stream that broke is given up: 60 s unless it is given.
func WithRejoinTimeout(timeout time.Duration) ClientOption {
	return func(s *settings) { s.rejoinTimeout = timeout }
}

// WithLeaveTimeout is how long to wait for a run to be cancelled when its stream is left: 15 s unless it is given.
func WithLeaveTimeout(timeout time.Duration) ClientOption {
	return func(s *settings) { s.leaveTimeout = timeout }
}

// WithDialOptions gives further options of gRPC; they come after the client's own.
func WithDialOptions(options ...grpc.DialOption) ClientOption {
	return func(s *settings) { s.dialOptions = append(s.dialOptions, options...) }
}

// settingsOf are the settings for a target, which may be empty. What no connection can be made with, or no safe one, is refused.
func settingsOf(target string, options []ClientOption) (*settings, error) {
	made := &settings{
		target:         cmp.Or(target, os.Getenv(targetVariable), defaultTarget),
		timeout:        30 * time.Second,
		connectTimeout: 5 * time.Second,
		rejoinTimeout:  60 * time.Second,
		leaveTimeout:   15 * time.Second,
		silenceTimeout: 60 * time.Second,
	}
	for _, option := range options {
		option(made)
	}
	if made.token != nil && made.tls == nil && !made.insecureToken && !isLocal(made.target) {
		text := fmt.Sprintf("without encryption anyone on the way to %s can read it: see WithTLS, or WithInsecureToken", made.target)
		return nil, invalid(ArgumentInvalid, "token", text)
	}
	for field, timeout := range map[string]time.Duration{
		"timeout": made.timeout, "connect_timeout": made.connectTimeout,
		"rejoin_timeout": made.rejoinTimeout, "leave_timeout": made.leaveTimeout,
	} {
		if timeout < 0 {
			return nil, invalid(ArgumentInvalid, field, "a time is not negative")
		}
	}
	return made, nil
}

// isLocal is whether nothing leaves this machine on the way to the target.
func isLocal(target string) bool {
	if strings.HasPrefix(target, "unix:") || strings.HasPrefix(target, "unix-abstract:") {
		return true
	}
	name := strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(target, "dns:"), "passthrough:"), "/")
	host := name
	if inside, ok := strings.CutPrefix(name, "["); ok {
		host, _, _ = strings.Cut(inside, "]")
	} else if at := strings.LastIndexByte(name, ':'); at >= 0 {
		host = name[:at]
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host == "localhost"
	}
	return address.Unmap().IsLoopback()
}
