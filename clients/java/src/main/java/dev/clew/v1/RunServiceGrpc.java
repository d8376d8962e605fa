package dev.clew.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Starts, continues, watches and stops runs.
 * Send, Decide, Resume and Retry each start an attempt and stream its events from RunStarted (or RunQueued, where the thread is
 * busy) to RunSuspended, RunCompleted or RunFailed. What is refused before RunStarted ends the stream with a status (see
 * ErrorReason) and left no trace; what fails after it is RunFailed, and the stream's status is OK.
 * An earlier `request_id` with the same content streams that first attempt again, from its RunStarted to its end, and starts nothing.
 * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
 * DATA_CORRUPT, LEASE_LOST, STREAM_CUT, INTERNAL.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class RunServiceGrpc {

  private RunServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "clew.v1.RunService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.SendRequest,
      dev.clew.v1.SendResponse> getSendMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Send",
      requestType = dev.clew.v1.SendRequest.class,
      responseType = dev.clew.v1.SendResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.clew.v1.SendRequest,
      dev.clew.v1.SendResponse> getSendMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.SendRequest, dev.clew.v1.SendResponse> getSendMethod;
    if ((getSendMethod = RunServiceGrpc.getSendMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getSendMethod = RunServiceGrpc.getSendMethod) == null) {
          RunServiceGrpc.getSendMethod = getSendMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.SendRequest, dev.clew.v1.SendResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Send"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.SendRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.SendResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("Send"))
              .build();
        }
      }
    }
    return getSendMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.DecideRequest,
      dev.clew.v1.DecideResponse> getDecideMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Decide",
      requestType = dev.clew.v1.DecideRequest.class,
      responseType = dev.clew.v1.DecideResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.clew.v1.DecideRequest,
      dev.clew.v1.DecideResponse> getDecideMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.DecideRequest, dev.clew.v1.DecideResponse> getDecideMethod;
    if ((getDecideMethod = RunServiceGrpc.getDecideMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getDecideMethod = RunServiceGrpc.getDecideMethod) == null) {
          RunServiceGrpc.getDecideMethod = getDecideMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.DecideRequest, dev.clew.v1.DecideResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Decide"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DecideRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DecideResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("Decide"))
              .build();
        }
      }
    }
    return getDecideMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ResumeRequest,
      dev.clew.v1.ResumeResponse> getResumeMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Resume",
      requestType = dev.clew.v1.ResumeRequest.class,
      responseType = dev.clew.v1.ResumeResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ResumeRequest,
      dev.clew.v1.ResumeResponse> getResumeMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ResumeRequest, dev.clew.v1.ResumeResponse> getResumeMethod;
    if ((getResumeMethod = RunServiceGrpc.getResumeMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getResumeMethod = RunServiceGrpc.getResumeMethod) == null) {
          RunServiceGrpc.getResumeMethod = getResumeMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ResumeRequest, dev.clew.v1.ResumeResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Resume"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ResumeRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ResumeResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("Resume"))
              .build();
        }
      }
    }
    return getResumeMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.RetryRequest,
      dev.clew.v1.RetryResponse> getRetryMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Retry",
      requestType = dev.clew.v1.RetryRequest.class,
      responseType = dev.clew.v1.RetryResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.clew.v1.RetryRequest,
      dev.clew.v1.RetryResponse> getRetryMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.RetryRequest, dev.clew.v1.RetryResponse> getRetryMethod;
    if ((getRetryMethod = RunServiceGrpc.getRetryMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getRetryMethod = RunServiceGrpc.getRetryMethod) == null) {
          RunServiceGrpc.getRetryMethod = getRetryMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.RetryRequest, dev.clew.v1.RetryResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Retry"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.RetryRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.RetryResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("Retry"))
              .build();
        }
      }
    }
    return getRetryMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.WatchRequest,
      dev.clew.v1.WatchResponse> getWatchMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Watch",
      requestType = dev.clew.v1.WatchRequest.class,
      responseType = dev.clew.v1.WatchResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.clew.v1.WatchRequest,
      dev.clew.v1.WatchResponse> getWatchMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.WatchRequest, dev.clew.v1.WatchResponse> getWatchMethod;
    if ((getWatchMethod = RunServiceGrpc.getWatchMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getWatchMethod = RunServiceGrpc.getWatchMethod) == null) {
          RunServiceGrpc.getWatchMethod = getWatchMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.WatchRequest, dev.clew.v1.WatchResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Watch"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.WatchRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.WatchResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("Watch"))
              .build();
        }
      }
    }
    return getWatchMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.CancelRunRequest,
      dev.clew.v1.CancelRunResponse> getCancelRunMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CancelRun",
      requestType = dev.clew.v1.CancelRunRequest.class,
      responseType = dev.clew.v1.CancelRunResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.CancelRunRequest,
      dev.clew.v1.CancelRunResponse> getCancelRunMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.CancelRunRequest, dev.clew.v1.CancelRunResponse> getCancelRunMethod;
    if ((getCancelRunMethod = RunServiceGrpc.getCancelRunMethod) == null) {
      synchronized (RunServiceGrpc.class) {
        if ((getCancelRunMethod = RunServiceGrpc.getCancelRunMethod) == null) {
          RunServiceGrpc.getCancelRunMethod = getCancelRunMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.CancelRunRequest, dev.clew.v1.CancelRunResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CancelRun"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.CancelRunRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.CancelRunResponse.getDefaultInstance()))
              .setSchemaDescriptor(new RunServiceMethodDescriptorSupplier("CancelRun"))
              .build();
        }
      }
    }
    return getCancelRunMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static RunServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceStub>() {
        @java.lang.Override
        public RunServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceStub(channel, callOptions);
        }
      };
    return RunServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static RunServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingV2Stub>() {
        @java.lang.Override
        public RunServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return RunServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static RunServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceBlockingStub>() {
        @java.lang.Override
        public RunServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceBlockingStub(channel, callOptions);
        }
      };
    return RunServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static RunServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<RunServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<RunServiceFutureStub>() {
        @java.lang.Override
        public RunServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new RunServiceFutureStub(channel, callOptions);
        }
      };
    return RunServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Starts, continues, watches and stops runs.
   * Send, Decide, Resume and Retry each start an attempt and stream its events from RunStarted (or RunQueued, where the thread is
   * busy) to RunSuspended, RunCompleted or RunFailed. What is refused before RunStarted ends the stream with a status (see
   * ErrorReason) and left no trace; what fails after it is RunFailed, and the stream's status is OK.
   * An earlier `request_id` with the same content streams that first attempt again, from its RunStarted to its end, and starts nothing.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * DATA_CORRUPT, LEASE_LOST, STREAM_CUT, INTERNAL.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Sends an input to a thread, which it creates if need be, and runs the thread's app on it. After a completed or failed run this
     * is a new turn.
     * Without a thread id the run is stateless: nothing is stored, leaving the stream cancels it, and its events name no thread. What its
     * state has become is told by StateReturned, before the event that ends the stream. A
     * workflow that pauses or fails ends such a stream with a snapshot, sealed by the server, from which Resume or Decide continues it;
     * one whose snapshot would be over 3.5 MiB fails instead (FAILURE_CODE_LIMIT_EXCEEDED). An agent gives no snapshot: one that needs a
     * person has to use a thread.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND,
     * APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, QUOTA_EXCEEDED, THREAD_NOT_FOUND (deleted meanwhile, or since the same request).
     * </pre>
     */
    default void send(dev.clew.v1.SendRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.SendResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getSendMethod(), responseObserver);
    }

    /**
     * <pre>
     * Decides approvals of a suspended thread, all or none. The run continues when the last one is decided; until then the decision is
     * recorded and the stream ends with RunSuspended, which names the rest. Of a stateless run that is suspended it decides approvals in
     * the same way, from its snapshot.
     * Refused with: RESUME_INVALID (the thread is not suspended, or an approval is void), APPROVAL_NOT_FOUND,
     * APPROVAL_ALREADY_DECIDED, APPROVAL_EXPIRED, THREAD_NOT_FOUND, THREAD_INTERRUPTED, THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID (edited arguments or a value that are not acceptable JSON), ARGUMENT_INVALID (what the tool or the
     * pause does not allow by its schema), STATE_TOO_LARGE. With a snapshot also as Resume.
     * </pre>
     */
    default void decide(dev.clew.v1.DecideRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DecideResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDecideMethod(), responseObserver);
    }

    /**
     * <pre>
     * Answers the only pending pause of a suspended thread. Short for Decide with one `value_json`. Where anything but exactly one pause
     * waits: ARGUMENT_INVALID, with `approval_ids`.
     * With a snapshot it continues a stateless run: a suspended one with the answer to its only pause, a failed one from the step where
     * it stopped, as Retry does. What was finished is not run again, and idempotency keys stay the same. The run is stateless again,
     * with a new snapshot where it pauses or fails again. A snapshot can be continued more than once; each time is a run of its own
     * from there.
     * Refused with: what Decide is refused with. With a snapshot: RESUME_INVALID where this server's keys do not open it for this caller
     * (nothing more is said), where its app no longer has a node that the run waits at, or where an answer comes for a failed run;
     * APP_NOT_FOUND where its app is no longer served.
     * </pre>
     */
    default void resume(dev.clew.v1.ResumeRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ResumeResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getResumeMethod(), responseObserver);
    }

    /**
     * <pre>
     * Continues a failed, cancelled or interrupted run from the step where it stopped. Tool calls that have an outcome are not run
     * again; one that was under way is, with the same idempotency key, unless its tool must run at most once: then the run suspends
     * and asks what became of it.
     * Refused with: RESUME_INVALID (nothing failed here; also for the loser of two retries), THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, THREAD_NOT_FOUND.
     * </pre>
     */
    default void retry(dev.clew.v1.RetryRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.RetryResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRetryMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams a thread's events: what is in the log after the cursor, then what happens. Nothing is lost between a read and a Watch
     * after the version that the read gave. Leaving it has no effect on any run.
     * Refused with: THREAD_NOT_FOUND (also when the thread is deleted meanwhile), RUN_NOT_FOUND, THREAD_INTERRUPTED (when all that was
     * logged has been sent: the run's process is gone, and nothing will happen before a Retry).
     * </pre>
     */
    default void watch(dev.clew.v1.WatchRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.WatchResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchMethod(), responseObserver);
    }

    /**
     * <pre>
     * Cancels the run at a thread's head and answers when that is written. A run at work is stopped, and saved as failed with
     * FAILURE_CODE_CANCELLED; so is an interrupted or suspended one, whose approvals become void. A run that is stopped while a call of a
     * tool declared `once` is under way is suspended instead, with an approval of kind APPROVAL_KIND_TOOL_OUTCOME: a person says what became of the call.
     * A completed or failed run stays as it is. Retry continues what was cancelled. A request that waits for its turn, named by its id, leaves the queue: its stream ends with
     * CANCELLED, nothing was recorded, and it is not run if it comes again.
     * Refused with: THREAD_NOT_FOUND, RUN_NOT_FOUND, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    default void cancelRun(dev.clew.v1.CancelRunRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.CancelRunResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCancelRunMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service RunService.
   * <pre>
   * Starts, continues, watches and stops runs.
   * Send, Decide, Resume and Retry each start an attempt and stream its events from RunStarted (or RunQueued, where the thread is
   * busy) to RunSuspended, RunCompleted or RunFailed. What is refused before RunStarted ends the stream with a status (see
   * ErrorReason) and left no trace; what fails after it is RunFailed, and the stream's status is OK.
   * An earlier `request_id` with the same content streams that first attempt again, from its RunStarted to its end, and starts nothing.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * DATA_CORRUPT, LEASE_LOST, STREAM_CUT, INTERNAL.
   * </pre>
   */
  public static abstract class RunServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return RunServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service RunService.
   * <pre>
   * Starts, continues, watches and stops runs.
   * Send, Decide, Resume and Retry each start an attempt and stream its events from RunStarted (or RunQueued, where the thread is
   * busy) to RunSuspended, RunCompleted or RunFailed. What is refused before RunStarted ends the stream with a status (see
   * ErrorReason) and left no trace; what fails after it is RunFailed, and the stream's status is OK.
   * An earlier `request_id` with the same content streams that first attempt again, from its RunStarted to its end, and starts nothing.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * DATA_CORRUPT, LEASE_LOST, STREAM_CUT, INTERNAL.
   * </pre>
   */
  public static final class RunServiceStub
      extends io.grpc.stub.AbstractAsyncStub<RunServiceStub> {
    private RunServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Sends an input to a thread, which it creates if need be, and runs the thread's app on it. After a completed or failed run this
     * is a new turn.
     * Without a thread id the run is stateless: nothing is stored, leaving the stream cancels it, and its events name no thread. What its
     * state has become is told by StateReturned, before the event that ends the stream. A
     * workflow that pauses or fails ends such a stream with a snapshot, sealed by the server, from which Resume or Decide continues it;
     * one whose snapshot would be over 3.5 MiB fails instead (FAILURE_CODE_LIMIT_EXCEEDED). An agent gives no snapshot: one that needs a
     * person has to use a thread.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND,
     * APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, QUOTA_EXCEEDED, THREAD_NOT_FOUND (deleted meanwhile, or since the same request).
     * </pre>
     */
    public void send(dev.clew.v1.SendRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.SendResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getSendMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Decides approvals of a suspended thread, all or none. The run continues when the last one is decided; until then the decision is
     * recorded and the stream ends with RunSuspended, which names the rest. Of a stateless run that is suspended it decides approvals in
     * the same way, from its snapshot.
     * Refused with: RESUME_INVALID (the thread is not suspended, or an approval is void), APPROVAL_NOT_FOUND,
     * APPROVAL_ALREADY_DECIDED, APPROVAL_EXPIRED, THREAD_NOT_FOUND, THREAD_INTERRUPTED, THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID (edited arguments or a value that are not acceptable JSON), ARGUMENT_INVALID (what the tool or the
     * pause does not allow by its schema), STATE_TOO_LARGE. With a snapshot also as Resume.
     * </pre>
     */
    public void decide(dev.clew.v1.DecideRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DecideResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getDecideMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Answers the only pending pause of a suspended thread. Short for Decide with one `value_json`. Where anything but exactly one pause
     * waits: ARGUMENT_INVALID, with `approval_ids`.
     * With a snapshot it continues a stateless run: a suspended one with the answer to its only pause, a failed one from the step where
     * it stopped, as Retry does. What was finished is not run again, and idempotency keys stay the same. The run is stateless again,
     * with a new snapshot where it pauses or fails again. A snapshot can be continued more than once; each time is a run of its own
     * from there.
     * Refused with: what Decide is refused with. With a snapshot: RESUME_INVALID where this server's keys do not open it for this caller
     * (nothing more is said), where its app no longer has a node that the run waits at, or where an answer comes for a failed run;
     * APP_NOT_FOUND where its app is no longer served.
     * </pre>
     */
    public void resume(dev.clew.v1.ResumeRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ResumeResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getResumeMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Continues a failed, cancelled or interrupted run from the step where it stopped. Tool calls that have an outcome are not run
     * again; one that was under way is, with the same idempotency key, unless its tool must run at most once: then the run suspends
     * and asks what became of it.
     * Refused with: RESUME_INVALID (nothing failed here; also for the loser of two retries), THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, THREAD_NOT_FOUND.
     * </pre>
     */
    public void retry(dev.clew.v1.RetryRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.RetryResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getRetryMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams a thread's events: what is in the log after the cursor, then what happens. Nothing is lost between a read and a Watch
     * after the version that the read gave. Leaving it has no effect on any run.
     * Refused with: THREAD_NOT_FOUND (also when the thread is deleted meanwhile), RUN_NOT_FOUND, THREAD_INTERRUPTED (when all that was
     * logged has been sent: the run's process is gone, and nothing will happen before a Retry).
     * </pre>
     */
    public void watch(dev.clew.v1.WatchRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.WatchResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Cancels the run at a thread's head and answers when that is written. A run at work is stopped, and saved as failed with
     * FAILURE_CODE_CANCELLED; so is an interrupted or suspended one, whose approvals become void. A run that is stopped while a call of a
     * tool declared `once` is under way is suspended instead, with an approval of kind APPROVAL_KIND_TOOL_OUTCOME: a person says what became of the call.
     * A completed or failed run stays as it is. Retry continues what was cancelled. A request that waits for its turn, named by its id, leaves the queue: its stream ends with
     * CANCELLED, nothing was recorded, and it is not run if it comes again.
     * Refused with: THREAD_NOT_FOUND, RUN_NOT_FOUND, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public void cancelRun(dev.clew.v1.CancelRunRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.CancelRunResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCancelRunMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service RunService.
   * <pre>
   * Starts, continues, watches and stops runs.
   * Send, Decide, Resume and Retry each start an attempt and stream its events from RunStarted (or RunQueued, where the thread is
   * busy) to RunSuspended, RunCompleted or RunFailed. What is refused before RunStarted ends the stream with a status (see
   * ErrorReason) and left no trace; what fails after it is RunFailed, and the stream's status is OK.
   * An earlier `request_id` with the same content streams that first attempt again, from its RunStarted to its end, and starts nothing.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * DATA_CORRUPT, LEASE_LOST, STREAM_CUT, INTERNAL.
   * </pre>
   */
  public static final class RunServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<RunServiceBlockingV2Stub> {
    private RunServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Sends an input to a thread, which it creates if need be, and runs the thread's app on it. After a completed or failed run this
     * is a new turn.
     * Without a thread id the run is stateless: nothing is stored, leaving the stream cancels it, and its events name no thread. What its
     * state has become is told by StateReturned, before the event that ends the stream. A
     * workflow that pauses or fails ends such a stream with a snapshot, sealed by the server, from which Resume or Decide continues it;
     * one whose snapshot would be over 3.5 MiB fails instead (FAILURE_CODE_LIMIT_EXCEEDED). An agent gives no snapshot: one that needs a
     * person has to use a thread.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND,
     * APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, QUOTA_EXCEEDED, THREAD_NOT_FOUND (deleted meanwhile, or since the same request).
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.clew.v1.SendResponse>
        send(dev.clew.v1.SendRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getSendMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Decides approvals of a suspended thread, all or none. The run continues when the last one is decided; until then the decision is
     * recorded and the stream ends with RunSuspended, which names the rest. Of a stateless run that is suspended it decides approvals in
     * the same way, from its snapshot.
     * Refused with: RESUME_INVALID (the thread is not suspended, or an approval is void), APPROVAL_NOT_FOUND,
     * APPROVAL_ALREADY_DECIDED, APPROVAL_EXPIRED, THREAD_NOT_FOUND, THREAD_INTERRUPTED, THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID (edited arguments or a value that are not acceptable JSON), ARGUMENT_INVALID (what the tool or the
     * pause does not allow by its schema), STATE_TOO_LARGE. With a snapshot also as Resume.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.clew.v1.DecideResponse>
        decide(dev.clew.v1.DecideRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getDecideMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Answers the only pending pause of a suspended thread. Short for Decide with one `value_json`. Where anything but exactly one pause
     * waits: ARGUMENT_INVALID, with `approval_ids`.
     * With a snapshot it continues a stateless run: a suspended one with the answer to its only pause, a failed one from the step where
     * it stopped, as Retry does. What was finished is not run again, and idempotency keys stay the same. The run is stateless again,
     * with a new snapshot where it pauses or fails again. A snapshot can be continued more than once; each time is a run of its own
     * from there.
     * Refused with: what Decide is refused with. With a snapshot: RESUME_INVALID where this server's keys do not open it for this caller
     * (nothing more is said), where its app no longer has a node that the run waits at, or where an answer comes for a failed run;
     * APP_NOT_FOUND where its app is no longer served.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.clew.v1.ResumeResponse>
        resume(dev.clew.v1.ResumeRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getResumeMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Continues a failed, cancelled or interrupted run from the step where it stopped. Tool calls that have an outcome are not run
     * again; one that was under way is, with the same idempotency key, unless its tool must run at most once: then the run suspends
     * and asks what became of it.
     * Refused with: RESUME_INVALID (nothing failed here; also for the loser of two retries), THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, THREAD_NOT_FOUND.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.clew.v1.RetryResponse>
        retry(dev.clew.v1.RetryRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getRetryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a thread's events: what is in the log after the cursor, then what happens. Nothing is lost between a read and a Watch
     * after the version that the read gave. Leaving it has no effect on any run.
     * Refused with: THREAD_NOT_FOUND (also when the thread is deleted meanwhile), RUN_NOT_FOUND, THREAD_INTERRUPTED (when all that was
     * logged has been sent: the run's process is gone, and nothing will happen before a Retry).
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.clew.v1.WatchResponse>
        watch(dev.clew.v1.WatchRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWatchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Cancels the run at a thread's head and answers when that is written. A run at work is stopped, and saved as failed with
     * FAILURE_CODE_CANCELLED; so is an interrupted or suspended one, whose approvals become void. A run that is stopped while a call of a
     * tool declared `once` is under way is suspended instead, with an approval of kind APPROVAL_KIND_TOOL_OUTCOME: a person says what became of the call.
     * A completed or failed run stays as it is. Retry continues what was cancelled. A request that waits for its turn, named by its id, leaves the queue: its stream ends with
     * CANCELLED, nothing was recorded, and it is not run if it comes again.
     * Refused with: THREAD_NOT_FOUND, RUN_NOT_FOUND, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.CancelRunResponse cancelRun(dev.clew.v1.CancelRunRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCancelRunMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service RunService.
   * <pre>
   * Starts, continues, watches and stops runs.
   * Send, Decide, Resume and Retry each start an attempt and stream its events from RunStarted (or RunQueued, where the thread is
   * busy) to RunSuspended, RunCompleted or RunFailed. What is refused before RunStarted ends the stream with a status (see
   * ErrorReason) and left no trace; what fails after it is RunFailed, and the stream's status is OK.
   * An earlier `request_id` with the same content streams that first attempt again, from its RunStarted to its end, and starts nothing.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * DATA_CORRUPT, LEASE_LOST, STREAM_CUT, INTERNAL.
   * </pre>
   */
  public static final class RunServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<RunServiceBlockingStub> {
    private RunServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Sends an input to a thread, which it creates if need be, and runs the thread's app on it. After a completed or failed run this
     * is a new turn.
     * Without a thread id the run is stateless: nothing is stored, leaving the stream cancels it, and its events name no thread. What its
     * state has become is told by StateReturned, before the event that ends the stream. A
     * workflow that pauses or fails ends such a stream with a snapshot, sealed by the server, from which Resume or Decide continues it;
     * one whose snapshot would be over 3.5 MiB fails instead (FAILURE_CODE_LIMIT_EXCEEDED). An agent gives no snapshot: one that needs a
     * person has to use a thread.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND,
     * APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, QUOTA_EXCEEDED, THREAD_NOT_FOUND (deleted meanwhile, or since the same request).
     * </pre>
     */
    public java.util.Iterator<dev.clew.v1.SendResponse> send(
        dev.clew.v1.SendRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getSendMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Decides approvals of a suspended thread, all or none. The run continues when the last one is decided; until then the decision is
     * recorded and the stream ends with RunSuspended, which names the rest. Of a stateless run that is suspended it decides approvals in
     * the same way, from its snapshot.
     * Refused with: RESUME_INVALID (the thread is not suspended, or an approval is void), APPROVAL_NOT_FOUND,
     * APPROVAL_ALREADY_DECIDED, APPROVAL_EXPIRED, THREAD_NOT_FOUND, THREAD_INTERRUPTED, THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID (edited arguments or a value that are not acceptable JSON), ARGUMENT_INVALID (what the tool or the
     * pause does not allow by its schema), STATE_TOO_LARGE. With a snapshot also as Resume.
     * </pre>
     */
    public java.util.Iterator<dev.clew.v1.DecideResponse> decide(
        dev.clew.v1.DecideRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getDecideMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Answers the only pending pause of a suspended thread. Short for Decide with one `value_json`. Where anything but exactly one pause
     * waits: ARGUMENT_INVALID, with `approval_ids`.
     * With a snapshot it continues a stateless run: a suspended one with the answer to its only pause, a failed one from the step where
     * it stopped, as Retry does. What was finished is not run again, and idempotency keys stay the same. The run is stateless again,
     * with a new snapshot where it pauses or fails again. A snapshot can be continued more than once; each time is a run of its own
     * from there.
     * Refused with: what Decide is refused with. With a snapshot: RESUME_INVALID where this server's keys do not open it for this caller
     * (nothing more is said), where its app no longer has a node that the run waits at, or where an answer comes for a failed run;
     * APP_NOT_FOUND where its app is no longer served.
     * </pre>
     */
    public java.util.Iterator<dev.clew.v1.ResumeResponse> resume(
        dev.clew.v1.ResumeRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getResumeMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Continues a failed, cancelled or interrupted run from the step where it stopped. Tool calls that have an outcome are not run
     * again; one that was under way is, with the same idempotency key, unless its tool must run at most once: then the run suspends
     * and asks what became of it.
     * Refused with: RESUME_INVALID (nothing failed here; also for the loser of two retries), THREAD_BUSY, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, THREAD_NOT_FOUND.
     * </pre>
     */
    public java.util.Iterator<dev.clew.v1.RetryResponse> retry(
        dev.clew.v1.RetryRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getRetryMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams a thread's events: what is in the log after the cursor, then what happens. Nothing is lost between a read and a Watch
     * after the version that the read gave. Leaving it has no effect on any run.
     * Refused with: THREAD_NOT_FOUND (also when the thread is deleted meanwhile), RUN_NOT_FOUND, THREAD_INTERRUPTED (when all that was
     * logged has been sent: the run's process is gone, and nothing will happen before a Retry).
     * </pre>
     */
    public java.util.Iterator<dev.clew.v1.WatchResponse> watch(
        dev.clew.v1.WatchRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Cancels the run at a thread's head and answers when that is written. A run at work is stopped, and saved as failed with
     * FAILURE_CODE_CANCELLED; so is an interrupted or suspended one, whose approvals become void. A run that is stopped while a call of a
     * tool declared `once` is under way is suspended instead, with an approval of kind APPROVAL_KIND_TOOL_OUTCOME: a person says what became of the call.
     * A completed or failed run stays as it is. Retry continues what was cancelled. A request that waits for its turn, named by its id, leaves the queue: its stream ends with
     * CANCELLED, nothing was recorded, and it is not run if it comes again.
     * Refused with: THREAD_NOT_FOUND, RUN_NOT_FOUND, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.CancelRunResponse cancelRun(dev.clew.v1.CancelRunRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCancelRunMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service RunService.
   * <pre>
   * Starts, continues, watches and stops runs.
   * Send, Decide, Resume and Retry each start an attempt and stream its events from RunStarted (or RunQueued, where the thread is
   * busy) to RunSuspended, RunCompleted or RunFailed. What is refused before RunStarted ends the stream with a status (see
   * ErrorReason) and left no trace; what fails after it is RunFailed, and the stream's status is OK.
   * An earlier `request_id` with the same content streams that first attempt again, from its RunStarted to its end, and starts nothing.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * DATA_CORRUPT, LEASE_LOST, STREAM_CUT, INTERNAL.
   * </pre>
   */
  public static final class RunServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<RunServiceFutureStub> {
    private RunServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected RunServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new RunServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Cancels the run at a thread's head and answers when that is written. A run at work is stopped, and saved as failed with
     * FAILURE_CODE_CANCELLED; so is an interrupted or suspended one, whose approvals become void. A run that is stopped while a call of a
     * tool declared `once` is under way is suspended instead, with an approval of kind APPROVAL_KIND_TOOL_OUTCOME: a person says what became of the call.
     * A completed or failed run stays as it is. Retry continues what was cancelled. A request that waits for its turn, named by its id, leaves the queue: its stream ends with
     * CANCELLED, nothing was recorded, and it is not run if it comes again.
     * Refused with: THREAD_NOT_FOUND, RUN_NOT_FOUND, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.CancelRunResponse> cancelRun(
        dev.clew.v1.CancelRunRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCancelRunMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_SEND = 0;
  private static final int METHODID_DECIDE = 1;
  private static final int METHODID_RESUME = 2;
  private static final int METHODID_RETRY = 3;
  private static final int METHODID_WATCH = 4;
  private static final int METHODID_CANCEL_RUN = 5;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_SEND:
          serviceImpl.send((dev.clew.v1.SendRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.SendResponse>) responseObserver);
          break;
        case METHODID_DECIDE:
          serviceImpl.decide((dev.clew.v1.DecideRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.DecideResponse>) responseObserver);
          break;
        case METHODID_RESUME:
          serviceImpl.resume((dev.clew.v1.ResumeRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ResumeResponse>) responseObserver);
          break;
        case METHODID_RETRY:
          serviceImpl.retry((dev.clew.v1.RetryRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.RetryResponse>) responseObserver);
          break;
        case METHODID_WATCH:
          serviceImpl.watch((dev.clew.v1.WatchRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.WatchResponse>) responseObserver);
          break;
        case METHODID_CANCEL_RUN:
          serviceImpl.cancelRun((dev.clew.v1.CancelRunRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.CancelRunResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getSendMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.clew.v1.SendRequest,
              dev.clew.v1.SendResponse>(
                service, METHODID_SEND)))
        .addMethod(
          getDecideMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.clew.v1.DecideRequest,
              dev.clew.v1.DecideResponse>(
                service, METHODID_DECIDE)))
        .addMethod(
          getResumeMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.clew.v1.ResumeRequest,
              dev.clew.v1.ResumeResponse>(
                service, METHODID_RESUME)))
        .addMethod(
          getRetryMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.clew.v1.RetryRequest,
              dev.clew.v1.RetryResponse>(
                service, METHODID_RETRY)))
        .addMethod(
          getWatchMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.clew.v1.WatchRequest,
              dev.clew.v1.WatchResponse>(
                service, METHODID_WATCH)))
        .addMethod(
          getCancelRunMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.CancelRunRequest,
              dev.clew.v1.CancelRunResponse>(
                service, METHODID_CANCEL_RUN)))
        .build();
  }

  private static abstract class RunServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    RunServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.clew.v1.RunServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("RunService");
    }
  }

  private static final class RunServiceFileDescriptorSupplier
      extends RunServiceBaseDescriptorSupplier {
    RunServiceFileDescriptorSupplier() {}
  }

  private static final class RunServiceMethodDescriptorSupplier
      extends RunServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    RunServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (RunServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new RunServiceFileDescriptorSupplier())
              .addMethod(getSendMethod())
              .addMethod(getDecideMethod())
              .addMethod(getResumeMethod())
              .addMethod(getRetryMethod())
              .addMethod(getWatchMethod())
              .addMethod(getCancelRunMethod())
              .build();
        }
      }
    }
    return result;
  }
}
