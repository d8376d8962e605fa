package dev.clew;

import java.time.Duration;

/** Times as gRPC counts them. */
final class Nanos {
  // gRPC adds it to a clock: a century is as good as ever, and cannot run over.
  private static final Duration LONGEST = Duration.ofDays(36_525);

  private Nanos() {}

  /** Nanoseconds of a time of whatever length. */
  static long of(Duration time) {
    return (time.compareTo(LONGEST) < 0 ? time : LONGEST).toNanos();
  }
}
