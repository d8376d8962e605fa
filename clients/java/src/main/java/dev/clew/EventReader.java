package dev.clew;

import dev.clew.errors.ClewException;
import dev.clew.errors.DeadlineExceededException;
import dev.clew.errors.Refusal;
import dev.clew.errors.StreamCutException;
import dev.clew.errors.StreamLeftException;
import dev.clew.v1.Event;
import io.grpc.Context;
import io.grpc.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads events until the stream is over, and opens it anew where it breaks. One thread reads; any
 * may leave.
 *
 * <p>Who leaves wakes the reader, and waits for its lock: from then on the reader's state is the
 * leaver's.
 */
abstract class EventReader implements Leavable {
  private static final long DRAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final Connection connection;
  private final Position position;
  private final Optional<Duration> timeout;
  private final ReentrantLock lock = new ReentrantLock();
  private final CountDownLatch left = new CountDownLatch(1);
  private final Context.CancellableContext preparing = Context.current().withCancellation();
  private volatile Line line;
  private volatile boolean over;
  private Patience patience;
  private Deadline deadline;
  private int opened;
  private boolean parted;
  private String broken = "";

  EventReader(Connection connection, Position position, Optional<Duration> timeout) {
    this.connection = connection;
    this.position = position;
    this.timeout = timeout;
  }

  /**
   * Begins where the position is.
   *
   * @param deadline when the call is over; null for never
   */
  abstract Line open(Deadline deadline);

  /** Whether the stream is over with this event. */
  abstract boolean endsWith(Event event);

  /** What is due when the reader leaves before the end, until the deadline. */
  abstract void part(Deadline deadline) throws InterruptedException;

  /** Finds out, before the first call, what the call is to say. */
  void prepare() {}

  /** Whether a stream that broke can be opened anew without doing anything twice. */
  boolean mayRejoin() {
    return true;
  }

  /** Whether a stream that the server ended in good order is at its end, and was not just cut. */
  boolean ended() {
    return over;
  }

  final Connection connection() {
    return connection;
  }

  final Position position() {
    return position;
  }

  final boolean over() {
    return over;
  }

  /** Whether a call is open. */
  final boolean connected() {
    return line != null;
  }

  /** The next events, one or more; none when the stream is over. Throws what ended it otherwise. */
  final List<Event> read() {
    lock.lock();
    try {
      return over ? List.of() : readOn();
    } catch (InterruptedException interrupted) {
      leaveNow();
      Thread.currentThread().interrupt();
      throw wasLeft();
    } catch (RuntimeException | Error failed) {
      if (!isLeft()) {
        // The stream is over, and nobody left it: the run goes on, if it does.
        over = true;
        close();
      }
      throw failed;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Ends the stream on purpose, and returns when that has had its effect. Harmless when it is over.
   */
  @Override
  public final void leave() {
    left.countDown();
    preparing.cancel(null);
    Line reading = line;
    if (reading != null) {
      reading.wake();
    }
    lock.lock();
    try {
      leaveNow();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits for what is on its way, to know how the request stands; whether anything came in time.
   */
  final boolean learn(Deadline deadline) throws InterruptedException {
    while (true) {
      Line.Arrival arrival = line.read(deadline.timeRemaining(TimeUnit.NANOSECONDS));
      if (arrival instanceof Line.Response response) {
        take(response);
        return true;
      }
      if (!(arrival instanceof Line.Woken)) {
        return false;
      }
    }
  }

  private List<Event> readOn() throws InterruptedException {
    checkOpen();
    begin();
    while (!over) {
      List<Event> events = take(next());
      if (!events.isEmpty()) {
        return events;
      }
    }
    drain();
    return List.of();
  }

  private void begin() {
    if (patience == null) {
      connection.opened(this);
      deadline =
          timeout.map(limit -> Deadline.after(Nanos.of(limit), TimeUnit.NANOSECONDS)).orElse(null);
      preparing.run(this::prepare);
      patience = new Patience(connection.settings(), System::nanoTime);
    }
  }

  private Line.Arrival next() throws InterruptedException {
    checkOpen();
    if (line == null) {
      if (deadline != null && deadline.isExpired()) {
        throw late();
      }
      line = open(deadline);
      if (opened > 0) {
        position.join();
      }
      opened++;
      // Who left meanwhile found no line to wake.
      checkOpen();
    }
    // Only a run that is under way sends heartbeats for sure.
    return line.read(
        position.started() ? Nanos.of(connection.settings().silence()) : Long.MAX_VALUE);
  }

  private List<Event> take(Line.Arrival arrival) throws InterruptedException {
    if (arrival instanceof Line.Response response) {
      return take(response);
    }
    if (arrival instanceof Line.Ended ended) {
      if (!ended.how().status().isOk()) {
        mend(ended.how());
      } else if (ended()) {
        over = true;
      } else {
        mend(null);
      }
    } else if (arrival instanceof Line.Silence) {
      mend(null);
    }
    return List.of();
  }

  private List<Event> take(Line.Response response) {
    patience.heard();
    List<Event> events = new ArrayList<>();
    for (Event told : response.events()) {
      for (Event event : position.accept(told)) {
        events.add(event);
        over = endsWith(event) || over;
      }
    }
    return events;
  }

  /**
   * Waits a moment, if it makes sense to try again. Throws what ended the stream if not.
   *
   * @param end how the call ended; null where it broke off without a status
   */
  private void mend(CallEnd end) throws InterruptedException {
    hangUp();
    if (callerIsGone()) {
      leaveNow();
      throw wasLeft();
    }
    ClewException error = end == null ? cut() : connection.errorOf(end);
    broken = error.getMessage();
    boolean mendable = (end == null || end.isBreak()) && mayRejoin();
    Optional<Duration> pause = mendable ? patience.pause() : Optional.empty();
    if (pause.isEmpty()) {
      throw error;
    }
    left.await(Nanos.of(pause.get()), TimeUnit.NANOSECONDS);
    checkOpen();
  }

  private void leaveNow() {
    if (parted) {
      return;
    }
    parted = true;
    left.countDown();
    // What is said in leaving is said in any case: by a thread that was interrupted, and for a
    // caller that is gone.
    boolean interrupted = Thread.interrupted();
    Context before = Context.ROOT.attach();
    try {
      if (!over && opened > 0) {
        long nanos = Nanos.of(connection.settings().leaveTimeout());
        part(Deadline.after(nanos, TimeUnit.NANOSECONDS));
      }
    } catch (InterruptedException hurry) {
      interrupted = true;
    } finally {
      Context.ROOT.detach(before);
      close();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The end of a call that has said its last word, so that it counts as one that went well. */
  private void drain() throws InterruptedException {
    if (line != null) {
      line.read(DRAIN_NANOS);
    }
    close();
  }

  /** Gives up the call that is open, if any, without a word. */
  private void close() {
    hangUp();
    preparing.cancel(null);
    connection.closed(this);
  }

  private void hangUp() {
    Line open = line;
    if (open != null) {
      open.close();
      line = null;
    }
  }

  private boolean isLeft() {
    return left.getCount() == 0;
  }

  private void checkOpen() {
    if (isLeft()) {
      throw wasLeft();
    }
  }

  /**
   * Whether what the caller does is called off, as gRPC tells a handler whose own caller has left.
   * A deadline of the caller's is none of that.
   */
  private static boolean callerIsGone() {
    Context caller = Context.current();
    return caller.isCancelled() && !(caller.cancellationCause() instanceof TimeoutException);
  }

  private ClewException cut() {
    String version = Long.toString(position.cursor().orElse(0));
    String text =
        "the stream broke off after version "
            + version
            + ", and could not be joined again in time; watch the thread for the rest";
    return new StreamCutException(Refusal.of("stream_cut", text, Map.of("version", version)));
  }

  private ClewException late() {
    String target = connection.settings().target();
    String why = broken.isEmpty() ? "" : " The last that is known of " + target + ": " + broken;
    String text =
        "the call's time is over; a run that has started goes on, and a watch of the thread shows it."
            + why;
    return new DeadlineExceededException(Refusal.of("deadline_exceeded", text, Map.of()));
  }

  private static ClewException wasLeft() {
    return new StreamLeftException(
        Refusal.of("stream_left", "the stream was left while it was read", Map.of()));
  }
}
