/** Events as a server tells them: one run of thread `t-1`, whose incarnation is `u`. */

import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { CheckpointSource, CheckpointStatus } from "../src/gen/clew/v1/checkpoint_pb.js";
import { FailureCode } from "../src/gen/clew/v1/error_pb.js";
import { type Event, EventSchema } from "../src/gen/clew/v1/event_pb.js";
import { type Message, MessageSchema, Role, ToolOutcome } from "../src/gen/clew/v1/message_pb.js";

export const RUN = "u.r1";

type Payload = NonNullable<MessageInitShape<typeof EventSchema>["payload"]>;

export function event(version: number, payload: Payload = { case: undefined }, last = false, runId = RUN): Event {
  const where = { threadId: "t-1", threadUid: "u", runId, version: BigInt(version), lastOfVersion: last };
  return create(EventSchema, { ...where, payload });
}

export function queued(): Event {
  return event(0, { case: "runQueued", value: { ahead: 0 } }, false, "");
}

export function started(version: number, attempt = 1): Event {
  return event(version, { case: "runStarted", value: { attempt } });
}

export function delta(version: number, messageId: string, offset: number, text: string, partIndex = 0): Event {
  return event(version, { case: "textDelta", value: { messageId, partIndex, offset: BigInt(offset), text } });
}

export function thought(version: number, messageId: string, text: string): Event {
  return event(version, { case: "reasoningDelta", value: { messageId, partIndex: 0, offset: 0n, text } });
}

export function discarded(version: number, messageId: string): Event {
  return event(version, { case: "messageDiscarded", value: { messageId, code: FailureCode.MODEL_INCOMPLETE } });
}

export function heartbeat(version: number): Event {
  return event(version, { case: "heartbeat", value: {} });
}

export function said(id: string, text: string, role = Role.ASSISTANT): Message {
  return create(MessageSchema, { id, role, content: [{ kind: { case: "text", value: { text } } }] });
}

export function asked(id: string, text: string): Message {
  return said(id, text, Role.USER);
}

export interface Written {
  messages?: Message[];
  last?: boolean;
  source?: CheckpointSource;
  parent?: number;
}

export function written(version: number, told: Written = {}): Event {
  const { messages = [], last = true, source = CheckpointSource.STEP, parent = version - 1 } = told;
  const status = CheckpointStatus.IN_PROGRESS;
  const checkpoint = { id: `u.${version}`, threadId: "t-1", threadUid: "u", runId: RUN, version: BigInt(version) };
  const value = { checkpoint: { ...checkpoint, source, status }, parentVersion: BigInt(parent), messages };
  return event(version, { case: "checkpointWritten", value }, last);
}

export function toolStarted(version: number, id: string, last = false): Event {
  const toolCall = { id, name: "look_up", argumentsJson: '{"order":"A-1"}' };
  return event(version, { case: "toolCallStarted", value: { toolCall } }, last);
}

export function toolFinished(version: number, toolCallId: string): Event {
  const outcome = ToolOutcome.DONE;
  return event(version, { case: "toolCallFinished", value: { toolCallId, name: "look_up", outcome } });
}

export function progress(version: number, toolCallId: string): Event {
  return event(version, { case: "toolCallProgress", value: { toolCallId, name: "look_up", progressJson: "0.5" } });
}

export function completed(version: number, text = "done", messageId = "m2.1"): Event {
  const where = { threadId: "t-1", threadUid: "u", runId: RUN, version: BigInt(version) };
  const reply = { ...where, text, messageId, message: said(messageId, text), steps: 1 };
  return event(version, { case: "runCompleted", value: { reply } }, true);
}

export function suspended(version: number, ids: string[], count = ids.length): Event {
  const approvals = ids.map((id) => ({ id, threadId: "t-1", runId: RUN, tool: "refund" }));
  return event(version, { case: "runSuspended", value: { approvals, approvalCount: count } }, true);
}

export function failed(version: number, code: FailureCode, message = "it failed"): Event {
  return event(version, { case: "runFailed", value: { status: { code: 2, message }, code, retryable: true } }, true);
}

/** The events of a turn, and the two parts of it that may come over two connections. */
export const BEGINNING = [started(1), written(1, { messages: [asked("m1.1", "hi")] }), delta(1, "m2.1", 0, "do")];
export const END = [written(2, { messages: [said("m2.1", "done")], last: false }), completed(2)];

export function kinds(events: Event[]): string[] {
  return events.map((each) => each.payload.case ?? "unknown");
}
