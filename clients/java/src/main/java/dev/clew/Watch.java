package dev.clew;

import dev.clew.v1.Event;
import dev.clew.v1.WatchRequest;
import io.grpc.Deadline;

/** A thread's events after a version. Leaving it has no effect on any run. */
final class Watch extends EventReader {
  private final String threadId;
  private final WatchOptions options;
  private boolean rests;

  Watch(Connection connection, String threadId, WatchOptions options) {
    super(connection, Position.after(options.afterVersion()), options.timeout());
    this.threadId = threadId;
    this.options = options;
  }

  @Override
  Line open(Deadline deadline) {
    WatchRequest request =
        WatchRequest.newBuilder()
            .setThreadId(threadId)
            .setThreadUid(position().threadUid())
            .setAfterVersion(position().cursor().orElse(0))
            .setRunId(options.runId())
            .setFollow(options.follow())
            .build();
    return Request.of(request).open(connection().channel(), deadline);
  }

  /** A run's first terminal event ends a watch of that run; the server ends the others. */
  @Override
  boolean endsWith(Event event) {
    if (Payloads.isLogged(event)) {
      rests = Payloads.isTerminal(event);
    }
    return !options.runId().isEmpty() && Payloads.isTerminal(event);
  }

  /** After a terminal event the thread is at rest. */
  @Override
  boolean ended() {
    return rests && !options.follow();
  }

  @Override
  void part(Deadline deadline) {
    // Nothing is due.
  }
}
