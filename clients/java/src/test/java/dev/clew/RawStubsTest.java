package dev.clew;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.clew.v1.Approval;
import dev.clew.v1.DecideRequest;
import dev.clew.v1.DecideResponse;
import dev.clew.v1.Decision;
import dev.clew.v1.Event;
import dev.clew.v1.FailureCode;
import dev.clew.v1.Limits;
import dev.clew.v1.RetryRequest;
import dev.clew.v1.RetryResponse;
import dev.clew.v1.RunOptions;
import dev.clew.v1.RunServiceGrpc;
import dev.clew.v1.RunServiceGrpc.RunServiceBlockingStub;
import dev.clew.v1.SendRequest;
import dev.clew.v1.SendResponse;
import dev.clew.v1.WatchRequest;
import dev.clew.v1.WatchResponse;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The generated stubs alone, against a real server: the one that {@code clew.program} names, with
 * the agent of examples/support.py.
 */
class RawStubsTest {
  @TempDir Path folder;

  private Served server;
  private ManagedChannel channel;
  private RunServiceBlockingStub runs;

  @BeforeEach
  void serve() throws IOException {
    server = Served.of(Path.of("../../examples/support.py"), folder.resolve("clew.db"));
    channel = Grpc.newChannelBuilder(server.address(), InsecureChannelCredentials.create()).build();
    runs = RunServiceGrpc.newBlockingStub(channel);
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.close();
  }

  @Test
  void theStubsSendDecideRetryAndWatch() {
    SendRequest send =
        SendRequest.newBuilder()
            .setThreadId("t-1")
            .setApp("support")
            .setText("Please refund order A-1001")
            .build();
    Event asked = last(runs.send(send), SendResponse::getEventsList);
    assertEquals(1, asked.getRunSuspended().getApprovalsCount());

    Approval approval = asked.getRunSuspended().getApprovals(0);
    Decision approve =
        Decision.newBuilder()
            .setApprovalId(approval.getId())
            .setApprove(Decision.Approve.getDefaultInstance())
            .build();
    DecideRequest decide =
        DecideRequest.newBuilder().setThreadId("t-1").addDecisions(approve).build();
    Event decided = last(runs.decide(decide), DecideResponse::getEventsList);
    assertTrue(decided.getRunCompleted().getReply().getText().startsWith("Done"));

    RunOptions oneStep =
        RunOptions.newBuilder().setLimits(Limits.newBuilder().setMaxSteps(1)).build();
    SendRequest more = send.toBuilder().setText("Where is A-1002?").setOptions(oneStep).build();
    Event failed = last(runs.send(more), SendResponse::getEventsList);
    assertEquals(FailureCode.FAILURE_CODE_LIMIT_EXCEEDED, failed.getRunFailed().getCode());

    RetryRequest retry = RetryRequest.newBuilder().setThreadId("t-1").build();
    Event retried = last(runs.retry(retry), RetryResponse::getEventsList);
    assertTrue(retried.getRunCompleted().getReply().getText().contains("on its way"));

    WatchRequest watch = WatchRequest.newBuilder().setThreadId("t-1").build();
    Event seen = last(runs.watch(watch), WatchResponse::getEventsList);
    assertEquals(retried, seen);
  }

  private static <R> Event last(Iterator<R> responses, Function<R, List<Event>> events) {
    List<Event> all = new ArrayList<>();
    responses.forEachRemaining(response -> all.addAll(events.apply(response)));
    return all.get(all.size() - 1);
  }
}
