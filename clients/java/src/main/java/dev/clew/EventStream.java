package dev.clew;

import dev.clew.v1.Event;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * The events of a thread or of one attempt, once each, whatever becomes of the connections that
 * carry them. Nothing is sent before the first event is asked for, and a refusal is thrown then.
 *
 * <p>Leaving an attempt's stream before its end cancels the run, which retry continues: by {@link
 * #close()}, also of another thread than the one that reads, by interrupting the thread that reads,
 * or by cancelling the future of {@link #replyAsync()}. The run is not cancelled where the
 * connection breaks or a timeout is over. Leaving a watch has no effect on any run.
 *
 * <p>One thread reads. A stream that was read to its end needs no closing.
 */
public final class EventStream implements Iterable<Event>, Iterator<Event>, AutoCloseable {
  private final EventReader reader;
  private final Queue<Event> ready = new ArrayDeque<>();
  private final Ending ending = new Ending();

  EventStream(EventReader reader) {
    this.reader = reader;
  }

  /** This stream: there is one pass over it. */
  @Override
  public Iterator<Event> iterator() {
    return this;
  }

  /**
   * Waits for the next event; false at the end.
   *
   * @throws dev.clew.errors.ClewException for a refusal, and where the stream was left, or broke
   *     and could not be joined again
   */
  @Override
  public boolean hasNext() {
    if (ready.isEmpty()) {
      ready.addAll(reader.read());
    }
    return !ready.isEmpty();
  }

  /**
   * Waits for the next event.
   *
   * @throws dev.clew.errors.ClewException as {@link #hasNext()}
   * @throws NoSuchElementException at the end
   */
  @Override
  public Event next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Event event = ready.remove();
    ending.heed(event);
    return event;
  }

  /**
   * Reads what is left, and gives what the attempt came to (of a watch, the last one that was
   * seen).
   *
   * @throws dev.clew.errors.RunFailedException for a run that failed
   * @throws dev.clew.errors.RunCancelledException for a run that was cancelled
   * @throws dev.clew.errors.ClewException as {@link #hasNext()}
   */
  public Reply reply() {
    while (hasNext()) {
      next();
    }
    return ending.reply(threadId -> Inbox.waiting(reader.connection(), threadId));
  }

  /**
   * As {@link #reply()}, read by a thread of the client's executor. Cancelling the future leaves
   * the stream.
   */
  public CompletableFuture<Reply> replyAsync() {
    CompletableFuture<Reply> reply =
        CompletableFuture.supplyAsync(this::reply, reader.connection().executor());
    reply.whenComplete(
        (done, failed) -> {
          if (reply.isCancelled()) {
            reader.connection().executor().execute(this::close);
          }
        });
    return reply;
  }

  /**
   * Leaves the stream, and returns when that has had its effect, or the client's leave timeout is
   * over. Harmless when it is over.
   */
  @Override
  public void close() {
    reader.leave();
  }
}
