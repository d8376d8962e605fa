package clew

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	statusv1 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const domain = "clew"

// What the transport's own words stand for, where no reason of the server's comes with a status: what happened, and what to do next.
const (
	repeatIt = "what was asked may have happened: repeat it with the same request id"
	checkTLS = "see that the target is right, and that both sides speak TLS (WithTLS) or neither"
)

var transportWords = map[codes.Code]string{
	codes.Canceled: "the call to {target} was cancelled before it ended; " + repeatIt,
	codes.DeadlineExceeded: "{target} did not finish the call within its time: it is busy, or stopping. A run that has started goes on; " +
		repeatIt + ", or give the call more time",
	codes.Unavailable: "no server answers at {target}, or the connection broke; " + repeatIt + ". Where it stays so, " + checkTLS,
	codes.Unknown:     "the connection to {target} broke in the middle of the call; " + repeatIt,
	codes.Internal:    "the connection to {target} broke in the middle of the call; " + repeatIt,
	codes.ResourceExhausted: "a message to or from {target} is larger than the transport takes, or something on the way has no room for it; " +
		"send less at once",
	codes.Unimplemented:    "{target} does not know this call: it is a server of an older version, or none of Clew's",
	codes.Unauthenticated:  "{target} asks for a credential, or does not accept this one; see WithToken",
	codes.PermissionDenied: "{target} does not allow this with the credential that was given",
}

const notReached = "no server answers at {target}, and the call's time is over; " + checkTLS

// refusal is the error of a call to a target that ended with a status. `reached` is whether there is a connection. What only the
// transport said of it is in the metadata, under `transport`.
func refusal(refused error, target string, reached bool) *Error {
	told := status.Convert(refused)
	info, retryAfter := details(told.Proto())
	if info != nil {
		return &Error{
			Code:       Code(strings.ToLower(info.GetReason())),
			Message:    told.Message(),
			Metadata:   info.GetMetadata(),
			RetryAfter: retryAfter,
			status:     told.Code(),
			cause:      refused,
		}
	}
	found := &Error{
		Code:       codeOf(told.Code()),
		Metadata:   map[string]string{"target": target, "status": strings.ToUpper(string(codeOf(told.Code()))), "transport": told.Message()},
		RetryAfter: retryAfter,
		status:     told.Code(),
		cause:      refused,
	}
	words, known := transportWords[told.Code()]
	if !known {
		words = fmt.Sprintf("{target} refused the call with %s", found.Code)
	}
	switch told.Code() {
	case codes.DeadlineExceeded:
		found.cause = errors.Join(context.DeadlineExceeded, refused)
		if !reached {
			words = notReached
		}
	case codes.Canceled:
		found.cause = errors.Join(context.Canceled, refused)
	}
	found.Message = strings.ReplaceAll(words, "{target}", target)
	return found
}

// isBreak is whether a stream that ended so was broken or cut, and not refused: it may be joined again.
func isBreak(refused error) bool {
	told := status.Convert(refused)
	info, _ := details(told.Proto())
	if info == nil {
		switch told.Code() {
		case codes.Canceled, codes.Internal, codes.Unavailable, codes.Unknown:
			return true
		}
		return false
	}
	if info.GetMetadata()["access"] == "read_only" {
		// The server only reads its file, now and later.
		return false
	}
	return told.Code() == codes.Unavailable || info.GetReason() == "LEASE_LOST"
}

// details are the reason that the server gave, nil for none, and the time to wait where it is known.
func details(told *statusv1.Status) (*errdetails.ErrorInfo, time.Duration) {
	var found *errdetails.ErrorInfo
	var wait time.Duration
	for _, detail := range told.GetDetails() {
		message, err := detail.UnmarshalNew()
		if err != nil {
			continue
		}
		switch message := message.(type) {
		case *errdetails.ErrorInfo:
			if message.GetDomain() == domain {
				found = message
			}
		case *errdetails.RetryInfo:
			wait = message.GetRetryDelay().AsDuration()
		}
	}
	return found, wait
}
