package clew

import (
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
)

// How long a call that may have to wait for a busy thread waits beside its own time, where it does not say.
const busyTime = 60 * time.Second

// What to do while another run or write holds the thread; see WithOnBusy.
const (
	// BusyWait waits: first come, first served.
	BusyWait = clewv1.BusyPolicy_BUSY_POLICY_WAIT
	// BusyReject is refused at once with ThreadBusy.
	BusyReject = clewv1.BusyPolicy_BUSY_POLICY_REJECT
	// BusyInterrupt cancels the run that holds the thread.
	BusyInterrupt = clewv1.BusyPolicy_BUSY_POLICY_INTERRUPT
)

// callOptions are those of one call; each verb takes some of them.
type callOptions struct {
	requestID       string
	expectedVersion *int64
	onBusy          clewv1.BusyPolicy
	busyTimeout     *time.Duration
	limits          *clewv1.Limits
	state           any
	userID          string
	metadata        any
	arguments       any
	removeKeys      []string
	force           bool
	checkpointID    string
}

// A CallOption is what every verb takes that changes something.
type CallOption interface {
	RunOption
	WriteOption
	CopyOption
}

// A RunOption is what every verb takes that starts an attempt: send, run, approve, reject, decide, resume and retry.
type RunOption interface {
	SendOption
	ApproveOption
	forRun()
}

// A SendOption is what Send, SendParts and Run take.
type SendOption interface {
	apply(*callOptions)
	forSend()
}

// An ApproveOption is what Approve takes.
type ApproveOption interface {
	apply(*callOptions)
	forApprove()
}

// A WriteOption is what a verb takes that writes from outside a run and waits its turn: rewind and update_state.
type WriteOption interface {
	UpdateOption
	forWrite()
}

// An UpdateOption is what UpdateState takes.
type UpdateOption interface {
	apply(*callOptions)
	forUpdate()
}

// A CopyOption is what Copy takes.
type CopyOption interface {
	apply(*callOptions)
	forCopy()
}

// The kinds of options, by the verbs that take them.
type (
	everyOption   func(*callOptions)
	busyOption    func(*callOptions)
	sendOption    func(*callOptions)
	approveOption func(*callOptions)
	updateOption  func(*callOptions)
	copyOption    func(*callOptions)
)

func (o everyOption) apply(options *callOptions)   { o(options) }
func (o busyOption) apply(options *callOptions)    { o(options) }
func (o sendOption) apply(options *callOptions)    { o(options) }
func (o approveOption) apply(options *callOptions) { o(options) }
func (o updateOption) apply(options *callOptions)  { o(options) }
func (o copyOption) apply(options *callOptions)    { o(options) }

func (everyOption) forRun()     {}
func (everyOption) forSend()    {}
func (everyOption) forApprove() {}
func (everyOption) forWrite()   {}
func (everyOption) forUpdate()  {}
func (everyOption) forCopy()    {}

func (busyOption) forRun()     {}
func (busyOption) forSend()    {}
func (busyOption) forApprove() {}
func (busyOption) forWrite()   {}
func (busyOption) forUpdate()  {}

func (sendOption) forSend()       {}
func (approveOption) forApprove() {}
func (updateOption) forUpdate()   {}
func (copyOption) forCopy()       {}

// WithRequestID names the request: 1 to 128 characters, visible ASCII. Repeat one to get the same outcome within 24 hours. A request
// without has an id that the client makes up, and is sent again under that.
func WithRequestID(requestID string) CallOption {
	return everyOption(func(o *callOptions) { o.requestID = requestID })
}

// WithExpectedVersion is the version that the thread must have, or the call is refused with VersionConflict; 0 for a thread that is not
// there yet.
func WithExpectedVersion(version int64) CallOption {
	return everyOption(func(o *callOptions) { o.expectedVersion = &version })
}

// A BusyOption is what every verb takes that has to wait its turn.
type BusyOption interface {
	RunOption
	WriteOption
}

// WithOnBusy is what to do while another run or write holds the thread: BusyWait, unless the server is told otherwise.
func WithOnBusy(policy clewv1.BusyPolicy) BusyOption {
	return busyOption(func(o *callOptions) { o.onBusy = policy })
}

// WithBusyTimeout is how long to wait for a busy thread, up to an hour; 60 s unless it is given.
func WithBusyTimeout(timeout time.Duration) BusyOption {
	return busyOption(func(o *callOptions) { o.busyTimeout = &timeout })
}

// Limits are what one attempt may use, and an option of the verbs that start one; 0 is the app's own limit. To go over one fails the run
// (`limit_exceeded`), and Retry continues it, counting anew.
type Limits struct {
	// Steps: answers of the model in an agent, rounds of nodes in a workflow.
	Steps int32
	// Tokens that the models read and wrote together.
	Tokens int64
	// Duration, without the time in which the thread was waited for.
	Duration time.Duration
	// ToolTimeout is for each tool call.
	ToolTimeout time.Duration
}

func (l Limits) apply(o *callOptions) {
	o.limits = &clewv1.Limits{}
	if l.Steps != 0 {
		o.limits.MaxSteps = proto.Int32(l.Steps)
	}
	if l.Tokens != 0 {
		o.limits.MaxTokens = proto.Int64(l.Tokens)
	}
	if l.Duration != 0 {
		o.limits.MaxDuration = durationpb.New(l.Duration)
	}
	if l.ToolTimeout != 0 {
		o.limits.ToolTimeout = durationpb.New(l.ToolTimeout)
	}
}

func (Limits) forRun()     {}
func (Limits) forSend()    {}
func (Limits) forApprove() {}

// WithState merges values into the thread's state before the run begins: anything that encoding/json writes as an object.
func WithState(values any) SendOption {
	return sendOption(func(o *callOptions) { o.state = values })
}

// WithUserID is whom a thread belongs to that the call makes, up to 256 bytes.
func WithUserID(userID string) SendOption {
	return sendOption(func(o *callOptions) { o.userID = userID })
}

// WithMetadata is the metadata of a thread that the call makes: anything that encoding/json writes as an object, up to 64 KiB.
func WithMetadata(metadata any) SendOption {
	return sendOption(func(o *callOptions) { o.metadata = metadata })
}

// WithArguments lets the approved calls run with other arguments: anything that encoding/json writes as an object.
func WithArguments(arguments any) ApproveOption {
	return approveOption(func(o *callOptions) { o.arguments = arguments })
}

// WithoutKeys removes keys from the state, none of which is among the values.
func WithoutKeys(keys ...string) UpdateOption {
	return updateOption(func(o *callOptions) { o.removeKeys = append(o.removeKeys, keys...) })
}

// WithForce writes to a thread that waits for decisions, too; they stay to be made.
func WithForce() UpdateOption {
	return updateOption(func(o *callOptions) { o.force = true })
}

// WithCheckpoint is the last checkpoint to copy; without it that is the head.
func WithCheckpoint(checkpointID string) CopyOption {
	return copyOption(func(o *callOptions) { o.checkpointID = checkpointID })
}

func optionsOf[O interface{ apply(*callOptions) }](given []O) *callOptions {
	options := &callOptions{}
	for _, each := range given {
		each.apply(options)
	}
	if options.requestID == "" {
		options.requestID = newRequestID()
	}
	return options
}

// run is how an attempt behaves. It goes on when its stream breaks: who leaves on purpose cancels it by name.
func (o *callOptions) run(actor string) *clewv1.RunOptions {
	return &clewv1.RunOptions{
		OnBusy:       o.onBusy,
		BusyTimeout:  o.wait(),
		OnDisconnect: clewv1.DisconnectPolicy_DISCONNECT_POLICY_CONTINUE,
		Limits:       o.limits,
		Actor:        actor,
	}
}

func (o *callOptions) wait() *durationpb.Duration {
	if o.busyTimeout == nil {
		return nil
	}
	return durationpb.New(*o.busyTimeout)
}

// writeTime is how long a write may take that may have to wait its turn.
func (o *callOptions) writeTime(timeout time.Duration) time.Duration {
	if o.busyTimeout == nil {
		return timeout + busyTime
	}
	return timeout + *o.busyTimeout
}
