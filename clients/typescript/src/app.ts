/** The handle of an app: an agent or workflow that the server runs. */

import { Attempt } from "./attempts.js";
import type { Connection } from "./connection.js";
import type { JsonObject } from "./json_text.js";
import type { Limits } from "./options.js";
import { type Input, runRequest, sendRequest } from "./requests.js";
import { EventStream } from "./streams.js";
import { Thread } from "./thread.js";

/** How an app is run without a thread. */
export interface OnceOptions {
  /** Values of the state to begin with. */
  state?: JsonObject | undefined;
  /** What the run may use. */
  limits?: Limits | undefined;
  /** For the whole call, in milliseconds; no limit unless given. */
  timeoutMs?: number | undefined;
  /** Leaves the stream, which cancels the run. */
  signal?: AbortSignal | undefined;
}

/** An app by its name. It runs on threads, or without one: then nothing is stored, and a stream that breaks has cancelled the run. */
export class App {
  /** Its name. */
  readonly name: string;
  readonly #connect: () => Connection;

  /** @internal */
  constructor(connect: () => Connection, name: string) {
    this.name = name;
    this.#connect = connect;
  }

  /** A handle on a thread of this app. `actor` is on whose behalf it is used. */
  thread(id: string, options: { actor?: string | undefined } = {}): Thread {
    return new Thread(this.#connect, id, this.name, options.actor ?? "");
  }

  /** Sends a message to the app once, without a thread. */
  send(message: Input, options: OnceOptions = {}): EventStream {
    return this.#once(sendRequest(this.#address, message, options), options);
  }

  /** Runs a workflow once, without a thread. */
  run(values: JsonObject, options: OnceOptions = {}): EventStream {
    return this.#once(runRequest(this.#address, values, options), options);
  }

  get #address() {
    return { threadId: "", app: this.name, actor: "" };
  }

  #once(start: ReturnType<typeof sendRequest>, { timeoutMs, signal }: OnceOptions): EventStream {
    const attempt = new Attempt(this.#connect, () => start, { threadId: "", actor: "", timeoutMs });
    return new EventStream(attempt, signal);
  }
}
