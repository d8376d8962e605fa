package dev.clew;

import dev.clew.v1.BusyPolicy;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a verb that changes a thread from outside a run is to be treated. Immutable: each method
 * gives another one.
 */
public final class WriteOptions {
  /** The server's own ways, under a new request id. */
  public static final WriteOptions DEFAULT =
      new WriteOptions(
          BusyPolicy.BUSY_POLICY_UNSPECIFIED, Optional.empty(), OptionalLong.empty(), "", false);

  private final BusyPolicy onBusy;
  private final Optional<Duration> busyTimeout;
  private final OptionalLong expectedVersion;
  private final String requestId;
  private final boolean force;

  private WriteOptions(
      BusyPolicy onBusy,
      Optional<Duration> busyTimeout,
      OptionalLong expectedVersion,
      String requestId,
      boolean force) {
    this.onBusy = onBusy;
    this.busyTimeout = busyTimeout;
    this.expectedVersion = expectedVersion;
    this.requestId = requestId;
    this.force = force;
  }

  /** What to do while a run holds the thread. */
  public WriteOptions withOnBusy(BusyPolicy policy) {
    return new WriteOptions(policy, busyTimeout, expectedVersion, requestId, force);
  }

  /** How long to wait for a busy thread, up to an hour; 60 s unless the server has it otherwise. */
  public WriteOptions withBusyTimeout(Duration time) {
    return new WriteOptions(onBusy, Optional.of(time), expectedVersion, requestId, force);
  }

  /** The version that the thread must have, or the call is refused. */
  public WriteOptions withExpectedVersion(long version) {
    return new WriteOptions(onBusy, busyTimeout, OptionalLong.of(version), requestId, force);
  }

  /**
   * Names the request: 1 to 128 characters of visible ASCII. The same one again within 24 hours
   * gives the same outcome, and does nothing twice.
   */
  public WriteOptions withRequestId(String id) {
    return new WriteOptions(onBusy, busyTimeout, expectedVersion, id, force);
  }

  /** Changes the state of a thread that waits for decisions, too; they stay to be made. */
  public WriteOptions withForce() {
    return new WriteOptions(onBusy, busyTimeout, expectedVersion, requestId, true);
  }

  BusyPolicy onBusy() {
    return onBusy;
  }

  Optional<Duration> busyTimeout() {
    return busyTimeout;
  }

  OptionalLong expectedVersion() {
    return expectedVersion;
  }

  String requestId() {
    return requestId.isEmpty() ? Frame.newRequestId() : requestId;
  }

  boolean force() {
    return force;
  }
}
