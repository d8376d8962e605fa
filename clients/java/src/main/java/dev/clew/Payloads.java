package dev.clew;

import dev.clew.v1.Event;

/** What sort of event a payload makes. */
final class Payloads {
  private Payloads() {}

  /** Whether it is in the log, and comes again to whoever watches. */
  static boolean isLogged(Event event) {
    return switch (event.getPayloadCase()) {
      case RUN_STARTED,
          TOOL_CALL_STARTED,
          TOOL_CALL_FINISHED,
          APPROVAL_REQUESTED,
          CHECKPOINT_WRITTEN ->
          true;
      default -> isTerminal(event);
    };
  }

  /** Whether it ends its run's attempt. */
  static boolean isTerminal(Event event) {
    return switch (event.getPayloadCase()) {
      case RUN_SUSPENDED, RUN_COMPLETED, RUN_FAILED -> true;
      default -> false;
    };
  }
}
