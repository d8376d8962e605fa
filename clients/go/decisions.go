package clew

import (
	clewv1 "clew.dev/clew/clew/v1"
	"google.golang.org/protobuf/proto"
)

// A Decision is what a person decided on one approval. Approve, ApproveWith, Reject, Answer, RunAgain, Result and Fail make one.
type Decision struct {
	wire *clewv1.Decision
	err  error
}

// Approve lets a tool call run as it was asked for.
func Approve(approvalID string) Decision {
	return decision(approvalID, func(wire *clewv1.Decision) error {
		wire.Decision = &clewv1.Decision_Approve_{Approve: &clewv1.Decision_Approve{}}
		return nil
	})
}

// ApproveWith lets a tool call run with other arguments: anything that encoding/json writes as an object.
func ApproveWith(approvalID string, arguments any) Decision {
	return decision(approvalID, func(wire *clewv1.Decision) error {
		text, err := encodeObject(arguments, "decisions.approve.arguments_json")
		wire.Decision = &clewv1.Decision_Approve_{Approve: &clewv1.Decision_Approve{ArgumentsJson: proto.String(string(text))}}
		return err
	})
}

// Reject keeps a tool call from running, or leaves a pause without an answer. The model reads the reason.
func Reject(approvalID, reason string) Decision {
	return decision(approvalID, func(wire *clewv1.Decision) error {
		wire.Decision = &clewv1.Decision_Reject_{Reject: &clewv1.Decision_Reject{Reason: reason}}
		return nil
	})
}

// Answer gives a pause its value: anything that encoding/json writes.
func Answer(approvalID string, value any) Decision {
	return decision(approvalID, func(wire *clewv1.Decision) error {
		text, err := encodeJSON(value, "decisions.value_json")
		wire.Decision = &clewv1.Decision_ValueJson{ValueJson: string(text)}
		return err
	})
}

// RunAgain starts a call whose outcome is not known again, knowing that it may have taken effect.
func RunAgain(approvalID string) Decision {
	return decision(approvalID, func(wire *clewv1.Decision) error {
		again := &clewv1.Decision_Outcome_RunAgain_{RunAgain: &clewv1.Decision_Outcome_RunAgain{}}
		wire.Decision = &clewv1.Decision_Outcome_{Outcome: &clewv1.Decision_Outcome{Outcome: again}}
		return nil
	})
}

// Result says that a call whose outcome is not known took effect, and what its result is: anything that encoding/json writes.
func Result(approvalID string, value any) Decision {
	return decision(approvalID, func(wire *clewv1.Decision) error {
		text, err := encodeJSON(value, "decisions.outcome.result_json")
		result := &clewv1.Decision_Outcome_ResultJson{ResultJson: string(text)}
		wire.Decision = &clewv1.Decision_Outcome_{Outcome: &clewv1.Decision_Outcome{Outcome: result}}
		return err
	})
}

// Fail says that a call whose outcome is not known failed. The model reads the reason.
func Fail(approvalID, reason string) Decision {
	return decision(approvalID, func(wire *clewv1.Decision) error {
		fail := &clewv1.Decision_Outcome_Fail{Fail: reason}
		wire.Decision = &clewv1.Decision_Outcome_{Outcome: &clewv1.Decision_Outcome{Outcome: fail}}
		return nil
	})
}

func decision(approvalID string, write func(*clewv1.Decision) error) Decision {
	made := Decision{wire: &clewv1.Decision{ApprovalId: approvalID}}
	made.err = write(made.wire)
	return made
}

// decisionsOf are decisions as they travel.
func decisionsOf(decisions []Decision) ([]*clewv1.Decision, error) {
	wires := make([]*clewv1.Decision, 0, len(decisions))
	for _, each := range decisions {
		if each.err != nil {
			return nil, each.err
		}
		if each.wire == nil {
			return nil, invalid(ArgumentInvalid, "decisions", "a Decision is made by Approve, Reject and the others")
		}
		wires = append(wires, each.wire)
	}
	return wires, nil
}
