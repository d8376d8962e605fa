package dev.clew;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.clew.errors.ArgumentInvalidException;
import dev.clew.errors.LeaseLostException;
import dev.clew.errors.ThreadInterruptedException;
import dev.clew.errors.UnavailableException;
import dev.clew.v1.Event;
import dev.clew.v1.Part;
import dev.clew.v1.TextPart;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tools of this process for an agent of a real server, whose leases are half a second. */
@Timeout(60)
class ToolsTest {
  private static final Path SHOP = Path.of("src/test/resources/shop.py");

  @TempDir static Path folder;

  private static Served server;

  private final GatedTool charge = new GatedTool();
  private Client client;
  private ThreadHandle thread;

  @BeforeAll
  static void serve() throws IOException {
    server = Served.of(SHOP, folder.resolve("clew.db"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @BeforeEach
  void connect(TestInfo test) {
    client = Client.create(server.address());
    thread = client.app("shop").thread(test.getTestMethod().orElseThrow().getName());
  }

  @AfterEach
  void close() {
    client.close();
  }

  private CompletableFuture<Void> working(Worker worker) {
    CompletableFuture<Void> run = CompletableFuture.runAsync(worker);
    worker.ready().join();
    return run;
  }

  private CompletableFuture<Void> working(ToolFunction function) {
    return working(client.worker().tool("charge", function));
  }

  private String said(ToolFunction function) {
    Worker worker = client.worker().tool("charge", function);
    CompletableFuture<Void> run = working(worker);
    String text = client.app("shop").thread(worker.id()).send("go").reply().text();
    worker.drain();
    run.join();
    return text;
  }

  @Test
  void whatAToolGivesIsWhatTheModelReads() {
    Part part = Part.newBuilder().setText(TextPart.newBuilder().setText("40")).build();
    assertEquals("It is 40.", said(call -> ToolOutput.text("40")));
    assertEquals("It is 4040.", said(call -> ToolOutput.parts(List.of(part, part))));
    assertEquals(
        "It is {\"order\": \"A-1\", \"amount\": 40}.",
        said(call -> ToolOutput.json(call.argumentsJson())));
    assertEquals("It is 9007199254740993.", said(call -> ToolOutput.json("9007199254740993")));
    assertEquals("It is null.", said(call -> null));
    assertTrue(
        said(call -> ToolOutput.json("{")).startsWith("It is the result of charge cannot be"));
    assertEquals(
        "It is no money.",
        said(
            call -> {
              throw new ToolException("no money");
            }));
    assertEquals(
        "It is IOException: disk.",
        said(
            call -> {
              throw new IOException("disk");
            }));
  }

  @Test
  void anErrorThatIsRetryableIsTriedAgain() {
    List<Integer> deliveries = new ArrayList<>();
    ToolFunction busy =
        call -> {
          deliveries.add(call.delivery());
          if (deliveries.size() < 3) {
            throw new ToolException("busy", Duration.ofMillis(1));
          }
          return ToolOutput.text("charged");
        };
    working(client.worker().tool("charge", ToolOptions.DEFAULT.withMaxTries(5), busy));
    assertEquals("It is charged.", thread.send("go").reply().text());
    assertEquals(List.of(1, 2, 3), deliveries);
  }

  @Test
  void argumentsAreCheckedAgainstTheSchema() {
    String schema = "{\"type\":\"object\",\"properties\":{\"order\":{\"type\":\"integer\"}}}";
    working(client.worker().tool("charge", ToolOptions.DEFAULT.withParameters(schema), charge));
    String text = thread.send("go").reply().text();
    assertTrue(text.startsWith("It is invalid arguments for charge: order: "), text);
  }

  @Test
  void aLongCallKeepsItsLease() throws InterruptedException {
    working(charge);
    working(charge);
    CompletableFuture<Reply> turn = thread.send("go").replyAsync();
    charge.begun.take();
    Thread.sleep(1500);
    charge.open.countDown();
    assertEquals("It is 40 for A-1.", turn.join().text());
    assertEquals(0, charge.begun.size());
  }

  @Test
  void aCancelledRunInterruptsItsTool() throws InterruptedException {
    working(charge);
    CompletableFuture<Reply> turn = thread.send("go").replyAsync();
    charge.begun.take();
    thread.cancel();
    assertTrue(charge.interrupted.await(10, TimeUnit.SECONDS));
    assertThrows(CompletionException.class, turn::join);
  }

  @Test
  void aCallOfAWorkerThatIsGoneIsMadeByAnother() throws InterruptedException {
    Thread gone = new Thread(client.worker().tool("charge", charge));
    gone.start();
    CompletableFuture<Reply> turn = thread.send("go").replyAsync();
    String key = charge.begun.take().idempotencyKey();
    gone.interrupt();
    gone.join();
    charge.open.countDown();
    working(charge);
    assertEquals("It is 40 for A-1.", turn.join().text());
    assertEquals(key, charge.begun.take().idempotencyKey());
  }

  @Test
  void progressIsToldToWhoeverWatches() {
    CountDownLatch seen = new CountDownLatch(1);
    working(
        call -> {
          call.report("{\"half\":true}");
          assertTrue(seen.await(10, TimeUnit.SECONDS));
          return ToolOutput.text("charged");
        });
    List<String> told = new ArrayList<>();
    for (Event event : thread.send("go")) {
      if (event.hasToolCallProgress()) {
        told.add(event.getToolCallProgress().getProgressJson());
        seen.countDown();
      }
    }
    assertEquals(List.of("{\"half\":true}"), told);
  }

  @Test
  void aWorkerThatDrainsFinishesWhatItHas() throws InterruptedException {
    Worker worker = client.worker().tool("charge", charge);
    CompletableFuture<Void> run = working(worker);
    CompletableFuture<Reply> turn = thread.send("go").replyAsync();
    charge.begun.take();
    CompletableFuture<Void> drain = CompletableFuture.runAsync(worker::drain);
    Thread.sleep(100);
    assertFalse(run.isDone());
    charge.open.countDown();
    drain.join();
    run.join();
    assertEquals("It is 40 for A-1.", turn.join().text());
  }

  @Test
  void aToolThatTheServerRefusesEndsTheWorker() {
    Worker worker = client.worker().tool("no name", charge);
    assertEquals("name", fieldOf(assertThrows(ArgumentInvalidException.class, worker::run)));
  }

  @Test
  void anotherWorkerOfTheSameIdTakesItsPlace() {
    WorkerOptions same = WorkerOptions.DEFAULT.withId("same");
    CompletableFuture<Void> first = working(client.worker(same).tool("charge", charge));
    working(client.worker(same).tool("charge", charge));
    Throwable ended = assertThrows(CompletionException.class, first::join).getCause();
    assertInstanceOf(LeaseLostException.class, ended);
  }

  @Test
  void aWorkerOfAThreadTakesNoCallsOfOthers() throws InterruptedException {
    WorkerOptions own = WorkerOptions.DEFAULT.withThreadId(thread.id()).withMaxCalls(1);
    working(client.worker(own).tool("charge", charge));
    working(call -> ToolOutput.text("nothing"));
    charge.open.countDown();
    assertEquals("It is nothing.", client.app("shop").thread("other").send("go").reply().text());
    assertEquals(0, charge.begun.size());
  }

  @Test
  void aResultOutlivesTheServerThatAskedForIt() throws Exception {
    Path database = folder.resolve("restarted.db");
    Served first = Served.of(SHOP, database);
    Duration soon = Duration.ofMillis(100);
    try (Client there = Client.builder().target(first.address()).rejoinTimeout(soon).build()) {
      working(there.worker().tool("charge", charge));
      CompletableFuture<Reply> turn = there.app("shop").thread("t").send("go").replyAsync();
      charge.begun.take();
      first.close();
      Throwable cut = assertThrows(CompletionException.class, turn::join).getCause();
      assertInstanceOf(UnavailableException.class, cut);
      charge.open.countDown();
      try (Served second = Served.of(SHOP, database, first.port());
          Client other = Client.create(second.address())) {
        ThreadHandle again = other.app("shop").thread("t");
        assertThrows(ThreadInterruptedException.class, () -> again.send("more").reply());
        assertEquals("It is 40 for A-1.", again.retry().reply().text());
      }
    }
    assertEquals(0, charge.begun.size());
  }

  private static String fieldOf(ArgumentInvalidException refused) {
    String field = refused.field();
    return field.substring(field.lastIndexOf('.') + 1);
  }
}
