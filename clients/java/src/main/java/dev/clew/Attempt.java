package dev.clew;

import dev.clew.errors.ClewException;
import dev.clew.errors.NotFoundException;
import dev.clew.v1.CancelRunRequest;
import dev.clew.v1.Event;
import dev.clew.v1.WatchRequest;
import io.grpc.Deadline;
import java.util.function.Supplier;

/**
 * A send, decide, resume or retry, to the end of its attempt.
 *
 * <p>Until the attempt is known to have started, a stream that breaks is asked for again with the
 * same request id, which the server answers with the attempt that the first one started, if it did.
 * From then on the thread is watched.
 */
final class Attempt extends EventReader {
  private static final System.Logger LOG = System.getLogger("dev.clew");

  private final Frame frame;
  private final Supplier<Request<?, ?>> asked;
  private Request<?, ?> request;

  /**
   * @param asked makes the request, once, when the server can be asked what it is about
   */
  Attempt(Connection connection, Frame frame, Supplier<Request<?, ?>> asked) {
    super(connection, Position.ofAttempt(), frame.timeout());
    this.frame = frame;
    this.asked = asked;
  }

  @Override
  void prepare() {
    request = asked.get();
  }

  @Override
  Line open(Deadline deadline) {
    return (position().started() ? watch() : request).open(connection().channel(), deadline);
  }

  private Request<?, ?> watch() {
    return Request.of(
        WatchRequest.newBuilder()
            .setThreadId(frame.threadId())
            .setThreadUid(position().threadUid())
            .setAfterVersion(position().cursor().orElse(0))
            .setRunId(position().runId())
            .build());
  }

  @Override
  boolean endsWith(Event event) {
    return Payloads.isTerminal(event);
  }

  /** A run without a thread is in no log, and cancelled when its stream breaks. */
  @Override
  boolean mayRejoin() {
    return !frame.threadId().isEmpty() || !position().started();
  }

  /**
   * Cancels the run; before it is known, what the request began or waits for. A run without a
   * thread ends with its call.
   */
  @Override
  void part(Deadline deadline) throws InterruptedException {
    while (!frame.threadId().isEmpty() && !over() && !deadline.isExpired()) {
      boolean started = position().started();
      try {
        cancel(deadline);
        return;
      } catch (NotFoundException nothing) {
        // The thread is gone; or a newer run has taken the place of this one, which has ended then;
        // or else the request has not come yet, which its
        // stream shows when it has.
        if (started || !connected() || !learn(deadline)) {
          return;
        }
      }
    }
  }

  /** Throws NotFoundException where there is nothing of it. */
  private void cancel(Deadline deadline) {
    CancelRunRequest.Builder cancel =
        CancelRunRequest.newBuilder()
            .setThreadId(frame.threadId())
            .setRequestId(Frame.newRequestId())
            .setActor(frame.actor());
    if (position().started()) {
      cancel.setRunId(position().runId());
    } else {
      cancel.setStartedByRequestId(frame.requestId());
    }
    try {
      connection().ask(() -> connection().runs().withDeadline(deadline).cancelRun(cancel.build()));
    } catch (NotFoundException nothing) {
      throw nothing;
    } catch (ClewException error) {
      LOG.log(
          System.Logger.Level.WARNING,
          "a run of thread {0} was left and goes on (request {1}): {2}",
          frame.threadId(),
          frame.requestId(),
          error.getMessage());
    }
  }
}
