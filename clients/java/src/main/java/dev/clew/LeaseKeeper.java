package dev.clew;

import dev.clew.v1.CallName;
import dev.clew.v1.RenewCallsRequest;
import dev.clew.v1.WorkResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Says in good time that calls are being worked on. */
final class LeaseKeeper {
  private static final System.Logger LOG = System.getLogger("dev.clew");

  private final Connection connection;
  private final String workerId;
  private final HeldCalls held;
  private final CountDownLatch known = new CountDownLatch(1);
  private final Thread thread = new Thread(this::renew, "clew-leases");
  private volatile long thirdNanos;

  LeaseKeeper(Connection connection, String workerId, HeldCalls held) {
    this.connection = connection;
    this.workerId = workerId;
    this.held = held;
    thread.setDaemon(true);
  }

  /** Leases last so long. */
  void last(Duration lease) {
    thirdNanos = Nanos.of(lease) / 3;
    known.countDown();
  }

  /** Begins, once it is known how long leases last. */
  void start() {
    thread.start();
  }

  void stop() {
    thread.interrupt();
  }

  private void renew() {
    try {
      known.await();
      while (true) {
        TimeUnit.NANOSECONDS.sleep(thirdNanos);
        List<CallName> calls = held.names();
        if (!calls.isEmpty()) {
          renew(calls);
        }
      }
    } catch (InterruptedException ended) {
      // There is nothing more to keep.
    }
  }

  private void renew(List<CallName> calls) {
    RenewCallsRequest request =
        RenewCallsRequest.newBuilder().setWorkerId(workerId).addAllCalls(calls).build();
    try {
      connection
          .ask(
              () ->
                  connection
                      .workers()
                      .withDeadlineAfter(thirdNanos, TimeUnit.NANOSECONDS)
                      .renewCalls(request))
          .getRevokedList()
          .stream()
          .map(WorkResponse.Revoked::getCall)
          .forEach(held::drop);
    } catch (RuntimeException away) {
      // The next one may still be in time.
      LOG.log(System.Logger.Level.DEBUG, "leases were not renewed: {0}", away.getMessage());
    }
  }
}
