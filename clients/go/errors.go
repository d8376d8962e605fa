package clew

import (
	"fmt"
	"strings"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc/codes"
)

// A Code says in a stable word why a call or a run failed. It is an error, so that a program asks for it by name:
//
//	if errors.Is(err, clew.ThreadBusy) { … }
//
// The name of a gRPC status stands for every code that comes with it: errors.Is(err, clew.NotFound) holds for a thread, a checkpoint, a
// message, an approval, a run or an app that is not there. A code that this version does not know is met in the same way.
type Code string

// Error is the code itself.
func (c Code) Error() string { return string(c) }

// Another try, or a fresh look, is due.
const (
	// ThreadBusy: another run or write holds the thread; nothing happened.
	ThreadBusy Code = "thread_busy"
	// VersionConflict: the thread is not as the caller expected it; read it again and decide anew.
	VersionConflict Code = "version_conflict"
	// RequestIDReused: the request id was used before for a request with another content.
	RequestIDReused Code = "request_id_reused"
	// LeaseLost: another server took the thread over; what had been acknowledged is kept.
	LeaseLost Code = "lease_lost"
)

// Another call is due first.
const (
	// ThreadSuspended: the thread waits for people: approve, reject or decide first.
	ThreadSuspended Code = "thread_suspended"
	// ThreadInterrupted: the thread's last run ended without a word, as in a crash: Retry continues it.
	ThreadInterrupted Code = "thread_interrupted"
	// ResumeInvalid: there is nothing here that the call could continue.
	ResumeInvalid Code = "resume_invalid"
	// ApprovalAlreadyDecided: someone else decided first.
	ApprovalAlreadyDecided Code = "approval_already_decided"
	// ApprovalExpired: the approval's time was over; it counts as rejected.
	ApprovalExpired Code = "approval_expired"
	// CallNotPending: a result came for a call that does not wait for one.
	CallNotPending Code = "call_not_pending"
	// AppMismatch: the thread belongs to another app, that of its first send.
	AppMismatch Code = "app_mismatch"
)

// What was named is not there, or not the caller's.
const (
	// ThreadNotFound: no such thread, or it was deleted meanwhile.
	ThreadNotFound Code = "thread_not_found"
	// CheckpointNotFound: the thread has no such checkpoint.
	CheckpointNotFound Code = "checkpoint_not_found"
	// MessageNotFound: the thread has no such message on its present line.
	MessageNotFound Code = "message_not_found"
	// ApprovalNotFound: no such approval, or it belongs to another thread.
	ApprovalNotFound Code = "approval_not_found"
	// RunNotFound: the thread has no such run, or a newer one.
	RunNotFound Code = "run_not_found"
	// AppNotFound: the server serves no such app.
	AppNotFound Code = "app_not_found"
)

// The request breaks a rule, and never succeeds as it is. The metadata names the `field`.
const (
	// IDInvalid: an id breaks the rule for ids.
	IDInvalid Code = "id_invalid"
	// StateInvalid: state, or another JSON value, is not acceptable.
	StateInvalid Code = "state_invalid"
	// ArgumentInvalid: another field is missing or out of range.
	ArgumentInvalid Code = "argument_invalid"
)

// Too large, too many, or no room.
const (
	// StateTooLarge: state or a message is over its limit.
	StateTooLarge Code = "state_too_large"
	// QuotaExceeded: a quota of the caller is used up.
	QuotaExceeded Code = "quota_exceeded"
	// StorageFull: the database has no room; reading still works.
	StorageFull Code = "storage_full"
)

// The server cannot do it just now.
const (
	// StorageUnavailable: the server's database cannot be reached, or does not accept writes.
	StorageUnavailable Code = "storage_unavailable"
	// StreamCut: the server ended a stream that was in good order, and it could not be joined again; `version` is how far it came.
	StreamCut Code = "stream_cut"
	// DataCorrupt: what was read is not what was written.
	DataCorrupt Code = "data_corrupt"
)

// How runs and calls end.
const (
	// RunFailed: the run ended as failed, and is saved. Error.FailureCode says why.
	RunFailed Code = "run_failed"
	// Cancelled: the run was cancelled and saved, and Retry continues it; or the call was, by its context or before it began.
	Cancelled Code = "cancelled"
	// StreamLeft: the stream was closed before its end, and read all the same.
	StreamLeft Code = "stream_left"
)

// The statuses of gRPC: codes of their own where the server gave no reason, and otherwise what errors.Is finds groups of codes by.
const (
	Unknown            Code = "unknown"
	InvalidArgument    Code = "invalid_argument"
	DeadlineExceeded   Code = "deadline_exceeded"
	NotFound           Code = "not_found"
	AlreadyExists      Code = "already_exists"
	PermissionDenied   Code = "permission_denied"
	ResourceExhausted  Code = "resource_exhausted"
	FailedPrecondition Code = "failed_precondition"
	Aborted            Code = "aborted"
	OutOfRange         Code = "out_of_range"
	Unimplemented      Code = "unimplemented"
	Internal           Code = "internal"
	Unavailable        Code = "unavailable"
	DataLoss           Code = "data_loss"
	Unauthenticated    Code = "unauthenticated"
)

// An Error is what every call of this package fails with. errors.As finds it, and errors.Is its Code.
//
// What lies beneath is found too: context.Canceled and context.DeadlineExceeded where a context ended the call, and the status of gRPC, as
// status.FromError gives it.
type Error struct {
	// Code says why.
	Code Code
	// Message says it for people; it may change from version to version.
	Message string
	// Metadata holds every value that the message names, as text.
	Metadata map[string]string
	// RetryAfter is how long to wait before another try; 0 where the server does not know.
	RetryAfter time.Duration

	// FailureCode says why a run failed, as `model_unavailable` or `limit_exceeded`; empty unless Code is RunFailed, and where it is not
	// known to this version.
	FailureCode string
	// Retryable is whether Retry may continue a run that failed without anything else being changed.
	Retryable bool
	// RunID is the run that failed.
	RunID string
	// Usage is what the models of the run that failed have used; nil where that is not known.
	Usage *clewv1.Usage
	// Snapshot is what a failed run without a thread can be continued from, with the Resume of the stubs.
	Snapshot []byte

	status codes.Code
	cause  error
}

// Error gives the code and the message.
func (e *Error) Error() string { return fmt.Sprintf("clew: %s: %s", e.Code, e.Message) }

// Is tells errors.Is whether the target is the code, or the name of the status that came with it.
func (e *Error) Is(target error) bool {
	wanted, ok := target.(Code)
	return ok && (wanted == e.Code || wanted == codeOf(e.status))
}

// Unwrap gives what lies beneath; nil where there is nothing.
func (e *Error) Unwrap() error { return e.cause }

// ApprovalIDs are the approvals that the thread waits for, where the error is about them.
func (e *Error) ApprovalIDs() []string {
	return strings.FieldsFunc(e.Metadata["approval_ids"], func(char rune) bool { return char == ',' })
}

// codeOf is the name of a status in lower case; empty for OK.
func codeOf(status codes.Code) Code {
	if status == codes.OK {
		return ""
	}
	name, known := code.Code_name[int32(status)]
	if !known {
		return Unknown
	}
	return Code(strings.ToLower(name))
}

// invalid refuses an argument by its field, as the server would.
func invalid(why Code, field, text string) *Error {
	return &Error{
		Code:     why,
		Message:  field + ": " + text,
		Metadata: map[string]string{"field": field},
		status:   codes.InvalidArgument,
	}
}
