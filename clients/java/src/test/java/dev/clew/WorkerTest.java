package dev.clew;

import static dev.clew.ScriptedWorkers.call;
import static dev.clew.ScriptedWorkers.name;
import static dev.clew.ScriptedWorkers.refused;
import static dev.clew.ScriptedWorkers.revoked;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.clew.errors.ArgumentInvalidException;
import dev.clew.errors.ClewException;
import dev.clew.errors.LeaseLostException;
import dev.clew.errors.PermissionDeniedException;
import dev.clew.errors.UnauthenticatedException;
import dev.clew.v1.FinishCallRequest;
import dev.clew.v1.WorkRequest;
import dev.clew.v1.WorkResponse;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a worker does with what a server says, word for word. */
@Timeout(30)
class WorkerTest {
  private final ScriptedWorkers script = new ScriptedWorkers();
  private final GatedTool charge = new GatedTool();

  private Server server;
  private Client client;
  private Worker worker;
  private CompletableFuture<Void> run;

  @BeforeEach
  void serve() throws IOException {
    server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .maxInboundMessageSize(16 << 20)
            .addService(script)
            .build()
            .start();
    client = Client.create("127.0.0.1:" + server.getPort());
    worker = client.worker().tool("charge", charge);
  }

  @AfterEach
  void stop() {
    client.close();
    server.shutdownNow();
  }

  /** The stream of the worker, which runs. */
  private StreamObserver<WorkResponse> stream() throws InterruptedException {
    if (run == null) {
      run = CompletableFuture.runAsync(worker);
    }
    return next(script.streams);
  }

  private static <T> T next(BlockingQueue<T> queue) throws InterruptedException {
    T found = queue.poll(10, TimeUnit.SECONDS);
    assertNotNull(found);
    return found;
  }

  private static <T> void assertNoMore(BlockingQueue<T> queue) throws InterruptedException {
    assertNull(queue.poll(200, TimeUnit.MILLISECONDS));
  }

  private static String text(FinishCallRequest finished) {
    return finished.getResult().getContent(0).getText().getText();
  }

  @Test
  void aToolKnowsItsCallAndItsOutcomeIsBrought() throws InterruptedException {
    worker.tool("other", ToolOptions.DEFAULT.withOnce().withMaxCalls(2), given -> null);
    stream().onNext(call("charge", "k-1", 3));
    ToolCall given = charge.begun.take();
    assertEquals("{\"order\":\"A-1\"}", given.argumentsJson());
    assertEquals(
        List.of("charge", "t-1", "u.r1", "call_1", "k-1", "ada"),
        List.of(
            given.tool(),
            given.threadId(),
            given.runId(),
            given.toolCallId(),
            given.idempotencyKey(),
            given.actor()));
    assertEquals(3, given.delivery());
    assertTrue(given.deadline().isEmpty());
    charge.open.countDown();
    FinishCallRequest finished = next(script.finished);
    assertEquals(worker.id(), finished.getWorkerId());
    assertEquals(name("k-1"), finished.getCall());
    assertEquals("40 for A-1", text(finished));
    WorkRequest opened = next(script.opened);
    assertTrue(opened.getWorkerId().matches("worker-[0-9a-f]{16}"), opened.getWorkerId());
    assertEquals("charge", opened.getTools(0).getName());
    assertTrue(opened.getTools(1).getOnce());
    assertEquals(List.of(), opened.getHeldList());
  }

  @Test
  void aToolThatTheWorkerHasNotIsAnError() throws InterruptedException {
    stream().onNext(call("refund", "k-1", 1));
    assertEquals("this worker has no tool refund", next(script.finished).getError().getMessage());
  }

  @Test
  void anOutcomeIsKeptUntilAServerTakesIt() throws InterruptedException {
    script.outcomeRefusals.add(refused(Status.Code.FAILED_PRECONDITION, "THREAD_INTERRUPTED"));
    script.outcomeRefusals.add(Status.UNKNOWN.asRuntimeException());
    charge.open.countDown();
    stream().onNext(call("charge", "k-1", 1));
    for (int tries = 0; tries < 3; tries++) {
      assertEquals("40 for A-1", text(next(script.finished)));
    }
    assertNoMore(script.finished);
    assertEquals(1, charge.begun.size());
  }

  @Test
  void anOutcomeThatNobodyWaitsForIsForgotten() throws InterruptedException {
    script.outcomeRefusals.add(refused(Status.Code.FAILED_PRECONDITION, "CALL_NOT_PENDING"));
    charge.open.countDown();
    stream().onNext(call("charge", "k-1", 1));
    next(script.finished);
    assertNoMore(script.finished);
  }

  @Test
  void aResultThatCannotBeKeptIsAnError() throws InterruptedException {
    script.outcomeRefusals.add(refused(Status.Code.INVALID_ARGUMENT, "ARGUMENT_INVALID"));
    script.outcomeRefusals.add(refused(Status.Code.INVALID_ARGUMENT, "ARGUMENT_INVALID"));
    charge.open.countDown();
    stream().onNext(call("charge", "k-1", 1));
    next(script.finished);
    String told = next(script.finished).getError().getMessage();
    assertEquals("the result of charge cannot be kept: no: ARGUMENT_INVALID", told);
    assertNoMore(script.finished);
  }

  @Test
  void aResultThatIsTooLargeToBeSentIsAnError() throws InterruptedException {
    worker.tool("print", given -> ToolOutput.text("x".repeat(9 << 20)));
    stream().onNext(call("print", "k-1", 1));
    String told = next(script.finished).getError().getMessage();
    assertTrue(told.startsWith("the result of print cannot be kept: "), told);
  }

  @Test
  void aStreamThatBreaksIsOpenedAgainWithWhatIsHeldAndNothingRunsTwice()
      throws InterruptedException {
    script.answersByHand = true;
    StreamObserver<WorkResponse> first = stream();
    next(script.opened);
    first.onNext(call("charge", "k-1", 1));
    charge.begun.take();
    first.onError(refused(Status.Code.ABORTED, "STREAM_CUT"));
    StreamObserver<WorkResponse> second = stream();
    assertEquals(List.of(name("k-1")), next(script.opened).getHeldList());
    second.onNext(call("charge", "k-1", 2));
    charge.open.countDown();
    next(script.finished);
    assertNoMore(charge.begun);
    ScriptedWorkers.answer(next(script.byHand), false);
    assertNoMore(script.finished);
    assertEquals(0, charge.begun.size());
  }

  @Test
  void aCallThatIsTriedAgainRunsAgain() throws InterruptedException {
    script.answersByHand = true;
    charge.open.countDown();
    StreamObserver<WorkResponse> stream = stream();
    stream.onNext(call("charge", "k-1", 1));
    assertEquals(1, charge.begun.take().delivery());
    next(script.finished);
    stream.onNext(call("charge", "k-1", 2));
    assertNoMore(charge.begun);
    ScriptedWorkers.answer(next(script.byHand), true);
    assertEquals(2, next(charge.begun).delivery());
    ScriptedWorkers.answer(next(script.byHand), false);
    assertNoMore(charge.begun);
  }

  @Test
  void aRevokedCallIsInterruptedAndNothingOfItIsBrought() throws InterruptedException {
    StreamObserver<WorkResponse> stream = stream();
    stream.onNext(call("charge", "k-1", 1));
    charge.begun.take();
    stream.onNext(WorkResponse.newBuilder().addRevoked(revoked("k-1")).build());
    assertTrue(charge.interrupted.await(10, TimeUnit.SECONDS));
    assertNoMore(script.finished);
    stream.onNext(call("charge", "k-1", 2));
    assertEquals(2, next(charge.begun).delivery());
  }

  @Test
  void aCallThatComesAgainAfterItWasRevokedWaitsForTheOneThatEnds() throws InterruptedException {
    CountDownLatch ends = new CountDownLatch(1);
    BlockingQueue<Integer> begun = new LinkedBlockingQueue<>();
    worker.tool(
        "stubborn",
        given -> {
          begun.add(given.delivery());
          while (ends.getCount() > 0) {
            try {
              ends.await();
            } catch (InterruptedException ignored) {
              // On purpose.
            }
          }
          return ToolOutput.text(String.valueOf(given.delivery()));
        });
    StreamObserver<WorkResponse> stream = stream();
    stream.onNext(call("stubborn", "k-1", 1));
    next(begun);
    stream.onNext(WorkResponse.newBuilder().addRevoked(revoked("k-1")).build());
    stream.onNext(call("stubborn", "k-1", 2));
    assertNoMore(begun);
    ends.countDown();
    assertEquals(2, next(begun));
    assertEquals("2", text(next(script.finished)));
    assertNoMore(script.finished);
  }

  @Test
  void leasesAreRenewedAndCallsRevokedByThat() throws InterruptedException {
    stream().onNext(call("charge", "k-1", 1));
    charge.begun.take();
    for (int times = 0; times < 3; times++) {
      assertEquals(List.of(name("k-1")), next(script.renewed).getCallsList());
    }
    script.revoking.add(revoked("k-1"));
    assertTrue(charge.interrupted.await(10, TimeUnit.SECONDS));
    script.renewed.clear();
    assertNoMore(script.finished);
  }

  @Test
  void aWorkerThatDrainsFinishesWhatItHas() throws InterruptedException {
    StreamObserver<WorkResponse> stream = stream();
    stream.onNext(call("charge", "k-1", 1));
    charge.begun.take();
    CompletableFuture<Void> drain = CompletableFuture.runAsync(worker::drain);
    assertEquals(worker.id(), next(script.drained).getWorkerId());
    assertNoMore(script.finished);
    assertTrue(!run.isDone() && !drain.isDone());
    charge.open.countDown();
    next(script.finished);
    stream.onCompleted();
    run.join();
    drain.join();
  }

  @Test
  void aStreamThatDoesNotEndIsLeft() throws InterruptedException {
    stream();
    long began = System.nanoTime();
    worker.drain();
    run.join();
    assertEquals(2, Duration.ofNanos(System.nanoTime() - began).toSeconds());
  }

  @Test
  void whatIsNotDoneInTimeIsLeft() throws InterruptedException {
    stream().onNext(call("charge", "k-1", 1));
    charge.begun.take();
    worker.drain(Duration.ofMillis(50));
    run.join();
    assertTrue(charge.interrupted.await(10, TimeUnit.SECONDS));
    assertNoMore(script.finished);
  }

  @Test
  void aWorkerThatWaitsForItsServerDrainsAtOnce() throws InterruptedException {
    for (int times = 0; times < 100; times++) {
      script.refusals.add(Status.UNKNOWN.asRuntimeException());
    }
    run = CompletableFuture.runAsync(worker);
    for (int times = 0; times < 5; times++) {
      next(script.opened);
    }
    worker.drain();
    run.join();
  }

  @Test
  void whatNoLaterTryMendsEndsTheWorker() {
    Map<Class<? extends ClewException>, StatusRuntimeException> refusals =
        Map.of(
            LeaseLostException.class, refused(Status.Code.ABORTED, "LEASE_LOST"),
            ArgumentInvalidException.class,
                refused(Status.Code.INVALID_ARGUMENT, "ARGUMENT_INVALID"),
            PermissionDeniedException.class, Status.PERMISSION_DENIED.asRuntimeException(),
            UnauthenticatedException.class, Status.UNAUTHENTICATED.asRuntimeException());
    refusals.forEach(
        (kind, refusal) -> {
          script.refusals.add(refusal);
          Worker refused = client.worker().tool("charge", charge);
          assertThrows(kind, refused::run);
          assertInstanceOf(
              kind,
              assertThrows(CompletionException.class, () -> refused.ready().join()).getCause());
        });
  }

  @Test
  void anInterruptEndsTheWorkerAndItsTools() throws InterruptedException {
    Thread thread = new Thread(worker);
    thread.start();
    worker.ready().join();
    next(script.streams).onNext(call("charge", "k-1", 1));
    charge.begun.take();
    thread.interrupt();
    thread.join();
    assertTrue(charge.interrupted.await(10, TimeUnit.SECONDS));
  }

  @Test
  void closingTheClientEndsTheWorkerAndItsTools() throws InterruptedException {
    stream().onNext(call("charge", "k-1", 1));
    charge.begun.take();
    client.close();
    run.join();
    assertTrue(charge.interrupted.await(10, TimeUnit.SECONDS));
  }
}
