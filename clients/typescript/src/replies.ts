/** What a stream told of the end of its attempt. */

import { type ClewError, RunCancelledError, RunFailedError } from "./errors.js";
import { isTerminal } from "./event_kinds.js";
import type { Approval } from "./gen/clew/v1/approval_pb.js";
import { FailureCode } from "./gen/clew/v1/error_pb.js";
import type { Event, RunFailed, RunSuspended } from "./gen/clew/v1/event_pb.js";
import type { Message, Usage } from "./gen/clew/v1/message_pb.js";
import type { Reply as WireReply } from "./gen/clew/v1/run_pb.js";
import { detailsOf } from "./refusals.js";

/** What a run gives when it has ended, or waits for people. */
export interface Reply {
  /** `suspended` where the run waits for decisions: `approvals` says for which. */
  status: "completed" | "suspended";
  /** The text of the last message; empty while the run waits. */
  text: string;
  /** The thread; empty for a run without one. */
  threadId: string;
  /** Its incarnation. */
  threadUid: string;
  /** The run. */
  runId: string;
  /** The thread's version; the contract's versions are 64 bits wide, so all of them are `bigint`, to be compared with each other. */
  version: bigint;
  /** The id of the last message; empty while the run waits. */
  messageId: string;
  /** The last message. */
  message: Message | undefined;
  /** What the run's models used in all its attempts. */
  usage: Usage | undefined;
  /** How many steps the run took. */
  steps: number;
  /** What the run waits for. */
  approvals: Approval[];
  /** What continues a suspended run without a thread; empty for one on a thread. */
  snapshot: Uint8Array;
}

/** Keeps what a stream tells of the end, as its events pass. */
export class Ending {
  #last: Event | undefined;
  #spoken: Message[] = [];
  readonly #asked: Approval[] = [];

  /** Takes an event in. */
  take(event: Event): void {
    const { payload } = event;
    if (payload.case === "checkpointWritten") {
      this.#spoken = payload.value.messages;
    }
    if (payload.case === "approvalRequested" && payload.value.approval !== undefined) {
      this.#asked.push(payload.value.approval);
    }
    if (isTerminal(event)) {
      this.#last = event;
    }
  }

  /**
   * The reply, or what the run failed with, which is thrown; undefined where no end was told.
   *
   * `waiting` lists what a thread waits for: what the last event had no room for, and was asked in an earlier attempt.
   */
  async reply(waiting: (threadId: string) => Promise<Approval[]>): Promise<Reply | undefined> {
    const { payload } = this.#last ?? { payload: { case: undefined } };
    if (this.#last === undefined || payload.case === undefined) {
      return undefined;
    }
    if (payload.case === "runFailed") {
      throw failureOf(this.#last, payload.value);
    }
    if (payload.case === "runSuspended") {
      return suspended(this.#last, payload.value, await this.#allOf(this.#last, payload.value, waiting));
    }
    return payload.case === "runCompleted" ? this.#completed(payload.value.reply) : undefined;
  }

  #completed(told: WireReply | undefined): Reply | undefined {
    if (told === undefined) {
      return undefined;
    }
    const { text, threadId, threadUid, runId, version, messageId, usage, steps } = told;
    // A message that is very large travels with the checkpoint alone.
    const message = told.message ?? this.#spoken.find((each) => each.id === messageId);
    const known = { text, threadId, threadUid, runId, version, messageId, message, usage, steps };
    return { status: "completed", ...known, approvals: [], snapshot: new Uint8Array() };
  }

  async #allOf(
    event: Event,
    told: RunSuspended,
    waiting: (threadId: string) => Promise<Approval[]>,
  ): Promise<Approval[]> {
    if (told.approvals.length >= told.approvalCount) {
      return told.approvals;
    }
    let found = this.#asked.filter((each) => each.version === event.version);
    if (found.length < told.approvalCount && event.threadId !== "") {
      found = (await waiting(event.threadId)).filter((each) => each.runId === event.runId);
    }
    return found.length > told.approvals.length ? found : told.approvals;
  }
}

function suspended(event: Event, told: RunSuspended, approvals: Approval[]): Reply {
  const { threadId, threadUid, runId, version } = event;
  const nothing = { text: "", messageId: "", message: undefined, usage: undefined, steps: 0 };
  return { status: "suspended", ...nothing, threadId, threadUid, runId, version, approvals, snapshot: told.snapshot };
}

function failureOf(event: Event, told: RunFailed): ClewError {
  const { info, retryAfterMs } = detailsOf(told.status?.details ?? []);
  const message = told.status?.message ?? "the run failed";
  const metadata = info?.metadata ?? {};
  const { runId } = event;
  if (told.code === FailureCode.CANCELLED) {
    return new RunCancelledError(message, { metadata: { ...metadata, run_id: runId } });
  }
  // A code of a later version of the contract is told by its name.
  const failureCode = (FailureCode[told.code] ?? info?.reason ?? "unspecified").toLowerCase();
  const { retryable, usage, snapshot } = told;
  return new RunFailedError(message, { failureCode, retryable, runId, usage, snapshot, metadata, retryAfterMs });
}
