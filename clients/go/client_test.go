package clew

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestStateIsReadIntoWhatIsGivenAndKeepsItsNumbers(t *testing.T) {
	server := startScripted(t)
	server.state = `{"big":9007199254740993,"name":"Ada"}`
	var values map[string]any
	if err := server.thread(t).State(t.Context(), &values); err != nil || values["big"] != json.Number("9007199254740993") {
		t.Fatalf("%v, %v", values, err)
	}
	var fields struct{ Big int64 }
	if err := server.thread(t).State(t.Context(), &fields); err != nil || fields.Big != 9007199254740993 {
		t.Fatalf("%v, %v", fields, err)
	}
	var wrong []int
	if err := server.thread(t).State(t.Context(), &wrong); codeIn(t, err) != StateInvalid {
		t.Fatal(err)
	}
}

func TestValuesTravelAsTheyAre(t *testing.T) {
	value := map[string]any{"big": json.Number("9007199254740993"), "text": "a\x00b <é>"}
	text, err := encodeObject(value, "state_json")
	if err != nil || string(text) != `{"big":9007199254740993,"text":"a\u0000b <é>"}` {
		t.Fatalf("%s, %v", text, err)
	}
	if text, err := encodeObject(nil, "state_json"); err != nil || string(text) != "{}" {
		t.Fatalf("%s, %v", text, err)
	}
}

func TestTheStubsHaveTheTokenAndTheTimeoutOfTheClient(t *testing.T) {
	server := startScripted(t)
	client := server.client(t, WithToken("secret"), WithTimeout(time.Hour))
	stub := clewv1.NewThreadServiceClient(client.Channel())
	if _, err := stub.GetState(t.Context(), &clewv1.GetStateRequest{ThreadId: "t-1"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	if _, err := stub.GetState(ctx, &clewv1.GetStateRequest{ThreadId: "t-1"}); err != nil {
		t.Fatal(err)
	}
	same(t, "tokens", server.tokens, []string{"Bearer secret", "Bearer secret"})
	if first, second := server.deadlines[0], server.deadlines[1]; first <= 0 || first > time.Hour || second <= time.Hour {
		t.Fatalf("deadlines: %v, %v", first, second)
	}
}

func TestATokenThatCannotBeHadIsAnErrorOfItsOwn(t *testing.T) {
	server := startScripted(t)
	source := func(context.Context) (string, error) { return "", errors.New("the vault is closed") }
	if _, err := server.thread(t, WithTokenSource(source)).Approvals(t.Context()); codeIn(t, err) != Unauthenticated {
		t.Fatal(err)
	}
}

func TestATokenTravelsUnencryptedOnlyToThisMachine(t *testing.T) {
	for target, local := range map[string]bool{
		"localhost:50051": true, "127.0.0.1:1": true, "[::1]:1": true, "dns:///localhost:1": true, "unix:/tmp/a": true,
		"example.org:443": false, "10.0.0.1:1": false, "dns://localhost/example.org:1": false, "localhost.example.org:1": false,
	} {
		_, err := settingsOf(target, []ClientOption{WithToken("secret")})
		if (err == nil) != local {
			t.Errorf("%s: %v", target, err)
		}
	}
	for _, option := range []ClientOption{WithTLS(nil), WithInsecureToken()} {
		if _, err := settingsOf("example.org:443", []ClientOption{WithToken("secret"), option}); err != nil {
			t.Error(err)
		}
	}
}

func TestTheTargetIsWhatTheEnvironmentNames(t *testing.T) {
	t.Setenv(targetVariable, "")
	made, err := settingsOf("", nil)
	if err != nil || made.target != "localhost:50051" {
		t.Fatalf("%v, %v", made, err)
	}
	t.Setenv(targetVariable, "example.org:1")
	made, err = settingsOf("", nil)
	if err != nil || made.target != "example.org:1" {
		t.Fatalf("%v, %v", made, err)
	}
}

func TestATimeIsNotNegative(t *testing.T) {
	if _, err := NewClient("", WithTimeout(-1)); codeIn(t, err) != ArgumentInvalid {
		t.Fatal(err)
	}
}

func TestRefusalsAreKnownByTheirCodeAndByTheirStatus(t *testing.T) {
	err := error(refusal(reason(codes.NotFound, "THREAD_NOT_FOUND", map[string]string{"thread_id": "t-1"}).Err(), "here", true))
	if !errors.Is(err, ThreadNotFound) || !errors.Is(err, NotFound) || errors.Is(err, RunNotFound) || status.Code(err) != codes.NotFound {
		t.Fatal(err)
	}
	if err := refusal(reason(codes.NotFound, "SOMETHING_NEW", nil).Err(), "here", true); err.Code != "something_new" || !errors.Is(err, NotFound) {
		t.Fatal(err)
	}
}

func TestWhatTheTransportSaysIsInTheMetadata(t *testing.T) {
	err := refusal(status.Error(codes.DeadlineExceeded, "late"), "here:1", false)
	if err.Code != DeadlineExceeded || err.Metadata["transport"] != "late" || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
}

func TestOnlyBreaksAreTriedAgain(t *testing.T) {
	readOnly := map[string]string{"access": "read_only"}
	for told, expected := range map[*status.Status]bool{
		status.New(codes.Unavailable, ""):                                true,
		status.New(codes.Canceled, ""):                                   true,
		status.New(codes.Unknown, ""):                                    true,
		status.New(codes.Internal, ""):                                   true,
		status.New(codes.PermissionDenied, ""):                           false,
		status.New(codes.DeadlineExceeded, ""):                           false,
		reason(codes.Unavailable, "STREAM_CUT", nil):                     true,
		reason(codes.Unavailable, "STORAGE_UNAVAILABLE", readOnly):       false,
		reason(codes.Aborted, "LEASE_LOST", nil):                         true,
		reason(codes.Aborted, "THREAD_BUSY", nil):                        false,
		reason(codes.Internal, "INTERNAL", nil):                          false,
		reason(codes.FailedPrecondition, "THREAD_INTERRUPTED", readOnly): false,
	} {
		if isBreak(told.Err()) != expected {
			t.Errorf("%v: not %v", told, expected)
		}
	}
}

func TestPatienceGrowsFromATenthOfASecondToTwoSecondsAndEnds(t *testing.T) {
	begun := time.Now()
	tried := newPatience(&settings{connectTimeout: 5 * time.Second, rejoinTimeout: time.Minute}, begun)
	for _, expected := range []time.Duration{100, 200, 400, 800, 1600, 2000, 2000} {
		if pause, again := tried.pause(begun); pause != expected*time.Millisecond || !again {
			t.Fatalf("%v, %v", pause, again)
		}
	}
	if _, again := tried.pause(begun.Add(4 * time.Second)); again {
		t.Fatal("a server that was never heard is given up after 5 s")
	}
	tried.heard(begun)
	if pause, again := tried.pause(begun.Add(59 * time.Second)); pause != 100*time.Millisecond || !again {
		t.Fatalf("%v, %v", pause, again)
	}
}

func TestTheApprovalsThatAnErrorNames(t *testing.T) {
	err := &Error{Metadata: map[string]string{"approval_ids": "a,b"}}
	same(t, "ids", err.ApprovalIDs(), []string{"a", "b"})
	same(t, "none", (&Error{}).ApprovalIDs(), nil)
}
