/** Milliseconds as they travel, and as they pass. */

import { type Duration, durationFromMs, durationMs } from "@bufbuild/protobuf/wkt";
import { refusedArgument } from "./refused_argument.js";

/** The longest time that a timer can be set to: 24 days. One that is set to more is over at once. */
export const LONGEST_MS = 2_147_483_647;

/** Milliseconds of a duration. */
export function millisOf(duration: Duration): number {
  return durationMs(duration);
}

/** The duration of so many milliseconds. */
export function durationOf(ms: number, field: string): Duration {
  checkMs(ms, field, Number.MAX_SAFE_INTEGER);
  return durationFromMs(ms);
}

/** Throws ArgumentInvalidError, naming the field, for what is no number of milliseconds. */
export function checkMs(ms: unknown, field: string, most = LONGEST_MS): void {
  if (typeof ms !== "number" || !(ms >= 0 && ms <= most)) {
    throw refusedArgument(
      field,
      `a number of milliseconds, ${most} at most, is due here, not ${String(ms).slice(0, 80)}`,
    );
  }
}

/** Waits so long, or less where the signal comes before. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
