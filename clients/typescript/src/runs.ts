/** The verbs of a thread that start, continue, watch and stop runs. */

import { Attempt, type Start, Watch } from "./attempts.js";
import type { CallOptions, Connection } from "./connection.js";
import { type Decision, decisionsOf } from "./decisions.js";
import { IdInvalidError } from "./errors.js";
import type { Checkpoint } from "./gen/clew/v1/checkpoint_pb.js";
import { encodeJson, type JsonObject, type JsonValue } from "./json_text.js";
import { frameOf, named, type RunOptions, type WriteOptions, whole } from "./options.js";
import { pendingIds } from "./pending.js";
import { refusedArgument } from "./refused_argument.js";
import { type Address, type Input, runRequest, type SendOptions, sendRequest } from "./requests.js";
import { EventStream } from "./streams.js";

/** What approvals a verb is about. */
export interface ApprovalOptions extends RunOptions {
  /** Their ids, one at least; all that the thread waits for unless given. */
  ids?: readonly string[] | undefined;
}

/** How tool calls are approved. */
export interface ApproveOptions extends ApprovalOptions {
  /** Other arguments for the calls to run with. */
  arguments?: JsonObject | undefined;
}

/** What to watch of a thread, and for how long. */
export interface WatchOptions {
  /** The version after which to begin; from the beginning unless given. */
  afterVersion?: number | bigint | undefined;
  /** End with this run's first end after the version. */
  runId?: string | undefined;
  /** Stay for later runs, until the reader leaves. */
  follow?: boolean | undefined;
  /** How long to watch at most, in milliseconds. */
  timeoutMs?: number | undefined;
  /** Leaves the stream; reading it rejects with the signal's reason then. */
  signal?: AbortSignal | undefined;
}

/** Which run to cancel. */
export interface CancelOptions extends WriteOptions, CallOptions {
  /** Only this run; the one at the thread's head unless given. */
  runId?: string | undefined;
  /** Instead: the `requestId` of a send, decide, resume or retry, whose attempt is cancelled, or which leaves the queue. */
  startedByRequestId?: string | undefined;
}

/** What can be done with the runs of a thread. What starts or continues one gives a stream of its events, and the stream its reply. */
export class Runs {
  /** The thread's id. */
  readonly id: string;
  /** The app that it is used for; empty for the thread's own. */
  readonly app: string;
  /** On whose behalf it is used; may be empty. */
  readonly actor: string;
  /** @internal */
  protected readonly connect: () => Connection;

  /** @internal */
  constructor(connect: () => Connection, id: string, app: string, actor: string) {
    if (typeof id !== "string" || id === "") {
      // Said here, since a request without one is a run without a thread: the server would take it, and keep nothing.
      throw new IdInvalidError("thread_id: an id is needed: 1 to 128 characters", { metadata: { field: "thread_id" } });
    }
    this.id = id;
    this.app = app;
    this.actor = actor;
    this.connect = connect;
  }

  /** Sends a message and runs its turn. Makes the thread where there is none. */
  send(message: Input, options: SendOptions = {}): EventStream {
    return this.#started(sendRequest(this.#address, message, options), options);
  }

  /** Runs a workflow with the values that it starts with. Makes the thread where there is none. */
  run(values: JsonObject, options: SendOptions = {}): EventStream {
    return this.#started(runRequest(this.#address, values, options), options);
  }

  /** Decides approvals, all or none. The run goes on when the last one that it waits for is decided. */
  decide(decisions: readonly Decision[], options: RunOptions = {}): EventStream {
    const frame = frameOf(options, this.actor);
    const request = { ...frame, threadId: this.id, decisions: decisionsOf(decisions) };
    return this.#started({ rpc: "decide", requestId: frame.requestId, request }, options);
  }

  /** Approves tool calls: all that the thread waits for, or those of the ids. Throws ResumeInvalidError where nothing waits. */
  approve(options: ApproveOptions = {}): EventStream {
    const { arguments: given } = options;
    return this.#decideEach((id) => (given === undefined ? { id, approve: true } : { id, arguments: given }), options);
  }

  /** Rejects tool calls and pauses: all that the thread waits for, or those of the ids. The model reads the reason. */
  reject(reason = "", options: ApprovalOptions = {}): EventStream {
    return this.#decideEach((id) => ({ id, reject: reason }), options);
  }

  /** Answers the one pause that the thread waits with. */
  resume(value: JsonValue, options: RunOptions = {}): EventStream {
    const frame = frameOf(options, this.actor);
    const target = { case: "threadId", value: this.id } as const;
    const request = { ...frame, target, valueJson: encodeJson(value, "value_json") };
    return this.#started({ rpc: "resume", requestId: frame.requestId, request }, options);
  }

  /** Continues a failed, cancelled or interrupted run where it stopped. Finished tool calls are not run again. */
  retry(options: RunOptions = {}): EventStream {
    const frame = frameOf(options, this.actor);
    return this.#started(
      { rpc: "retry", requestId: frame.requestId, request: { ...frame, threadId: this.id } },
      options,
    );
  }

  /**
   * Streams what is in the log after a version, then what happens: until the thread is at rest, until the end of `runId`, or with `follow` for ever.
   * Leaving it has no effect on any run.
   */
  watch(options: WatchOptions = {}): EventStream {
    const { afterVersion = 0n, runId = "", follow = false, timeoutMs, signal } = options;
    const scope = { threadId: this.id, afterVersion: whole(afterVersion, "after_version"), runId, follow, timeoutMs };
    return new EventStream(new Watch(this.connect, scope), signal);
  }

  /** Cancels the run at the thread's head, and gives the head when that is written. */
  async cancel(options: CancelOptions = {}): Promise<Checkpoint> {
    const { runId = "", startedByRequestId = "" } = options;
    const to = this.connect();
    const request = { ...named(options), threadId: this.id, runId, startedByRequestId, actor: this.actor };
    return present((await to.ask(to.runs.cancelRun, request, options)).checkpoint);
  }

  get #address(): Address {
    return { threadId: this.id, app: this.app, actor: this.actor };
  }

  #started(start: Start, options: RunOptions): EventStream {
    return this.#attempt(() => start, options);
  }

  #attempt(start: (connection: Connection) => Start | Promise<Start>, options: RunOptions): EventStream {
    const { timeoutMs, signal } = options;
    const attempt = new Attempt(this.connect, start, { threadId: this.id, actor: this.actor, timeoutMs });
    return new EventStream(attempt, signal);
  }

  #decideEach(decide: (id: string) => Decision, options: ApprovalOptions): EventStream {
    const { ids } = options;
    if (ids !== undefined) {
      if (ids.length === 0) {
        // Whoever has filtered all of them away does not mean all of them.
        throw refusedArgument("ids", "one id at least, or leave them out for all that waits");
      }
      return this.decide(ids.map(decide), options);
    }
    const frame = frameOf(options, this.actor);
    // Checks what each decision says before anything is asked.
    decisionsOf([decide("")]);
    return this.#attempt(async (to) => {
      const { ids: waiting, version } = await pendingIds(to, this.id, frame.expectedVersion);
      const decisions = decisionsOf(waiting.map(decide));
      const request = { expectedVersion: version, ...frame, threadId: this.id, decisions };
      return { rpc: "decide", requestId: frame.requestId, request };
    }, options);
  }
}

/** A part of an answer that the contract says is there. */
export function present<T>(part: T | undefined): T {
  if (part === undefined) {
    throw new Error("the server's answer lacks a part that the contract says is there");
  }
  return part;
}
