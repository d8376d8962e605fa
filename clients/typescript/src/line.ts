/** One call whose responses are read one by one. */

/** Nothing came for so long that the connection must be dead. */
export class SilentError extends Error {}

/** Reads a call. Whoever reads beside another is given the same response. */
export class Line<Response> {
  readonly #abort = new AbortController();
  readonly #responses: AsyncIterator<Response>;
  #reading: Promise<Response | undefined> | undefined;

  constructor(call: (signal: AbortSignal) => AsyncIterable<Response>) {
    this.#responses = call(this.#abort.signal)[Symbol.asyncIterator]();
  }

  /** The next response; undefined at the end. Throws what the call ended with, and SilentError when nothing came for that long. */
  async read(silenceMs?: number): Promise<Response | undefined> {
    const reading = this.#reading ?? this.#next();
    this.#reading = reading;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      if (silenceMs === undefined) {
        return await reading;
      }
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new SilentError(`nothing came for ${silenceMs} ms`)), silenceMs);
      });
      return await Promise.race([reading, silence]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Gives the call up. Not to be read afterwards. */
  close(): void {
    this.#abort.abort();
    // Nobody waits for it any more.
    this.#reading?.catch(() => undefined);
  }

  async #next(): Promise<Response | undefined> {
    try {
      const { done, value } = await this.#responses.next();
      return done === true ? undefined : value;
    } finally {
      this.#reading = undefined;
    }
  }
}
