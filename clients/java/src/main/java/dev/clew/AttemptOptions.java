package dev.clew;

import dev.clew.v1.BusyPolicy;
import dev.clew.v1.RunOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** How a verb that starts an attempt is to be treated. Immutable: each method gives another one. */
public final class AttemptOptions {
  /** The server's and the app's own ways, under a new request id. */
  public static final AttemptOptions DEFAULT =
      new AttemptOptions(
          RunOptions.getDefaultInstance(), OptionalLong.empty(), "", Optional.empty());

  private final RunOptions run;
  private final OptionalLong expectedVersion;
  private final String requestId;
  private final Optional<Duration> timeout;

  private AttemptOptions(
      RunOptions run, OptionalLong expectedVersion, String requestId, Optional<Duration> timeout) {
    this.run = run;
    this.expectedVersion = expectedVersion;
    this.requestId = requestId;
    this.timeout = timeout;
  }

  /** What to do while another run holds the thread. */
  public AttemptOptions withOnBusy(BusyPolicy policy) {
    return running(options -> options.setOnBusy(policy));
  }

  /** How long to wait for a busy thread, up to an hour; 60 s unless the server has it otherwise. */
  public AttemptOptions withBusyTimeout(Duration time) {
    return running(options -> options.setBusyTimeout(Times.wire(time)));
  }

  /** How many steps the attempt may take: answers of the model, or rounds of a workflow's nodes. */
  public AttemptOptions withMaxSteps(int steps) {
    return running(options -> options.getLimitsBuilder().setMaxSteps(steps));
  }

  /** How many tokens the attempt's models may read and write together. */
  public AttemptOptions withMaxTokens(long tokens) {
    return running(options -> options.getLimitsBuilder().setMaxTokens(tokens));
  }

  /**
   * How long the attempt may take, waiting for the thread not included. When it is over the run
   * fails.
   */
  public AttemptOptions withMaxDuration(Duration time) {
    return running(options -> options.getLimitsBuilder().setMaxDuration(Times.wire(time)));
  }

  /** How long each tool call may take. When it is over the run fails. */
  public AttemptOptions withToolTimeout(Duration time) {
    return running(options -> options.getLimitsBuilder().setToolTimeout(Times.wire(time)));
  }

  /**
   * The version that the thread must have, or the call is refused; 0 for a thread that has none
   * yet.
   */
  public AttemptOptions withExpectedVersion(long version) {
    return new AttemptOptions(run, OptionalLong.of(version), requestId, timeout);
  }

  /**
   * Names the request: 1 to 128 characters of visible ASCII. The same one again within 24 hours
   * gives the same outcome, and does nothing twice.
   */
  public AttemptOptions withRequestId(String id) {
    return new AttemptOptions(run, expectedVersion, id, timeout);
  }

  /** How long the stream may take. A run that has started goes on when it is over. */
  public AttemptOptions withTimeout(Duration time) {
    return new AttemptOptions(run, expectedVersion, requestId, Optional.of(time));
  }

  RunOptions run() {
    return run;
  }

  OptionalLong expectedVersion() {
    return expectedVersion;
  }

  String requestId() {
    return requestId;
  }

  Optional<Duration> timeout() {
    return timeout;
  }

  private AttemptOptions running(Consumer<RunOptions.Builder> change) {
    RunOptions.Builder changed = run.toBuilder();
    change.accept(changed);
    return new AttemptOptions(changed.build(), expectedVersion, requestId, timeout);
  }
}
