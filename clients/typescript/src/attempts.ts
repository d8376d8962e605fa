/** The streams that start an attempt, and those that only look on. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Connection } from "./connection.js";
import { ClewError, NotFoundError } from "./errors.js";
import { isLogged, isTerminal } from "./event_kinds.js";
import { EventReader, type Opening, type Response } from "./event_reader.js";
import type { Event } from "./gen/clew/v1/event_pb.js";
import type {
  DecideRequestSchema,
  ResumeRequestSchema,
  RetryRequestSchema,
  SendRequestSchema,
} from "./gen/clew/v1/run_service_pb.js";
import { newRequestId } from "./options.js";
import { Position } from "./position.js";

/** A request that starts an attempt, by its call. */
export type Start = { requestId: string } & (
  | { rpc: "send"; request: MessageInitShape<typeof SendRequestSchema> }
  | { rpc: "decide"; request: MessageInitShape<typeof DecideRequestSchema> }
  | { rpc: "resume"; request: MessageInitShape<typeof ResumeRequestSchema> }
  | { rpc: "retry"; request: MessageInitShape<typeof RetryRequestSchema> }
);

/** What an attempt belongs to. */
export interface AttemptOptions {
  /** Empty for a run without a thread. */
  threadId: string;
  actor: string;
  timeoutMs: number | undefined;
}

/**
 * A send, decide, resume or retry, to the end of its attempt.
 *
 * Until the attempt is known to have started, a stream that breaks is asked for again with the same request id, which the server answers with the
 * attempt that the first one started, if it did. From then on the thread is watched.
 */
export class Attempt extends EventReader {
  readonly #start: (connection: Connection) => Start | Promise<Start>;
  readonly #options: AttemptOptions;
  #started: Start | undefined;

  /** `start` makes the request, once the server can be asked what it is about. */
  constructor(
    connect: () => Connection,
    start: (connection: Connection) => Start | Promise<Start>,
    options: AttemptOptions,
  ) {
    super(connect, new Position(undefined, true), options.timeoutMs);
    this.#start = start;
    this.#options = options;
  }

  protected override async prepare(connection: Connection): Promise<void> {
    this.#started ??= await this.#start(connection);
  }

  /** The request as long as nothing is known of it, then a watch of its run. */
  protected override openCall(connection: Connection, opening: Opening): AsyncIterable<Response> {
    const { runs } = connection;
    const { threadUid, cursor, runId } = this.position;
    if (cursor !== undefined) {
      return runs.watch({ threadId: this.#options.threadId, threadUid, afterVersion: cursor, runId }, opening);
    }
    const start = this.#started;
    switch (start?.rpc) {
      case "send":
        return runs.send(start.request, opening);
      case "decide":
        return runs.decide(start.request, opening);
      case "resume":
        return runs.resume(start.request, opening);
      case "retry":
        return runs.retry(start.request, opening);
      case undefined:
        throw new Error("a call is opened when its request is made");
    }
  }

  /** The attempt's one terminal event ends it. */
  protected override endsWith(event: Event): boolean {
    return isTerminal(event);
  }

  /** A run without a thread is in no log, and cancelled when its stream breaks. */
  protected override mayRejoin(): boolean {
    return this.#options.threadId !== "" || !this.position.started;
  }

  /** Cancels the run; before it is known, what the request began or waits for. A run without a thread ends with its call. */
  protected override async part(connection: Connection, signal: AbortSignal): Promise<void> {
    if (this.#options.threadId === "" || this.#started === undefined) {
      return;
    }
    while (!this.over && !signal.aborted) {
      const { started } = this.position;
      const { heard } = this;
      try {
        await this.#cancel(connection, this.#started.requestId, signal);
        return;
      } catch (error) {
        if (!(error instanceof NotFoundError)) {
          throw error;
        }
      }
      // The thread is gone; or a newer run has taken the place of this one, which has ended then; or else the request has not come yet,
      // which its stream shows when it has.
      if (started || !this.connected) {
        return;
      }
      if (this.heard === heard) {
        await this.learn(connection);
      }
    }
  }

  async #cancel(connection: Connection, requestId: string, signal: AbortSignal): Promise<void> {
    const { started, runId } = this.position;
    const cancel = {
      threadId: this.#options.threadId,
      runId,
      startedByRequestId: started ? "" : requestId,
      requestId: newRequestId(),
      actor: this.#options.actor,
    };
    const { leaveTimeoutMs: timeoutMs } = connection.settings;
    try {
      await connection.ask(connection.runs.cancelRun, cancel, { signal, timeoutMs });
    } catch (error) {
      if (error instanceof NotFoundError || !(error instanceof ClewError)) {
        throw error;
      }
      const what = runId === "" ? `of request ${requestId}` : runId;
      console.warn(`clew: run ${what} of thread ${cancel.threadId} was left and goes on: ${error.message}`);
    }
  }
}

/** What to watch. */
export interface WatchScope {
  threadId: string;
  afterVersion: bigint;
  runId: string;
  follow: boolean;
  timeoutMs: number | undefined;
}

/** A thread's events after a version. Leaving it has no effect on any run. */
export class Watch extends EventReader {
  readonly #scope: WatchScope;
  #rests = false;

  constructor(connect: () => Connection, scope: WatchScope) {
    super(connect, new Position(scope.afterVersion, false), scope.timeoutMs);
    this.#scope = scope;
  }

  /** The log after the cursor, then what happens. */
  protected override openCall(connection: Connection, opening: Opening): AsyncIterable<Response> {
    const { threadId, runId, follow } = this.#scope;
    const { threadUid, cursor } = this.position;
    return connection.runs.watch({ threadId, threadUid, afterVersion: cursor ?? 0n, runId, follow }, opening);
  }

  /** A run's first terminal event ends a watch of that run; the server ends the others. */
  protected override endsWith(event: Event): boolean {
    if (isLogged(event)) {
      this.#rests = isTerminal(event);
    }
    return this.#scope.runId !== "" && isTerminal(event);
  }

  /** After a terminal event the thread is at rest. */
  protected override ended(): boolean {
    return this.#rests && !this.#scope.follow;
  }

  /** Nothing is due. */
  protected override async part(): Promise<void> {}
}
