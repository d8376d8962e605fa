package dev.clew;

import dev.clew.v1.CallName;
import dev.clew.v1.WorkerCall;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A call that a worker has: being run, or with an outcome that is not acknowledged. One thread
 * carries it out, and others say what is to become of it, under the lock of all calls.
 */
final class HeldCall {
  private final ReentrantLock lock;
  private final Condition heed;
  private WorkerCall wire;
  private Optional<WorkerCall> again = Optional.empty();
  private Thread carrier;
  private boolean settled;
  private boolean dropped;
  private boolean asked;

  HeldCall(WorkerCall wire, ReentrantLock lock) {
    this.wire = wire;
    this.lock = lock;
    this.heed = lock.newCondition();
  }

  CallName name() {
    return wire.getName();
  }

  WorkerCall wire() {
    return wire;
  }

  /** Whether the worker answers for it: it does not for one that is only ending. */
  boolean isWanted() {
    return !dropped || again.isPresent();
  }

  /** The same call is given again: its outcome is due, or it runs anew when it has been dropped. */
  void giveAgain(WorkerCall given) {
    if (settled || dropped) {
      again = Optional.of(given);
      asked = true;
      heed.signalAll();
    }
  }

  /** Nobody wants it from this worker. */
  void drop() {
    dropped = true;
    again = Optional.empty();
    if (carrier != null) {
      carrier.interrupt();
    }
  }

  /** This thread carries it out from here on; false when it has been dropped. */
  boolean begin() {
    lock.lock();
    try {
      carrier = Thread.currentThread();
      return !dropped;
    } finally {
      lock.unlock();
    }
  }

  /** Its outcome is known; false when that is not wanted. */
  boolean settle() {
    lock.lock();
    try {
      settled = true;
      if (!dropped) {
        // A tool's own affair.
        Thread.interrupted();
      }
      return !dropped;
    } finally {
      lock.unlock();
    }
  }

  /** What was asked before this try to bring the outcome is answered by it. */
  void answer() {
    lock.lock();
    try {
      asked = false;
    } finally {
      lock.unlock();
    }
  }

  /** Waits so long, or until it is given again. */
  void pause(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (!asked && left > 0) {
        left = heed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * The thread that carries it out is done. Becomes what was given meanwhile, where that is to run;
   * whether it did.
   */
  boolean end(boolean retried) {
    if (dropped) {
      Thread.interrupted();
    }
    carrier = null;
    boolean runs = again.isPresent() && (retried || dropped);
    if (runs) {
      wire = again.get();
      again = Optional.empty();
      settled = false;
      dropped = false;
    }
    return runs;
  }
}
