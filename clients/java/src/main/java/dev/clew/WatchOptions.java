package dev.clew;

import java.time.Duration;
import java.util.Optional;

/** Where a watch begins, and when it ends. Immutable: each method gives another one. */
public final class WatchOptions {
  /** From the beginning, until the thread is at rest. */
  public static final WatchOptions DEFAULT = new WatchOptions(0, "", false, Optional.empty());

  private final long afterVersion;
  private final String runId;
  private final boolean follow;
  private final Optional<Duration> timeout;

  private WatchOptions(
      long afterVersion, String runId, boolean follow, Optional<Duration> timeout) {
    this.afterVersion = afterVersion;
    this.runId = runId;
    this.follow = follow;
    this.timeout = timeout;
  }

  /** Begins after a version: the last one that the caller has whole. */
  public WatchOptions withAfterVersion(long version) {
    return new WatchOptions(version, runId, follow, timeout);
  }

  /** Ends with this run's first end after the version. Not together with {@link #withFollow()}. */
  public WatchOptions withRunId(String id) {
    return new WatchOptions(afterVersion, id, follow, timeout);
  }

  /** Stays for later runs, until the stream is closed. */
  public WatchOptions withFollow() {
    return new WatchOptions(afterVersion, runId, true, timeout);
  }

  /** How long the stream may take. */
  public WatchOptions withTimeout(Duration time) {
    return new WatchOptions(afterVersion, runId, follow, Optional.of(time));
  }

  long afterVersion() {
    return afterVersion;
  }

  String runId() {
    return runId;
  }

  boolean follow() {
    return follow;
  }

  Optional<Duration> timeout() {
    return timeout;
  }
}
