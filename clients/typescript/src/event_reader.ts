/** A stream of events that outlives the connections which carry it. */

import { ConnectError } from "@connectrpc/connect";
import type { Connection, Leavable } from "./connection.js";
import { type ClewError, DeadlineExceededError, StreamCutError } from "./errors.js";
import type { Approval } from "./gen/clew/v1/approval_pb.js";
import type { Event } from "./gen/clew/v1/event_pb.js";
import { Line, SilentError } from "./line.js";
import { Patience } from "./patience.js";
import { waitingApprovals } from "./pending.js";
import type { Position } from "./position.js";
import { isBreak } from "./refusals.js";
import { checkMs, pause } from "./times.js";

const DRAIN_MS = 250;

/** Every streaming response of the contract that carries events. */
export interface Response {
  events: Event[];
}

/** How one call is opened. */
export interface Opening {
  signal: AbortSignal;
  timeoutMs?: number;
}

/** Reads events until the stream is `over`, and opens it anew where it breaks. */
export abstract class EventReader implements Leavable {
  readonly position: Position;
  /** Whether nothing more comes: the end was read, or the stream failed. */
  over = false;
  readonly #connect: () => Connection;
  readonly #timeoutMs: number | undefined;
  readonly #gone = new AbortController();
  #deadline = Number.POSITIVE_INFINITY;
  #line: Line<Response> | undefined;
  #leaving: Promise<void> | undefined;
  #patience: Patience | undefined;
  #broken = "";
  #opened = 0;
  #heard = 0;
  #last: Response | undefined;

  constructor(connect: () => Connection, position: Position, timeoutMs: number | undefined) {
    if (timeoutMs !== undefined) {
      checkMs(timeoutMs, "timeoutMs");
    }
    this.position = position;
    this.#connect = connect;
    this.#timeoutMs = timeoutMs;
  }

  /** What has to be known before a call can be opened. */
  protected async prepare(_connection: Connection): Promise<void> {}

  /** Begins where the position is. */
  protected abstract openCall(connection: Connection, opening: Opening): AsyncIterable<Response>;

  /** Whether the stream is over with this event. */
  protected abstract endsWith(event: Event): boolean;

  /** What is due when the reader leaves before the end, until the signal says that it takes too long. */
  protected abstract part(connection: Connection, signal: AbortSignal): Promise<void>;

  /** Whether a stream that broke can be opened anew without doing anything twice. */
  protected mayRejoin(): boolean {
    return true;
  }

  /** Whether a stream that the server ended in good order is at its end, and was not just cut. */
  protected ended(): boolean {
    return this.over;
  }

  /** Whether it was left. */
  get left(): boolean {
    return this.#leaving !== undefined;
  }

  /** The next events, one or more; none when the stream is over, or was left. Throws what ended it otherwise. */
  async read(): Promise<Event[]> {
    if (this.left) {
      return [];
    }
    const connection = this.#begin();
    while (!this.over) {
      let response: Response | undefined;
      try {
        response = await this.#next(connection);
      } catch (broken) {
        if (this.left) {
          return [];
        }
        await this.#mend(connection, broken);
        continue;
      }
      if (this.left) {
        if (response !== undefined) {
          // Whoever leaves needs to know how the request stands.
          this.#take(response);
        }
        return [];
      }
      if (response !== undefined) {
        const events = this.#take(response);
        if (events.length > 0) {
          return events;
        }
      } else if (this.ended()) {
        this.over = true;
      } else {
        await this.#mend(connection, undefined);
      }
    }
    await this.#drain();
    return [];
  }

  /** Ends the stream on purpose. Harmless when it is over. */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave(this.#connect());
    return this.#leaving;
  }

  /** Gives up the call that is open, if any, without a word. */
  close(): void {
    this.#hangUp();
    this.#connect().open.delete(this);
  }

  /** What the thread waits for now. */
  waiting(threadId: string): Promise<Approval[]> {
    return waitingApprovals(this.#connect(), threadId);
  }

  /** Whether a call is open. */
  protected get connected(): boolean {
    return this.#line !== undefined;
  }

  /** How many responses have come. */
  protected get heard(): number {
    return this.#heard;
  }

  /** Waits for what is on its way, to know how the request stands. */
  protected async learn(connection: Connection): Promise<void> {
    const response = await this.#next(connection);
    if (response !== undefined) {
      this.#take(response);
    } else {
      this.over = true;
    }
  }

  #begin(): Connection {
    const connection = this.#connect();
    connection.open.add(this);
    if (this.#patience === undefined) {
      this.#patience = new Patience(connection.settings);
      this.#deadline = performance.now() + (this.#timeoutMs ?? Number.POSITIVE_INFINITY);
    }
    return connection;
  }

  async #next(connection: Connection): Promise<Response | undefined> {
    if (this.#line === undefined) {
      await this.prepare(connection);
      if (this.left) {
        return undefined;
      }
      const opening = this.#timeLeft();
      this.#line = new Line((signal) => this.openCall(connection, { ...opening, signal }));
      if (this.#opened > 0) {
        this.position.join();
      }
      this.#opened += 1;
    }
    // Only a run that is under way sends heartbeats for sure.
    return this.#line.read(this.position.started ? connection.settings.silenceMs : undefined);
  }

  #timeLeft(): { timeoutMs?: number } {
    if (this.#timeoutMs === undefined) {
      return {};
    }
    const left = this.#deadline - performance.now();
    if (left <= 0) {
      const target = this.#connect().settings.target;
      const why = this.#broken === "" ? "" : ` The last that is known of ${target}: ${this.#broken}`;
      throw new DeadlineExceededError(
        `the call's timeout is over; a run that has started goes on, and a watch of the thread shows it.${why}`,
      );
    }
    return { timeoutMs: Math.ceil(left) };
  }

  #take(response: Response): Event[] {
    if (response === this.#last) {
      // Read by whoever leaves as well, and taken already.
      return [];
    }
    this.#last = response;
    this.#heard += 1;
    this.#patience?.heard();
    const events: Event[] = [];
    for (const wire of response.events) {
      for (const event of this.position.accept(wire)) {
        events.push(event);
        this.over ||= this.endsWith(event);
      }
    }
    return events;
  }

  /** Waits a moment, if it makes sense to try again. Throws what ended the stream if not. */
  async #mend(connection: Connection, broken: unknown): Promise<void> {
    this.#hangUp();
    let error: ClewError = this.#cut();
    let mendable = true;
    if (broken instanceof ConnectError) {
      error = connection.errorOf(broken);
      mendable = isBreak(broken);
    } else if (broken !== undefined && !(broken instanceof SilentError)) {
      // Not of the stream: what it needs to know first could not be read, or its time is over.
      this.over = true;
      throw broken;
    }
    this.#broken = error.message;
    const wait = mendable && this.mayRejoin() ? this.#patience?.pause() : undefined;
    if (wait === undefined) {
      // The stream is over, and nobody left it: the run goes on, if it does.
      this.over = true;
      throw error;
    }
    await pause(wait, this.#gone.signal);
  }

  #cut(): ClewError {
    const version = String(this.position.cursor ?? 0n);
    return new StreamCutError(
      `the stream broke off after version ${version}, and could not be joined again in time; watch the thread for the rest`,
      { metadata: { version } },
    );
  }

  /** The end of a call that has said its last word, so that it counts as one that went well. */
  async #drain(): Promise<void> {
    await this.#line?.read(DRAIN_MS).catch(() => undefined);
    this.close();
  }

  async #leave(connection: Connection): Promise<void> {
    this.#gone.abort();
    const limit = new AbortController();
    const timer = setTimeout(() => {
      limit.abort();
      this.#hangUp();
    }, connection.settings.leaveTimeoutMs);
    try {
      if (!this.over && this.#opened > 0) {
        await this.part(connection, limit.signal);
      }
    } catch {
      // The call broke, or it took too long: what could be done is done, and the run ends or goes on by itself.
    } finally {
      clearTimeout(timer);
      this.close();
    }
  }

  #hangUp(): void {
    this.#line?.close();
    this.#line = undefined;
  }
}
