/** Streams as their readers hold them. */

import { ClewError, StreamCutError } from "./errors.js";
import type { EventReader } from "./event_reader.js";
import type { Event } from "./gen/clew/v1/event_pb.js";
import { Ending, type Reply } from "./replies.js";

/**
 * The events of a thread, or of one attempt, to iterate over once. Nothing is sent before the first is asked for, and a refusal is thrown then.
 *
 * Leaving an attempt's stream (breaking out of the loop, `return()` of its iterator, `leave()`, the signal that it was given) cancels its run,
 * which `retry` continues, and waits until that has its effect.
 */
export class EventStream implements AsyncIterable<Event>, AsyncDisposable {
  readonly #reader: EventReader;
  readonly #signal: AbortSignal | undefined;
  readonly #ending = new Ending();
  #state: "new" | "read" | "ended" = "new";
  #error: unknown;

  /** @internal */
  constructor(reader: EventReader, signal?: AbortSignal) {
    this.#reader = reader;
    this.#signal = signal;
  }

  /** Iterates over the events. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Event, undefined> {
    if (this.#state !== "new") {
      throw new Error("a stream can be iterated over once; make another one");
    }
    this.#state = "read";
    const items = this.#items();
    const iterator: AsyncIterableIterator<Event, undefined> = {
      next: () => items.next(),
      // Also while an event is waited for: a generator alone would end when that has come.
      return: async () => {
        await this.leave();
        return items.return(undefined);
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  /**
   * Reads what is left of the stream, and gives the reply. Throws RunFailedError or RunCancelledError for a run that failed, and what the stream
   * failed with. Not while the events are iterated over, but after that.
   */
  async reply(): Promise<Reply> {
    if (this.#state === "new") {
      for await (const _ of this);
    }
    if (this.#state === "read") {
      throw new Error("the stream is being read; ask for the reply when it has ended");
    }
    if (this.#error !== undefined) {
      throw this.#error;
    }
    const reply = await this.#ending.reply((threadId) => this.#reader.waiting(threadId));
    if (reply === undefined && this.#reader.left) {
      throw new ClewError("the stream was left before its end", { code: "stream_left" });
    }
    if (reply === undefined) {
      throw new StreamCutError("the stream ended without a word on the run; watch the thread for the rest");
    }
    return reply;
  }

  /** Leaves the stream, and waits until that has its effect. Harmless when it is over, or was not begun. */
  async leave(): Promise<void> {
    if (this.#state !== "new") {
      await this.#reader.leave();
    }
  }

  /** As `leave`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.leave();
  }

  async *#items(): AsyncGenerator<Event, undefined> {
    const reader = this.#reader;
    const leave = (): void => void reader.leave();
    try {
      this.#signal?.throwIfAborted();
      this.#signal?.addEventListener("abort", leave);
      for (let events = await reader.read(); events.length > 0; events = await reader.read()) {
        for (const event of events) {
          if (!reader.left) {
            this.#ending.take(event);
            yield event;
          }
        }
      }
      if (reader.left) {
        await reader.leave();
        this.#signal?.throwIfAborted();
      }
    } catch (error) {
      this.#error = error;
      reader.close();
      throw error;
    } finally {
      this.#state = "ended";
      this.#signal?.removeEventListener("abort", leave);
    }
    return undefined;
  }
}
