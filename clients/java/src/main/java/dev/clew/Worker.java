package dev.clew;

import dev.clew.errors.ClewException;
import dev.clew.v1.DrainWorkerRequest;
import dev.clew.v1.WorkRequest;
import dev.clew.v1.WorkResponse;
import dev.clew.v1.WorkerCall;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Runs tools; made by {@link Client#worker()}.
 *
 * <p>It keeps what came of a call until a server has written that down, over broken connections and
 * restarts of the server. Where this process dies, the calls that it had are given to another
 * worker, but for those that are {@code once}: people are asked what became of them.
 *
 * <p>Tools are run by threads of the client's executor, one for each call. A tool whose result is
 * not wanted any more is interrupted.
 */
public final class Worker implements Runnable {
  /** How long {@link #drain()} waits. */
  private static final Duration DRAIN = Duration.ofSeconds(30);

  // How long a worker that has nothing left waits for its server to end the stream, and for its
  // program to end.
  private static final Duration LAST_WORD = Duration.ofSeconds(2);

  private static final System.Logger LOG = System.getLogger("dev.clew");

  private final Connection connection;
  private final WorkRequest request;
  private final Map<String, OfferedTool> tools = new LinkedHashMap<>();
  private final HeldCalls held = new HeldCalls();
  private final CallCarrier carrier;
  private final CallStream stream;
  private final LeaseKeeper leases;
  private final Leavable atClose = this::stop;
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CompletableFuture<Void> ready = new CompletableFuture<>();

  Worker(Connection connection, WorkRequest given) {
    String id =
        given.getWorkerId().isEmpty()
            ? "worker-" + String.format("%016x", ThreadLocalRandom.current().nextLong())
            : given.getWorkerId();
    this.connection = connection;
    this.request = given.toBuilder().setWorkerId(id).build();
    this.carrier = new CallCarrier(connection, id, tools, held);
    this.stream = new CallStream(connection, this::opening, this::heed);
    this.leases = new LeaseKeeper(connection, id, held);
  }

  /** The worker's name for itself. */
  public String id() {
    return request.getWorkerId();
  }

  /** Offers a tool that takes any object, with the defaults of {@link ToolOptions}. */
  public Worker tool(String name, ToolFunction function) {
    return tool(name, ToolOptions.DEFAULT, function);
  }

  /**
   * Offers a tool, before the worker runs.
   *
   * @param name what agents call it: 1 to 64 letters, digits, {@code _} and {@code -}
   * @return this worker
   * @throws dev.clew.errors.ArgumentInvalidException for a name that it has already
   */
  public Worker tool(String name, ToolOptions options, ToolFunction function) {
    if (begun.get()) {
      throw new IllegalStateException("this worker runs already, and has told what it offers");
    }
    String checked = Text.checked(name, "name");
    OfferedTool tool = new OfferedTool(options.offer(checked), function);
    if (tools.putIfAbsent(checked, tool) != null) {
      throw Refusals.argument("name", "this worker already has a tool " + checked);
    }
    return this;
  }

  /**
   * Takes calls until {@link #drain()}, once; broken connections are mended for as long as it
   * takes. Interrupting the thread, and closing the client, end it at once: what runs is
   * interrupted, and left to its lease.
   *
   * @throws dev.clew.errors.InvalidException for a tool that the server refuses
   * @throws dev.clew.errors.LeaseLostException when another process has come under this worker's id
   * @throws dev.clew.errors.UnauthenticatedException for a credential that the server refuses
   * @throws dev.clew.errors.PermissionDeniedException for a credential that does not allow it
   */
  @Override
  public void run() {
    if (begun.getAndSet(true)) {
      throw new IllegalStateException("a worker runs once");
    }
    connection.opened(atClose);
    leases.start();
    try {
      stream.read();
      held.awaitNone(Long.MAX_VALUE);
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error failed) {
      ready.completeExceptionally(failed);
      throw failed;
    } finally {
      stop();
      leases.stop();
      connection.closed(atClose);
      ready.cancel(false);
    }
  }

  /**
   * Runs until the process is asked to stop (SIGTERM or Ctrl-C), then drains: the whole of a
   * worker's program. The JVM waits for what follows in this thread, up to 2 s, and then ends with
   * the status that it has for the signal; {@link Runtime#halt} gives it another one.
   *
   * @throws ClewException as {@link #run()}
   */
  public void runUntilStopped() {
    runUntilStopped(DRAIN);
  }

  /**
   * As {@link #runUntilStopped()}, with a time to drain.
   *
   * @throws ClewException as {@link #run()}
   */
  public void runUntilStopped(Duration drainTimeout) {
    Thread program = Thread.currentThread();
    Thread hook = new Thread(() -> drainFor(program, drainTimeout), "clew-drain");
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException stopping) {
      // It has been asked already.
      return;
    }
    try {
      run();
    } finally {
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException stopping) {
        // It is at work.
      }
    }
  }

  /**
   * Done as soon as a server has registered this worker; fails with what ended {@link #run()}
   * before.
   */
  public CompletableFuture<Void> ready() {
    return ready.copy();
  }

  /** As {@link #drain(Duration)}, for 30 s. */
  public void drain() {
    drain(DRAIN);
  }

  /**
   * Takes no more calls, finishes those that are there, and lets {@link #run()} end. What is not
   * done in time, or when the thread that waits is interrupted, is interrupted too, and left to its
   * lease.
   */
  public void drain(Duration timeout) {
    stream.finish();
    try {
      if (begun.get()) {
        announce();
        long end = System.nanoTime() + Nanos.of(timeout);
        if (held.awaitNone(Nanos.of(timeout))) {
          stream.awaitEnd(Nanos.of(LAST_WORD));
        }
        stream.leave();
        // What came in the meantime.
        if (!held.awaitNone(end - System.nanoTime())) {
          LOG.log(
              System.Logger.Level.WARNING,
              "{0} calls were not done in time, and are left to their leases",
              held.names().size());
        }
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    } finally {
      stop();
    }
  }

  @Override
  public String toString() {
    return "Worker(" + id() + ", " + tools.keySet() + ")";
  }

  private void drainFor(Thread program, Duration timeout) {
    drain(timeout);
    try {
      program.join(LAST_WORD.toMillis());
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
  }

  private void announce() {
    DrainWorkerRequest drain = DrainWorkerRequest.newBuilder().setWorkerId(id()).build();
    try {
      connection.ask(() -> connection.workers().drainWorker(drain));
    } catch (ClewException away) {
      LOG.log(System.Logger.Level.DEBUG, "no server was told to drain: {0}", away.getMessage());
    }
  }

  /** Interrupts what runs, and leaves the stream. */
  private void stop() {
    stream.leave();
    held.close();
  }

  private WorkRequest opening() {
    WorkRequest.Builder opening = request.toBuilder().addAllHeld(held.names());
    tools.values().forEach(tool -> opening.addTools(tool.offer()));
    return opening.build();
  }

  private void heed(WorkResponse response) {
    if (response.hasReady()) {
      leases.last(Times.of(response.getReady().getLease()));
      ready.complete(null);
    }
    response.getRevokedList().forEach(revoked -> held.drop(revoked.getCall()));
    response.getCallsList().forEach(this::begin);
  }

  private void begin(WorkerCall given) {
    held.take(given)
        .ifPresent(
            call -> {
              try {
                connection.executor().execute(() -> carrier.carry(call));
              } catch (RejectedExecutionException full) {
                held.end(call, false);
                throw full;
              }
            });
  }
}
