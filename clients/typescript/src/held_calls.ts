/** A call that a worker has: its tool runs, or its outcome is on its way to a server. */

import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Connection } from "./connection.js";
import { CallNotPendingError, ClewError, InvalidError, StateTooLargeError, ThreadInterruptedError } from "./errors.js";
import { type CallName, CallNameSchema, type WorkerCall } from "./gen/clew/v1/worker_pb.js";
import { decodeJson, encodeJson, type JsonObject } from "./json_text.js";
import type { OfferedTool } from "./offered_tools.js";
import { pause } from "./times.js";
import type { ToolCall } from "./tool_calls.js";
import { failureOf, type Outcome, resultOf, unkept } from "./tool_outcomes.js";

// How long one try to bring an outcome may take.
const FINISH_MS = 30_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** Milliseconds before the next try. Workers that lost one server do not come back all at once. */
export function pauseMs(tries: number, random: () => number = Math.random): number {
  return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(tries, 16)) * (0.5 + 0.5 * random());
}

/** Runs the tool of one call, and keeps what came of it until a server has it. */
export class HeldCall {
  readonly #wire: WorkerCall;
  readonly #name: CallName;
  readonly #workerId: string;
  readonly #connection: Connection;
  readonly #abort = new AbortController();
  // Ends the pause between two tries.
  #hurry = new AbortController();
  #outcome: Outcome | undefined;
  #again: WorkerCall | undefined;

  constructor(wire: WorkerCall, workerId: string, connection: Connection) {
    this.#wire = wire;
    this.#name = wire.name ?? create(CallNameSchema);
    this.#workerId = workerId;
    this.#connection = connection;
  }

  /** Its name, as a server is told of it; undefined where it is this worker's no longer, though its tool may not have ended yet. */
  get name(): CallName | undefined {
    return this.#abort.signal.aborted ? this.#again?.name : this.#name;
  }

  /** It was given once more: what runs goes on, and what came of it is brought at once. */
  comeAgain(wire: WorkerCall): void {
    if (this.#outcome !== undefined || this.#abort.signal.aborted) {
      this.#again = wire;
      this.#hurry.abort();
    }
  }

  /** Nobody wants it from this worker any more: its tool is told to stop, and nothing is brought. */
  revoke(): void {
    this.#again = undefined;
    this.#abort.abort(new Error(`nobody wants this call of ${this.#wire.tool} from this worker any more`));
    this.#hurry.abort();
  }

  /** To its end. Gives the call that came meanwhile, where that has to be begun now. Does not throw. */
  async carryOut(tool: OfferedTool | undefined): Promise<WorkerCall | undefined> {
    this.#outcome = await this.#run(tool);
    const retried = await this.#bring(this.#outcome);
    return retried || this.#abort.signal.aborted ? this.#again : undefined;
  }

  async #run(tool: OfferedTool | undefined): Promise<Outcome> {
    try {
      if (tool === undefined) {
        throw new Error(`this worker has no tool ${this.#wire.tool}`);
      }
      const args = decodeJson(this.#wire.argumentsJson || "{}") as JsonObject;
      return resultOf(await tool.run(args, this.#told()));
    } catch (error) {
      return failureOf(error);
    }
  }

  /** The call as its tool knows it. */
  #told(): ToolCall {
    const { tool, runId, toolCallId, actor, delivery, expireTime } = this.#wire;
    return {
      tool,
      threadId: this.#name.threadId,
      runId,
      toolCallId,
      idempotencyKey: this.#name.idempotencyKey,
      actor,
      delivery,
      deadline: expireTime === undefined ? undefined : timestampDate(expireTime),
      signal: this.#abort.signal,
      report: (progress) => this.#report(encodeJson(progress, "progress")),
    };
  }

  async #report(progressJson: string): Promise<void> {
    const request = { workerId: this.#workerId, call: this.#name, progressJson };
    const { workers } = this.#connection;
    const told = this.#connection.ask(workers.reportProgress, request, { signal: this.#abort.signal });
    await told.catch(() => undefined);
  }

  /** Until a server has the outcome, or says that nobody wants it; whether the call is tried again instead. */
  async #bring(outcome: Outcome): Promise<boolean> {
    const { signal } = this.#abort;
    const { workers } = this.#connection;
    let brought = outcome;
    for (let tries = 0; !signal.aborted; tries += 1) {
      this.#hurry = new AbortController();
      const request = { workerId: this.#workerId, call: this.#name, outcome: brought };
      try {
        const response = await this.#connection.ask(workers.finishCall, request, { signal, timeoutMs: FINISH_MS });
        return response.retried;
      } catch (error) {
        if (signal.aborted || error instanceof CallNotPendingError) {
          return false;
        }
        if (error instanceof InvalidError || error instanceof StateTooLargeError) {
          if (brought.case === "error") {
            console.error(`clew: what became of a call of ${this.#wire.tool} cannot be told: ${error.message}`);
            return false;
          }
          brought = unkept(this.#wire.tool, error.message);
          continue;
        }
        if (tries === 0 && !(error instanceof ThreadInterruptedError)) {
          const why = error instanceof ClewError ? error.message : String(error);
          console.warn(`clew: the outcome of a call of ${this.#wire.tool} could not be brought, and is kept: ${why}`);
        }
      }
      await pause(pauseMs(tries), this.#hurry.signal);
    }
    return false;
  }
}
