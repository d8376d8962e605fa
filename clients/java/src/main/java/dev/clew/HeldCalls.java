package dev.clew;

import dev.clew.v1.CallName;
import dev.clew.v1.WorkerCall;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** All calls that a worker has. */
final class HeldCalls {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition fewer = lock.newCondition();
  private final Map<CallName, HeldCall> calls = new HashMap<>();
  private boolean closed;

  /** What to carry out of a call that was given: nothing, where the worker has it already. */
  Optional<HeldCall> take(WorkerCall given) {
    lock.lock();
    try {
      HeldCall known = calls.get(given.getName());
      if (known != null) {
        known.giveAgain(given);
      }
      if (known != null || closed) {
        return Optional.empty();
      }
      HeldCall call = new HeldCall(given, lock);
      calls.put(call.name(), call);
      return Optional.of(call);
    } finally {
      lock.unlock();
    }
  }

  /** The names of those that the worker answers for. */
  List<CallName> names() {
    lock.lock();
    try {
      return calls.values().stream().filter(HeldCall::isWanted).map(HeldCall::name).toList();
    } finally {
      lock.unlock();
    }
  }

  /** A call is not wanted from this worker. */
  void drop(CallName name) {
    lock.lock();
    try {
      HeldCall known = calls.get(name);
      if (known != null) {
        known.drop();
        fewer.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Drops all, and takes no more. */
  void close() {
    lock.lock();
    try {
      closed = true;
      calls.values().forEach(HeldCall::drop);
      fewer.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * A call was carried out.
   *
   * @param retried whether it is tried again
   * @return whether it is to be carried out once more at once
   */
  boolean end(HeldCall call, boolean retried) {
    lock.lock();
    try {
      boolean runs = call.end(retried);
      if (!runs) {
        calls.remove(call.name());
        fewer.signalAll();
      }
      return runs;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until there are none, for so many nanoseconds; whether there are none. */
  boolean awaitNone(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (calls.values().stream().anyMatch(HeldCall::isWanted)) {
        if (left <= 0) {
          return false;
        }
        left = fewer.awaitNanos(left);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
