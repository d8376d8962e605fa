/** Something that is so or not, and can be waited for. */

/** Opens and closes. Those who wait go on when it is open. */
export class Latch {
  readonly #waiting = new Set<() => void>();
  #isOpen: boolean;

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen;
  }

  open(): void {
    this.#isOpen = true;
    for (const goOn of this.#waiting) {
      goOn();
    }
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Waits until it is open; no longer than so many milliseconds, where they are given. Whether it was. */
  wait(withinMs?: number): Promise<boolean> {
    if (this.#isOpen) {
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const done = (opened: boolean): void => {
        clearTimeout(timer);
        this.#waiting.delete(goOn);
        resolve(opened);
      };
      const goOn = (): void => done(true);
      const timer = withinMs === undefined ? undefined : setTimeout(() => done(false), withinMs);
      this.#waiting.add(goOn);
    });
  }
}
