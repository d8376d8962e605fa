/** How long a broken stream is tried again, and how soon. */

import type { Settings } from "./settings.js";

/** Counts tries since the server was last heard. */
export class Patience {
  readonly #settings: Settings;
  readonly #now: () => number;
  #since: number;
  #limit: number;
  #tries = 0;

  /** `now` is a clock that is not set, in milliseconds. */
  constructor(settings: Settings, now: () => number = () => performance.now()) {
    this.#settings = settings;
    this.#now = now;
    this.#since = now();
    this.#limit = settings.connectTimeoutMs;
  }

  /** Something came. */
  heard(): void {
    this.#since = this.#now();
    this.#limit = this.#settings.rejoinTimeoutMs;
    this.#tries = 0;
  }

  /** Milliseconds to wait before the next try; undefined when there has been no word for too long. */
  pause(): number | undefined {
    const [first, most] = this.#settings.backoffMs;
    const pause = Math.min(most, first * 2 ** Math.min(this.#tries, 16));
    this.#tries += 1;
    return this.#now() + pause <= this.#since + this.#limit ? pause : undefined;
  }
}
