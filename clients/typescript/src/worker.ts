/** A worker: tools that this process, or this page, runs for agents, whatever servers those are on. */

import type { Connection } from "./connection.js";
import { InvalidError, LeaseLostError, PermissionDeniedError, UnauthenticatedError } from "./errors.js";
import type { CallName, WorkerCall } from "./gen/clew/v1/worker_pb.js";
import type { WorkResponse } from "./gen/clew/v1/worker_service_pb.js";
import { HeldCall, pauseMs } from "./held_calls.js";
import type { JsonObject } from "./json_text.js";
import { Latch } from "./latch.js";
import { Line } from "./line.js";
import { count, type OfferedTool, offeredTool, type ToolFunction, type ToolOptions } from "./offered_tools.js";
import { refusedArgument } from "./refused_argument.js";
import { checkMs, millisOf, pause } from "./times.js";

/** What a worker is. */
export interface WorkerOptions {
  /** Its own name for itself, another one for each process; left to chance unless given. */
  id?: string | undefined;
  /** How many calls it takes at a time over all its tools, 1 to 1,000; 10 unless given. */
  maxCalls?: number | undefined;
  /** Take calls of this thread alone; of all unless given. */
  threadId?: string | undefined;
}

/** How a worker is stopped. */
export interface DrainOptions {
  /** Milliseconds to wait for calls that are being run; 30 s unless given. */
  timeoutMs?: number | undefined;
}

// What no later try mends.
const FINAL = [InvalidError, LeaseLostError, PermissionDeniedError, UnauthenticatedError];
const DRAIN_MS = 30_000;
// How long a worker that has nothing left waits for its server to end the stream.
const LAST_WORD_MS = 2_000;

/** What is there while a worker runs. */
interface Running {
  readonly connection: Connection;
  /** Ends everything, and leaves the calls to their leases. */
  readonly stop: AbortController;
  /** Ends the stream of calls alone. */
  readonly leave: AbortController;
  /** Open when no more calls come. */
  readonly left: Latch;
}

/**
 * Runs tools; made by `client.worker()`.
 *
 * It keeps what came of a call until a server has written that down, over broken connections and restarts of the server. Where this process dies, the
 * calls that it had are given to another worker, but for those that are `once`: people are asked what became of them.
 */
export class Worker {
  /** Its own name for itself. */
  readonly id: string;
  readonly #connect: () => Connection;
  readonly #maxCalls: number;
  readonly #threadId: string;
  readonly #tools = new Map<string, OfferedTool>();
  readonly #held = new Map<string, HeldCall>();
  readonly #registered = new Latch(false);
  readonly #idle = new Latch(true);
  #leaseMs = 30_000;
  #draining = false;
  #running: Running | undefined;

  /** @internal */
  constructor(connect: () => Connection, options: WorkerOptions) {
    this.#connect = connect;
    this.id = options.id || `worker-${randomHex(8)}`;
    this.#maxCalls = count(options.maxCalls, "max_calls");
    this.#threadId = options.threadId ?? "";
  }

  /**
   * Offers a function as a tool: `worker.tool({ name: "charge", once: true }, async ({ order }, call) => …)`.
   *
   * Throws ArgumentInvalidError for what no tool is, and where there is one of that name; StateInvalidError for a schema that is no JSON.
   */
  tool<Arguments = JsonObject>(options: ToolOptions, run: ToolFunction<Arguments>): this {
    const tool = offeredTool(options, run as ToolFunction);
    if (this.#tools.has(tool.offer.name)) {
      throw refusedArgument("name", `this worker already has a tool ${tool.offer.name}`);
    }
    this.#tools.set(tool.offer.name, tool);
    return this;
  }

  /**
   * Takes calls until `drain`; broken connections are mended for as long as it takes.
   *
   * Throws what no later try mends: InvalidError for a tool that the server refuses, UnauthenticatedError and PermissionDeniedError, or LeaseLostError
   * when another process has come under this worker's id. When `signal` comes it rejects with its reason, and what runs is cancelled, as when the
   * client is closed.
   */
  async run({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    if (this.#running !== undefined) {
      throw new Error("this worker runs already");
    }
    signal?.throwIfAborted();
    const connection = this.#connect();
    const running = { connection, stop: new AbortController(), leave: new AbortController(), left: new Latch(false) };
    const stop = (): void => {
      running.stop.abort();
      running.leave.abort();
      this.#idle.open();
    };
    const leavable = { leave: async () => stop() };
    this.#running = running;
    running.stop.signal.addEventListener("abort", stop, { once: true });
    signal?.addEventListener("abort", stop, { once: true });
    connection.open.add(leavable);
    void this.#renew(running);
    try {
      await this.#takeCalls(running);
      await this.#idle.wait();
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener("abort", stop);
      connection.open.delete(leavable);
      stop();
      running.left.open();
      this.#running = undefined;
      this.#registered.close();
      for (const held of this.#held.values()) {
        held.revoke();
      }
      this.#held.clear();
    }
  }

  /** Waits until a server has registered this worker. */
  async ready(): Promise<void> {
    await this.#registered.wait();
  }

  /**
   * Takes no more calls, finishes those that are there, and lets `run` end. What is not done when its time is over is cancelled, and left to its
   * lease. Throws ArgumentInvalidError for a time that is none.
   */
  async drain({ timeoutMs = DRAIN_MS }: DrainOptions = {}): Promise<void> {
    checkMs(timeoutMs, "timeout");
    this.#draining = true;
    const running = this.#running;
    if (running === undefined) {
      return;
    }
    const { connection, leave, left, stop } = running;
    const until = performance.now() + timeoutMs;
    const rest = (): number => Math.max(0, until - performance.now());
    const told = {
      timeoutMs: Math.max(1, Math.ceil(Math.min(timeoutMs, connection.settings.timeoutMs))),
      signal: stop.signal,
    };
    await connection.ask(connection.workers.drainWorker, { workerId: this.id }, told).catch(() => undefined);
    let isDone = await this.#idle.wait(rest());
    if (isDone) {
      await left.wait(LAST_WORD_MS);
      leave.abort();
      // A server that did not hear of it may have given calls until now.
      isDone = await this.#idle.wait(rest());
    }
    if (!isDone) {
      console.warn(`clew: ${this.#held.size} calls were not done in time, and are left to their leases`);
      stop.abort();
    }
  }

  async #takeCalls(running: Running): Promise<void> {
    const { connection, leave, left } = running;
    let tries = 0;
    while (!this.#draining && !leave.signal.aborted) {
      try {
        for await (const response of this.#responses(running)) {
          tries = 0;
          this.#heed(response, connection);
        }
        break;
      } catch (error) {
        if (leave.signal.aborted) {
          break;
        }
        const broken = connection.errorOf(error);
        if (FINAL.some((kind) => broken instanceof kind)) {
          throw broken;
        }
        if (tries === 0) {
          console.warn(`clew: the stream of calls broke, and is opened again: ${broken.message}`);
        }
      }
      await pause(pauseMs(tries), leave.signal);
      tries += 1;
    }
    left.open();
  }

  /** One stream of calls. It is given up when nothing came for so long that the connection must be dead. */
  async *#responses({ connection, leave }: Running): AsyncGenerator<WorkResponse> {
    const request = {
      workerId: this.id,
      tools: [...this.#tools.values()].map((tool) => tool.offer),
      maxCalls: this.#maxCalls,
      threadId: this.#threadId,
      held: this.#names(),
    };
    const line = new Line((signal) => connection.workers.work(request, { signal }));
    const close = (): void => line.close();
    leave.signal.addEventListener("abort", close, { once: true });
    const { silenceMs } = connection.settings;
    try {
      for (let next = await line.read(silenceMs); next !== undefined; next = await line.read(silenceMs)) {
        yield next;
      }
    } finally {
      leave.signal.removeEventListener("abort", close);
      line.close();
    }
  }

  #heed(response: WorkResponse, connection: Connection): void {
    const lease = response.ready?.lease;
    if (lease !== undefined) {
      this.#leaseMs = millisOf(lease);
      this.#registered.open();
    }
    for (const { call } of response.revoked) {
      this.#held.get(keyOf(call))?.revoke();
    }
    for (const wire of response.calls) {
      this.#begin(wire, connection);
    }
  }

  /** Runs a call that is new here. */
  #begin(wire: WorkerCall, connection: Connection): void {
    const key = keyOf(wire.name);
    const known = this.#held.get(key);
    if (known !== undefined) {
      known.comeAgain(wire);
      return;
    }
    const held = new HeldCall(wire, this.id, connection);
    this.#held.set(key, held);
    this.#idle.close();
    void held.carryOut(this.#tools.get(wire.tool)).then((again) => {
      if (this.#held.get(key) !== held) {
        // The worker has ended meanwhile.
        return;
      }
      this.#held.delete(key);
      if (again !== undefined) {
        this.#begin(again, connection);
      }
      if (this.#held.size === 0) {
        this.#idle.open();
      }
    });
  }

  /** Says in good time that the calls are being worked on. */
  async #renew({ connection, stop }: Running): Promise<void> {
    const { signal } = stop;
    await this.#registered.wait();
    while (!signal.aborted) {
      await pause(this.#leaseMs / 3, signal);
      const calls = this.#names();
      if (calls.length === 0 || signal.aborted) {
        continue;
      }
      const limit = { signal, timeoutMs: Math.ceil(this.#leaseMs / 3) };
      try {
        const { revoked } = await connection.ask(connection.workers.renewCalls, { workerId: this.id, calls }, limit);
        for (const { call } of revoked) {
          this.#held.get(keyOf(call))?.revoke();
        }
      } catch {
        // The next comes before the lease is over.
      }
    }
  }

  /** All that is held, as a server is told of it. */
  #names(): CallName[] {
    return [...this.#held.values()].flatMap(({ name }) => (name === undefined ? [] : [name]));
  }
}

function keyOf(name: CallName | undefined): string {
  return JSON.stringify([name?.threadId, name?.idempotencyKey]);
}

function randomHex(bytes: number): string {
  return [...crypto.getRandomValues(new Uint8Array(bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
