package dev.clew;

import com.google.protobuf.Any;
import com.google.rpc.ErrorInfo;
import dev.clew.v1.CallName;
import dev.clew.v1.DrainWorkerRequest;
import dev.clew.v1.DrainWorkerResponse;
import dev.clew.v1.FinishCallRequest;
import dev.clew.v1.FinishCallResponse;
import dev.clew.v1.RenewCallsRequest;
import dev.clew.v1.RenewCallsResponse;
import dev.clew.v1.WorkRequest;
import dev.clew.v1.WorkResponse;
import dev.clew.v1.WorkerCall;
import dev.clew.v1.WorkerServiceGrpc;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A server for workers that says what a test has it say, and keeps what it was told. */
final class ScriptedWorkers extends WorkerServiceGrpc.WorkerServiceImplBase {
  final BlockingQueue<WorkRequest> opened = new LinkedBlockingQueue<>();
  final BlockingQueue<StreamObserver<WorkResponse>> streams = new LinkedBlockingQueue<>();
  final BlockingQueue<RenewCallsRequest> renewed = new LinkedBlockingQueue<>();
  final BlockingQueue<DrainWorkerRequest> drained = new LinkedBlockingQueue<>();
  final BlockingQueue<FinishCallRequest> finished = new LinkedBlockingQueue<>();

  /** Where the answer to an outcome goes that is to be answered by hand. */
  final BlockingQueue<StreamObserver<FinishCallResponse>> byHand = new LinkedBlockingQueue<>();

  /** What streams are refused with, and then outcomes, one after the other. */
  final Queue<StatusRuntimeException> refusals = new ConcurrentLinkedQueue<>();

  final Queue<StatusRuntimeException> outcomeRefusals = new ConcurrentLinkedQueue<>();
  final Queue<WorkResponse.Revoked> revoking = new ConcurrentLinkedQueue<>();
  volatile boolean answersByHand;

  static StatusRuntimeException refused(Status.Code status, String reason) {
    ErrorInfo info = ErrorInfo.newBuilder().setDomain("clew").setReason(reason).build();
    return StatusProto.toStatusRuntimeException(
        com.google.rpc.Status.newBuilder()
            .setCode(status.value())
            .setMessage("no: " + reason)
            .addDetails(Any.pack(info))
            .build());
  }

  static CallName name(String key) {
    return CallName.newBuilder().setThreadId("t-1").setIdempotencyKey(key).build();
  }

  static WorkResponse call(String tool, String key, int delivery) {
    return WorkResponse.newBuilder()
        .addCalls(
            WorkerCall.newBuilder()
                .setName(name(key))
                .setTool(tool)
                .setRunId("u.r1")
                .setToolCallId("call_1")
                .setArgumentsJson("{\"order\":\"A-1\"}")
                .setActor("ada")
                .setDelivery(delivery))
        .build();
  }

  static WorkResponse.Revoked revoked(String key) {
    return WorkResponse.Revoked.newBuilder().setCall(name(key)).build();
  }

  @Override
  public void work(WorkRequest request, StreamObserver<WorkResponse> responses) {
    opened.add(request);
    StatusRuntimeException refusal = refusals.poll();
    if (refusal != null) {
      responses.onError(refusal);
      return;
    }
    WorkResponse.Ready.Builder ready = WorkResponse.Ready.newBuilder();
    ready.getLeaseBuilder().setNanos(300_000_000);
    responses.onNext(WorkResponse.newBuilder().setReady(ready).build());
    streams.add(responses);
  }

  @Override
  public void renewCalls(RenewCallsRequest request, StreamObserver<RenewCallsResponse> response) {
    renewed.add(request);
    RenewCallsResponse.Builder lost = RenewCallsResponse.newBuilder();
    new ArrayDeque<>(revoking).forEach(lost::addRevoked);
    response.onNext(lost.build());
    response.onCompleted();
  }

  @Override
  public void finishCall(FinishCallRequest request, StreamObserver<FinishCallResponse> response) {
    finished.add(request);
    StatusRuntimeException refusal = outcomeRefusals.poll();
    if (refusal != null) {
      response.onError(refusal);
    } else if (answersByHand) {
      byHand.add(response);
    } else {
      answer(response, false);
    }
  }

  @Override
  public void drainWorker(
      DrainWorkerRequest request, StreamObserver<DrainWorkerResponse> response) {
    drained.add(request);
    response.onNext(DrainWorkerResponse.newBuilder().setKnown(true).build());
    response.onCompleted();
  }

  static void answer(StreamObserver<FinishCallResponse> response, boolean retried) {
    response.onNext(FinishCallResponse.newBuilder().setRetried(retried).build());
    response.onCompleted();
  }
}
