package dev.clew;

import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * How long a broken stream is tried again, and how soon: counts tries since the server was last
 * heard.
 */
final class Patience {
  private final Settings settings;
  private final LongSupplier nanoTime;
  private long since;
  private Duration limit;
  private Duration pause;

  /**
   * @param nanoTime the clock
   */
  Patience(Settings settings, LongSupplier nanoTime) {
    this.settings = settings;
    this.nanoTime = nanoTime;
    begin(settings.connectTimeout());
  }

  /** Something came. */
  void heard() {
    begin(settings.rejoinTimeout());
  }

  /** How long to wait before the next try; empty when there has been no word for too long. */
  Optional<Duration> pause() {
    Duration next = pause;
    pause = shorter(pause.multipliedBy(2), settings.longestPause());
    long waited = nanoTime.getAsLong() - since;
    boolean inTime = next.plusNanos(waited).compareTo(limit) <= 0;
    return inTime ? Optional.of(next) : Optional.empty();
  }

  private void begin(Duration limit) {
    this.since = nanoTime.getAsLong();
    this.limit = limit;
    this.pause = shorter(settings.firstPause(), settings.longestPause());
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) <= 0 ? one : other;
  }
}
