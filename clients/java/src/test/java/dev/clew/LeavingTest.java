package dev.clew;

import static dev.clew.Telling.started;
import static dev.clew.Telling.written;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.clew.errors.StreamLeftException;
import dev.clew.v1.CancelRunRequest;
import dev.clew.v1.CancelRunResponse;
import dev.clew.v1.RunServiceGrpc;
import dev.clew.v1.SendRequest;
import dev.clew.v1.SendResponse;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.InsecureServerCredentials;
import io.grpc.Server;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Every way to leave an attempt's stream cancels its run. The server begins a run, and says no
 * more.
 */
class LeavingTest {
  private final BlockingQueue<CancelRunRequest> cancelled = new LinkedBlockingQueue<>();

  private Server server;
  private Client client;

  @BeforeEach
  void serve() throws IOException {
    server =
        Grpc.newServerBuilderForPort(0, InsecureServerCredentials.create())
            .addService(new Beginning())
            .build()
            .start();
    client = Client.create("127.0.0.1:" + server.getPort());
  }

  @AfterEach
  void stop() {
    client.close();
    server.shutdownNow();
  }

  private EventStream begun() {
    EventStream stream = client.app("support").thread("t-1").send("hi");
    stream.next();
    stream.next();
    return stream;
  }

  private void assertCancelled() throws InterruptedException {
    assertEquals("u.r1", cancelled.poll(30, TimeUnit.SECONDS).getRunId());
  }

  @Test
  void closingIt() throws InterruptedException {
    EventStream stream = begun();
    stream.close();
    assertCancelled();
    stream.close();
    assertTrue(cancelled.isEmpty(), "a stream is left once");
  }

  @Test
  void interruptingItsReader() throws InterruptedException {
    EventStream stream = begun();
    Thread.currentThread().interrupt();
    assertThrows(StreamLeftException.class, stream::hasNext);
    assertTrue(Thread.interrupted(), "the thread is interrupted still");
    assertCancelled();
  }

  @Test
  void cancellingItsFuture() throws InterruptedException {
    CompletableFuture<Reply> reply = begun().replyAsync();
    reply.cancel(true);
    assertCancelled();
  }

  @Test
  void cancellingTheContextThatItIsReadIn() throws InterruptedException {
    Context.CancellableContext context = Context.current().withCancellation();
    context.run(
        () -> {
          EventStream stream = begun();
          context.cancel(null);
          assertThrows(StreamLeftException.class, stream::hasNext);
        });
    assertCancelled();
  }

  @Test
  void closingTheClient() throws InterruptedException {
    begun();
    client.close();
    assertCancelled();
  }

  @Test
  void aStreamThatWasNotReadHasNothingToLeave() {
    EventStream stream = client.app("support").thread("t-1").send("hi");
    stream.close();
    assertTrue(cancelled.isEmpty());
    assertThrows(StreamLeftException.class, stream::hasNext);
  }

  private final class Beginning extends RunServiceGrpc.RunServiceImplBase {
    @Override
    public void send(SendRequest request, StreamObserver<SendResponse> responses) {
      responses.onNext(
          SendResponse.newBuilder().addEvents(started(1)).addEvents(written(1)).build());
    }

    @Override
    public void cancelRun(CancelRunRequest request, StreamObserver<CancelRunResponse> response) {
      cancelled.add(request);
      response.onNext(CancelRunResponse.getDefaultInstance());
      response.onCompleted();
    }
  }
}
