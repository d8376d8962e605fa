package dev.clew;

import dev.clew.v1.DisconnectPolicy;
import dev.clew.v1.RunOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * What requests that start an attempt have in common: one request, however often it has to be sent.
 */
record Frame(
    String threadId,
    String actor,
    String requestId,
    OptionalLong expectedVersion,
    RunOptions options,
    Optional<Duration> timeout) {
  static Frame of(String threadId, String actor, AttemptOptions given) {
    // Who leaves on purpose cancels the run by its name; what merely breaks stops nothing. Without
    // a thread there is no name.
    DisconnectPolicy policy =
        threadId.isEmpty()
            ? DisconnectPolicy.DISCONNECT_POLICY_CANCEL
            : DisconnectPolicy.DISCONNECT_POLICY_CONTINUE;
    RunOptions options = given.run().toBuilder().setOnDisconnect(policy).setActor(actor).build();
    String requestId = given.requestId().isEmpty() ? newRequestId() : given.requestId();
    return new Frame(threadId, actor, requestId, given.expectedVersion(), options, given.timeout());
  }

  /** Names one request, however often it has to be sent. */
  static String newRequestId() {
    return UUID.randomUUID().toString();
  }
}
