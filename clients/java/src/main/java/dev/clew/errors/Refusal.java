package dev.clew.errors;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What is known of a call that was refused, or of a run that failed.
 *
 * @param code a stable word, such as {@code thread_busy}
 * @param message what happened and what to do next, for people; it may change
 * @param metadata every value that the message mentions, for programs
 * @param retryAfter how long to wait before another try, where the server knows it
 */
public record Refusal(
    String code, String message, Map<String, String> metadata, Optional<Duration> retryAfter) {
  /** Keeps a copy of the metadata. */
  public Refusal {
    metadata = Map.copyOf(metadata);
  }

  /** A refusal that says nothing of when to try again. */
  public static Refusal of(String code, String message, Map<String, String> metadata) {
    return new Refusal(code, message, metadata, Optional.empty());
  }
}
