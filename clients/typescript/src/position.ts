/** Where a reader is in a thread's log: what it has whole, what it has in part, and so what is new to it. */

import { isLogged, isTerminal } from "./event_kinds.js";
import type { Event } from "./gen/clew/v1/event_pb.js";
import { ShownText } from "./shown_text.js";

interface Place {
  version: bigint;
  /** Which event of the version, from 1. */
  number: number;
}

/**
 * Takes the events of one connection after the other, and gives each one once.
 *
 * The cursor moves only where a version is whole; it is undefined until the first logged event tells it. Events of one write come in a fixed order,
 * so that a part of them, read before a connection broke, is known by its number.
 */
export class Position {
  /** The last version that the reader has whole. */
  cursor: bigint | undefined;
  runId = "";
  threadUid = "";
  readonly #text: ShownText;
  #furthest: Place = { version: 0n, number: 0 };
  #here: Place = { version: 0n, number: 0 };
  #endedAt = -1n;

  /** With `complete` the reader is owed the text of every message, also of one that it saw nothing of. */
  constructor(cursor: bigint | undefined, complete: boolean) {
    this.cursor = cursor;
    this.#text = new ShownText(complete);
  }

  /** Whether the log may be read on from here. */
  get started(): boolean {
    return this.cursor !== undefined;
  }

  /** Another connection carries the stream from here on. */
  join(): void {
    this.#here = { version: 0n, number: 0 };
    this.#text.join();
  }

  /** What the reader has not had of it; kinds that this version does not know only move the cursor. */
  accept(event: Event): Event[] {
    if (event.payload.case === undefined) {
      if (this.cursor !== undefined && event.version > this.cursor) {
        this.#advance(event);
      }
      return [];
    }
    return !isLogged(event) || this.#isNew(event) ? this.#text.show(event) : [];
  }

  #isNew(event: Event): boolean {
    if (this.cursor === undefined) {
      this.cursor = event.version - 1n;
      this.runId = event.runId;
    }
    this.threadUid = event.threadUid;
    const terminal = isTerminal(event);
    // A thread at rest says its last word again to whoever asks; a reader that has it needs it no more.
    const isNew = event.version > this.cursor ? this.#advance(event) : terminal && this.#endedAt !== event.version;
    if (terminal) {
      this.#endedAt = event.version;
    }
    return isNew;
  }

  #advance(event: Event): boolean {
    const number = this.#here.version === event.version ? this.#here.number + 1 : 1;
    this.#here = { version: event.version, number };
    const isNew = isBeyond(this.#here, this.#furthest);
    if (isNew) {
      this.#furthest = this.#here;
    }
    if (event.lastOfVersion) {
      this.cursor = event.version;
    }
    return isNew;
  }
}

function isBeyond(place: Place, other: Place): boolean {
  return place.version > other.version || (place.version === other.version && place.number > other.number);
}
