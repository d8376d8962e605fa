package dev.clew;

import java.time.Duration;
import java.util.Optional;

/**
 * Thrown by a tool to say, for the model to read, what was wrong; the run goes on. One that is
 * retryable has the call tried again while the tool has tries left.
 */
public final class ToolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final boolean retryable;
  private final Duration retryAfter;

  /** No other try would help. */
  public ToolException(String message) {
    this(message, false, null);
  }

  /** Another try may help, at once, or none would. */
  public ToolException(String message, boolean retryable) {
    this(message, retryable, null);
  }

  /** Another try may help after a time, of up to an hour. */
  public ToolException(String message, Duration retryAfter) {
    this(message, true, retryAfter);
  }

  private ToolException(String message, boolean retryable, Duration retryAfter) {
    super(message);
    this.retryable = retryable;
    this.retryAfter = retryAfter;
  }

  /** Whether another try may help. */
  public boolean retryable() {
    return retryable;
  }

  /** How long to wait before it; empty for not at all. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }
}
