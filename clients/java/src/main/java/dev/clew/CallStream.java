package dev.clew;

import dev.clew.errors.ClewException;
import dev.clew.errors.InvalidException;
import dev.clew.errors.LeaseLostException;
import dev.clew.errors.PermissionDeniedException;
import dev.clew.errors.UnauthenticatedException;
import dev.clew.v1.WorkRequest;
import dev.clew.v1.WorkResponse;
import io.grpc.Context;
import io.grpc.StatusRuntimeException;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The stream that gives a worker its calls, opened again where it breaks. One thread reads; any may
 * end it.
 */
final class CallStream {
  private static final System.Logger LOG = System.getLogger("dev.clew");

  private final Connection connection;
  private final Supplier<WorkRequest> request;
  private final Consumer<WorkResponse> heed;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final CountDownLatch ended = new CountDownLatch(1);
  private Context.CancellableContext open;
  private boolean last;
  private boolean left;

  /**
   * @param request what to open it with, asked for each time
   * @param heed is given each response, by the thread that reads
   */
  CallStream(Connection connection, Supplier<WorkRequest> request, Consumer<WorkResponse> heed) {
    this.connection = connection;
    this.request = request;
    this.heed = heed;
  }

  /** Reads until the worker has drained, or the stream is left. Throws what no later try mends. */
  void read() throws InterruptedException {
    int tries = 0;
    try {
      while (begin()) {
        try {
          Iterator<WorkResponse> responses = responses();
          while (responses.hasNext()) {
            WorkResponse response = responses.next();
            tries = 0;
            heed.accept(response);
          }
          return;
        } catch (StatusRuntimeException broken) {
          check(connection.errorOf(broken), tries);
        } finally {
          open.cancel(null);
        }
        pause(Pauses.nanos(tries));
        tries++;
      }
    } finally {
      ended.countDown();
    }
  }

  /** Is not opened again when it breaks. */
  void finish() {
    lock.lock();
    try {
      last = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends it. */
  void leave() {
    lock.lock();
    try {
      last = true;
      left = true;
      changed.signalAll();
      if (open != null) {
        open.cancel(null);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits so many nanoseconds for its end. */
  void awaitEnd(long nanos) throws InterruptedException {
    ended.await(nanos, TimeUnit.NANOSECONDS);
  }

  /** Whether it is to be opened. */
  private boolean begin() {
    lock.lock();
    try {
      if (!last) {
        // Of its own: whoever called is not asked whether they still wait.
        open = Context.current().fork().withCancellation();
      }
      return !last;
    } finally {
      lock.unlock();
    }
  }

  private Iterator<WorkResponse> responses() {
    Context before = open.attach();
    try {
      return connection.workers().work(request.get());
    } finally {
      open.detach(before);
    }
  }

  private void check(ClewException error, int tries) {
    if (isLeft() || Thread.currentThread().isInterrupted()) {
      return;
    }
    if (error instanceof InvalidException
        || error instanceof LeaseLostException
        || error instanceof PermissionDeniedException
        || error instanceof UnauthenticatedException) {
      throw error;
    }
    if (tries == 0) {
      LOG.log(
          System.Logger.Level.WARNING,
          "the stream of calls broke, and is opened again: {0}",
          error.getMessage());
    }
  }

  private boolean isLeft() {
    lock.lock();
    try {
      return left;
    } finally {
      lock.unlock();
    }
  }

  private void pause(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long remaining = nanos;
      while (!last && remaining > 0) {
        remaining = changed.awaitNanos(remaining);
      }
    } finally {
      lock.unlock();
    }
  }
}
