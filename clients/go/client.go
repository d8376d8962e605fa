package clew

import (
	"context"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc"
)

// A Client is a server, reached over gRPC. One serves any number of goroutines and threads. Close it when it is not needed any more.
type Client struct {
	to *connection
}

// NewClient is a client of the server at a target, `HOST:PORT`; where it is empty, at what CLEW_TARGET names, or `localhost:50051`. It
// connects when it is first used, and an error is about the target or the options alone.
func NewClient(target string, options ...ClientOption) (*Client, error) {
	settings, err := settingsOf(target, options)
	if err != nil {
		return nil, err
	}
	to, err := connect(settings)
	if err != nil {
		return nil, err
	}
	return &Client{to: to}, nil
}

// App is the handle of an agent or workflow that the server runs.
func (c *Client) App(name string) *App { return &App{to: c.to, name: name} }

// Thread is the handle of a thread, whatever its app is.
func (c *Client) Thread(id string) *Thread { return &Thread{to: c.to, id: id} }

// Channel is the connection, for the stubs: clewv1.NewThreadServiceClient(client.Channel()) has the client's token, retries, and where a
// context has no deadline its timeout.
func (c *Client) Channel() grpc.ClientConnInterface { return c.to.channel }

// Close leaves the streams that are open, as Stream.Close does, and lets the connection go.
func (c *Client) Close() error { return c.to.close() }

// An App is an agent or workflow by its name. It runs on threads, or without one: then nothing is stored, and who leaves the stream, or
// loses its connection, cancels the run.
type App struct {
	to   *connection
	name string
}

// Name is the app's name.
func (a *App) Name() string { return a.name }

// Thread is the handle of a thread of this app.
func (a *App) Thread(id string) *Thread { return &Thread{to: a.to, id: id, app: a.name} }

// Send gives an agent one message without a thread.
func (a *App) Send(ctx context.Context, text string, options ...SendOption) *Stream {
	return a.start(ctx, func() (*clewv1.SendRequest, error) {
		request, err := sendRequest(a.name, "", "", optionsOf(options))
		if err == nil {
			request.Input = &clewv1.SendRequest_Text{Text: text}
		}
		return request, err
	})
}

// Run runs a workflow once without a thread, with values as Thread.Run takes them.
func (a *App) Run(ctx context.Context, values any, options ...SendOption) *Stream {
	return a.start(ctx, func() (*clewv1.SendRequest, error) {
		return runRequest(a.name, "", "", values, optionsOf(options))
	})
}

func (a *App) start(ctx context.Context, request func() (*clewv1.SendRequest, error)) *Stream {
	return startAttempt(ctx, &attempt{to: a.to, prepare: func(context.Context) (startRequest, error) {
		made, err := request()
		if err == nil {
			made.Options.OnDisconnect = clewv1.DisconnectPolicy_DISCONNECT_POLICY_CANCEL
		}
		return made, err
	}})
}
