package dev.clew;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** How long workers wait between tries; those that lost one server do not come back at once. */
final class Pauses {
  private static final Duration FIRST = Duration.ofMillis(100);
  private static final Duration LONGEST = Duration.ofSeconds(5);

  private Pauses() {}

  /** Nanoseconds before the next try, after so many. */
  static long nanos(int tries) {
    long whole = Math.min(LONGEST.toNanos(), FIRST.toNanos() << Math.min(tries, 16));
    return (long) (whole * ThreadLocalRandom.current().nextDouble(0.5, 1));
  }
}
