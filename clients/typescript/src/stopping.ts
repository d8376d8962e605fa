/** A worker's process, as whoever runs it stops it. */

import { checkMs } from "./times.js";
import type { Worker } from "./worker.js";

/**
 * Runs a worker until the process is asked to stop (SIGTERM or Ctrl-C), then drains it: the whole of a worker's program. Asked again, the process
 * ends at once.
 *
 * Throws as `worker.run` does, and ArgumentInvalidError for a time that is none.
 */
export async function runUntilStopped(
  worker: Worker,
  { drainTimeoutMs }: { drainTimeoutMs?: number | undefined } = {},
): Promise<void> {
  if (drainTimeoutMs !== undefined) {
    checkMs(drainTimeoutMs, "drain_timeout");
  }
  const signals = ["SIGTERM", "SIGINT"] as const;
  let draining: Promise<void> | undefined;
  const listening = (listen: boolean): void => {
    for (const each of signals) {
      listen ? process.on(each, stop) : process.off(each, stop);
    }
  };
  const stop = (): void => {
    // Without a listener, the next one ends the process.
    listening(false);
    draining = worker.drain({ timeoutMs: drainTimeoutMs });
  };
  listening(true);
  try {
    await worker.run();
    await draining;
  } finally {
    listening(false);
  }
}
