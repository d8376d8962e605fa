/** What a person decides on an approval. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DecisionSchema } from "./gen/clew/v1/run_service_pb.js";
import { encodeJson, encodeObject, type JsonObject, type JsonValue } from "./json_text.js";
import { refusedArgument } from "./refused_argument.js";

/** An answer to one approval: its id, and one of the choices. */
export type Decision = {
  /** The approval. */
  id: string;
} & (
  | {
      /** Lets a tool call run, as asked. */
      approve: true;
    }
  | {
      /** Lets a tool call run, with these arguments instead. */
      arguments: JsonObject;
    }
  | {
      /** Keeps a tool call from running, or leaves a pause without an answer; the model reads the reason. */
      reject: string;
    }
  | {
      /** Gives a pause its value. */
      value: JsonValue;
    }
  | {
      /** Starts a call whose outcome is not known again, knowing that it may have taken effect. */
      runAgain: true;
    }
  | {
      /** Says that a call whose outcome is not known took effect, and what its result is. */
      result: JsonValue;
    }
  | {
      /** Says that a call whose outcome is not known failed; the model reads the reason. */
      fail: string;
    }
);

/** A decision as it travels. */
export type WireDecision = MessageInitShape<typeof DecisionSchema>;

/** Decisions as they travel. */
export function decisionsOf(decisions: readonly Decision[]): WireDecision[] {
  if (!Array.isArray(decisions)) {
    throw refusedArgument("decisions", `a list of decisions is due here, not ${typeof decisions}`);
  }
  return decisions.map((each) => ({ approvalId: each.id, decision: choiceOf(each) }));
}

function choiceOf(given: Decision): WireDecision["decision"] & {} {
  // `{ approve: false }` must not approve, and two choices are none.
  if (Object.keys(given).length !== 2) {
    throw unclear(given.id);
  }
  if ("approve" in given && given.approve === true) {
    return { case: "approve", value: {} };
  }
  if ("arguments" in given) {
    const argumentsJson = encodeObject(given.arguments, "decisions.approve.arguments_json");
    return { case: "approve", value: { argumentsJson } };
  }
  if ("reject" in given && typeof given.reject === "string") {
    return { case: "reject", value: { reason: given.reject } };
  }
  if ("value" in given) {
    return { case: "valueJson", value: encodeJson(given.value, "decisions.value_json") };
  }
  if ("runAgain" in given && given.runAgain === true) {
    return { case: "outcome", value: { outcome: { case: "runAgain", value: {} } } };
  }
  if ("result" in given) {
    const resultJson = encodeJson(given.result, "decisions.outcome.result_json");
    return { case: "outcome", value: { outcome: { case: "resultJson", value: resultJson } } };
  }
  if ("fail" in given && typeof given.fail === "string") {
    return { case: "outcome", value: { outcome: { case: "fail", value: given.fail } } };
  }
  throw unclear(given.id);
}

function unclear(id: string): Error {
  const choices = "approve, arguments, reject, value, runAgain, result, fail";
  return refusedArgument("decisions", `what to do with ${id} is not clear; give its id and one of ${choices}`);
}
