package dev.clew.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Tools in any language, in processes of their own: a worker registers what it can run, is given calls, says that it is at work on
 * them, and brings what came of them.
 * A worker is a stream of Work and calls beside it, so that a browser can be one, too: for the tools of its own run, with `thread_id`.
 * Nothing that was acknowledged is lost, and no result is taken twice: a worker keeps the result of a call until FinishCall has
 * answered, and gives it again when the call is given again.
 * A worker that is to end first drains. One that dies loses nothing but what it was doing: its calls are given to others when their leases
 * are over, and of those that must run at most once people are asked what became of them.
 * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
 * INTERNAL.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class WorkerServiceGrpc {

  private WorkerServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "clew.v1.WorkerService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.WorkRequest,
      dev.clew.v1.WorkResponse> getWorkMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Work",
      requestType = dev.clew.v1.WorkRequest.class,
      responseType = dev.clew.v1.WorkResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.clew.v1.WorkRequest,
      dev.clew.v1.WorkResponse> getWorkMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.WorkRequest, dev.clew.v1.WorkResponse> getWorkMethod;
    if ((getWorkMethod = WorkerServiceGrpc.getWorkMethod) == null) {
      synchronized (WorkerServiceGrpc.class) {
        if ((getWorkMethod = WorkerServiceGrpc.getWorkMethod) == null) {
          WorkerServiceGrpc.getWorkMethod = getWorkMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.WorkRequest, dev.clew.v1.WorkResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Work"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.WorkRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.WorkResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WorkerServiceMethodDescriptorSupplier("Work"))
              .build();
        }
      }
    }
    return getWorkMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.RenewCallsRequest,
      dev.clew.v1.RenewCallsResponse> getRenewCallsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "RenewCalls",
      requestType = dev.clew.v1.RenewCallsRequest.class,
      responseType = dev.clew.v1.RenewCallsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.RenewCallsRequest,
      dev.clew.v1.RenewCallsResponse> getRenewCallsMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.RenewCallsRequest, dev.clew.v1.RenewCallsResponse> getRenewCallsMethod;
    if ((getRenewCallsMethod = WorkerServiceGrpc.getRenewCallsMethod) == null) {
      synchronized (WorkerServiceGrpc.class) {
        if ((getRenewCallsMethod = WorkerServiceGrpc.getRenewCallsMethod) == null) {
          WorkerServiceGrpc.getRenewCallsMethod = getRenewCallsMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.RenewCallsRequest, dev.clew.v1.RenewCallsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "RenewCalls"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.RenewCallsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.RenewCallsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WorkerServiceMethodDescriptorSupplier("RenewCalls"))
              .build();
        }
      }
    }
    return getRenewCallsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ReportProgressRequest,
      dev.clew.v1.ReportProgressResponse> getReportProgressMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ReportProgress",
      requestType = dev.clew.v1.ReportProgressRequest.class,
      responseType = dev.clew.v1.ReportProgressResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ReportProgressRequest,
      dev.clew.v1.ReportProgressResponse> getReportProgressMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ReportProgressRequest, dev.clew.v1.ReportProgressResponse> getReportProgressMethod;
    if ((getReportProgressMethod = WorkerServiceGrpc.getReportProgressMethod) == null) {
      synchronized (WorkerServiceGrpc.class) {
        if ((getReportProgressMethod = WorkerServiceGrpc.getReportProgressMethod) == null) {
          WorkerServiceGrpc.getReportProgressMethod = getReportProgressMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ReportProgressRequest, dev.clew.v1.ReportProgressResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ReportProgress"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ReportProgressRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ReportProgressResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WorkerServiceMethodDescriptorSupplier("ReportProgress"))
              .build();
        }
      }
    }
    return getReportProgressMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.FinishCallRequest,
      dev.clew.v1.FinishCallResponse> getFinishCallMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "FinishCall",
      requestType = dev.clew.v1.FinishCallRequest.class,
      responseType = dev.clew.v1.FinishCallResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.FinishCallRequest,
      dev.clew.v1.FinishCallResponse> getFinishCallMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.FinishCallRequest, dev.clew.v1.FinishCallResponse> getFinishCallMethod;
    if ((getFinishCallMethod = WorkerServiceGrpc.getFinishCallMethod) == null) {
      synchronized (WorkerServiceGrpc.class) {
        if ((getFinishCallMethod = WorkerServiceGrpc.getFinishCallMethod) == null) {
          WorkerServiceGrpc.getFinishCallMethod = getFinishCallMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.FinishCallRequest, dev.clew.v1.FinishCallResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "FinishCall"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.FinishCallRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.FinishCallResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WorkerServiceMethodDescriptorSupplier("FinishCall"))
              .build();
        }
      }
    }
    return getFinishCallMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.DrainWorkerRequest,
      dev.clew.v1.DrainWorkerResponse> getDrainWorkerMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DrainWorker",
      requestType = dev.clew.v1.DrainWorkerRequest.class,
      responseType = dev.clew.v1.DrainWorkerResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.DrainWorkerRequest,
      dev.clew.v1.DrainWorkerResponse> getDrainWorkerMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.DrainWorkerRequest, dev.clew.v1.DrainWorkerResponse> getDrainWorkerMethod;
    if ((getDrainWorkerMethod = WorkerServiceGrpc.getDrainWorkerMethod) == null) {
      synchronized (WorkerServiceGrpc.class) {
        if ((getDrainWorkerMethod = WorkerServiceGrpc.getDrainWorkerMethod) == null) {
          WorkerServiceGrpc.getDrainWorkerMethod = getDrainWorkerMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.DrainWorkerRequest, dev.clew.v1.DrainWorkerResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DrainWorker"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DrainWorkerRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DrainWorkerResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WorkerServiceMethodDescriptorSupplier("DrainWorker"))
              .build();
        }
      }
    }
    return getDrainWorkerMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ListWorkersRequest,
      dev.clew.v1.ListWorkersResponse> getListWorkersMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListWorkers",
      requestType = dev.clew.v1.ListWorkersRequest.class,
      responseType = dev.clew.v1.ListWorkersResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ListWorkersRequest,
      dev.clew.v1.ListWorkersResponse> getListWorkersMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ListWorkersRequest, dev.clew.v1.ListWorkersResponse> getListWorkersMethod;
    if ((getListWorkersMethod = WorkerServiceGrpc.getListWorkersMethod) == null) {
      synchronized (WorkerServiceGrpc.class) {
        if ((getListWorkersMethod = WorkerServiceGrpc.getListWorkersMethod) == null) {
          WorkerServiceGrpc.getListWorkersMethod = getListWorkersMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ListWorkersRequest, dev.clew.v1.ListWorkersResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListWorkers"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListWorkersRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListWorkersResponse.getDefaultInstance()))
              .setSchemaDescriptor(new WorkerServiceMethodDescriptorSupplier("ListWorkers"))
              .build();
        }
      }
    }
    return getListWorkersMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static WorkerServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WorkerServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WorkerServiceStub>() {
        @java.lang.Override
        public WorkerServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WorkerServiceStub(channel, callOptions);
        }
      };
    return WorkerServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static WorkerServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WorkerServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WorkerServiceBlockingV2Stub>() {
        @java.lang.Override
        public WorkerServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WorkerServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return WorkerServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static WorkerServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WorkerServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WorkerServiceBlockingStub>() {
        @java.lang.Override
        public WorkerServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WorkerServiceBlockingStub(channel, callOptions);
        }
      };
    return WorkerServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static WorkerServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<WorkerServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<WorkerServiceFutureStub>() {
        @java.lang.Override
        public WorkerServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new WorkerServiceFutureStub(channel, callOptions);
        }
      };
    return WorkerServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Tools in any language, in processes of their own: a worker registers what it can run, is given calls, says that it is at work on
   * them, and brings what came of them.
   * A worker is a stream of Work and calls beside it, so that a browser can be one, too: for the tools of its own run, with `thread_id`.
   * Nothing that was acknowledged is lost, and no result is taken twice: a worker keeps the result of a call until FinishCall has
   * answered, and gives it again when the call is given again.
   * A worker that is to end first drains. One that dies loses nothing but what it was doing: its calls are given to others when their leases
   * are over, and of those that must run at most once people are asked what became of them.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * INTERNAL.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Registers a worker and gives it calls, as long as the stream is open. One that breaks is opened again under the same id: what the
     * worker was given is its own until the leases are over, and what it does not name among `held` never came to it: unless it must run at
     * most once, it is given again. A second stream with the id of one that is open at the same server takes its place.
     * Ends with: LEASE_LOST (another stream has come as this worker), STREAM_CUT (the server stops: open it again).
     * </pre>
     */
    default void work(dev.clew.v1.WorkRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.WorkResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWorkMethod(), responseObserver);
    }

    /**
     * <pre>
     * Says that calls are being worked on, and renews their leases; due in a third of a lease.
     * </pre>
     */
    default void renewCalls(dev.clew.v1.RenewCallsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.RenewCallsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRenewCallsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Tells those who watch the thread how far a call is: a ToolCallProgress. Only the newest is told, and none is kept.
     * Refused with: CALL_NOT_PENDING (the call is not the worker's).
     * </pre>
     */
    default void reportProgress(dev.clew.v1.ReportProgressRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ReportProgressResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReportProgressMethod(), responseObserver);
    }

    /**
     * <pre>
     * Brings what came of a call. When it has answered the outcome is durable, and the worker may forget it. Bringing it again does nothing
     * more.
     * A result that comes for a call that must run at most once, after its lease was over, settles it: also where people are being asked by
     * now what became of it.
     * It answers when the outcome is in the thread's log, which a run may be busy with: give it a deadline, and bring the outcome again
     * when that is over.
     * Refused with: CALL_NOT_PENDING (nobody waits for it any more, or another outcome was taken: drop it), THREAD_INTERRUPTED (the run
     * died; keep the outcome, and bring it again until the run has been retried), THREAD_BUSY (the run has other calls to finish before it
     * comes to this one again; keep the outcome, too).
     * </pre>
     */
    default void finishCall(dev.clew.v1.FinishCallRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.FinishCallResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getFinishCallMethod(), responseObserver);
    }

    /**
     * <pre>
     * Takes no more calls. The stream of Work ends when the last that the worker has is finished. At another server than the stream's it
     * takes up to a third of a lease until that hears of it.
     * </pre>
     */
    default void drainWorker(dev.clew.v1.DrainWorkerRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DrainWorkerResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDrainWorkerMethod(), responseObserver);
    }

    /**
     * <pre>
     * The workers of all servers, by their ids.
     * </pre>
     */
    default void listWorkers(dev.clew.v1.ListWorkersRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListWorkersResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListWorkersMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service WorkerService.
   * <pre>
   * Tools in any language, in processes of their own: a worker registers what it can run, is given calls, says that it is at work on
   * them, and brings what came of them.
   * A worker is a stream of Work and calls beside it, so that a browser can be one, too: for the tools of its own run, with `thread_id`.
   * Nothing that was acknowledged is lost, and no result is taken twice: a worker keeps the result of a call until FinishCall has
   * answered, and gives it again when the call is given again.
   * A worker that is to end first drains. One that dies loses nothing but what it was doing: its calls are given to others when their leases
   * are over, and of those that must run at most once people are asked what became of them.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * INTERNAL.
   * </pre>
   */
  public static abstract class WorkerServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return WorkerServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service WorkerService.
   * <pre>
   * Tools in any language, in processes of their own: a worker registers what it can run, is given calls, says that it is at work on
   * them, and brings what came of them.
   * A worker is a stream of Work and calls beside it, so that a browser can be one, too: for the tools of its own run, with `thread_id`.
   * Nothing that was acknowledged is lost, and no result is taken twice: a worker keeps the result of a call until FinishCall has
   * answered, and gives it again when the call is given again.
   * A worker that is to end first drains. One that dies loses nothing but what it was doing: its calls are given to others when their leases
   * are over, and of those that must run at most once people are asked what became of them.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * INTERNAL.
   * </pre>
   */
  public static final class WorkerServiceStub
      extends io.grpc.stub.AbstractAsyncStub<WorkerServiceStub> {
    private WorkerServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WorkerServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WorkerServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Registers a worker and gives it calls, as long as the stream is open. One that breaks is opened again under the same id: what the
     * worker was given is its own until the leases are over, and what it does not name among `held` never came to it: unless it must run at
     * most once, it is given again. A second stream with the id of one that is open at the same server takes its place.
     * Ends with: LEASE_LOST (another stream has come as this worker), STREAM_CUT (the server stops: open it again).
     * </pre>
     */
    public void work(dev.clew.v1.WorkRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.WorkResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWorkMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Says that calls are being worked on, and renews their leases; due in a third of a lease.
     * </pre>
     */
    public void renewCalls(dev.clew.v1.RenewCallsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.RenewCallsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRenewCallsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Tells those who watch the thread how far a call is: a ToolCallProgress. Only the newest is told, and none is kept.
     * Refused with: CALL_NOT_PENDING (the call is not the worker's).
     * </pre>
     */
    public void reportProgress(dev.clew.v1.ReportProgressRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ReportProgressResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getReportProgressMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Brings what came of a call. When it has answered the outcome is durable, and the worker may forget it. Bringing it again does nothing
     * more.
     * A result that comes for a call that must run at most once, after its lease was over, settles it: also where people are being asked by
     * now what became of it.
     * It answers when the outcome is in the thread's log, which a run may be busy with: give it a deadline, and bring the outcome again
     * when that is over.
     * Refused with: CALL_NOT_PENDING (nobody waits for it any more, or another outcome was taken: drop it), THREAD_INTERRUPTED (the run
     * died; keep the outcome, and bring it again until the run has been retried), THREAD_BUSY (the run has other calls to finish before it
     * comes to this one again; keep the outcome, too).
     * </pre>
     */
    public void finishCall(dev.clew.v1.FinishCallRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.FinishCallResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getFinishCallMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Takes no more calls. The stream of Work ends when the last that the worker has is finished. At another server than the stream's it
     * takes up to a third of a lease until that hears of it.
     * </pre>
     */
    public void drainWorker(dev.clew.v1.DrainWorkerRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DrainWorkerResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDrainWorkerMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * The workers of all servers, by their ids.
     * </pre>
     */
    public void listWorkers(dev.clew.v1.ListWorkersRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListWorkersResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListWorkersMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service WorkerService.
   * <pre>
   * Tools in any language, in processes of their own: a worker registers what it can run, is given calls, says that it is at work on
   * them, and brings what came of them.
   * A worker is a stream of Work and calls beside it, so that a browser can be one, too: for the tools of its own run, with `thread_id`.
   * Nothing that was acknowledged is lost, and no result is taken twice: a worker keeps the result of a call until FinishCall has
   * answered, and gives it again when the call is given again.
   * A worker that is to end first drains. One that dies loses nothing but what it was doing: its calls are given to others when their leases
   * are over, and of those that must run at most once people are asked what became of them.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * INTERNAL.
   * </pre>
   */
  public static final class WorkerServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<WorkerServiceBlockingV2Stub> {
    private WorkerServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WorkerServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WorkerServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Registers a worker and gives it calls, as long as the stream is open. One that breaks is opened again under the same id: what the
     * worker was given is its own until the leases are over, and what it does not name among `held` never came to it: unless it must run at
     * most once, it is given again. A second stream with the id of one that is open at the same server takes its place.
     * Ends with: LEASE_LOST (another stream has come as this worker), STREAM_CUT (the server stops: open it again).
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.clew.v1.WorkResponse>
        work(dev.clew.v1.WorkRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWorkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Says that calls are being worked on, and renews their leases; due in a third of a lease.
     * </pre>
     */
    public dev.clew.v1.RenewCallsResponse renewCalls(dev.clew.v1.RenewCallsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRenewCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells those who watch the thread how far a call is: a ToolCallProgress. Only the newest is told, and none is kept.
     * Refused with: CALL_NOT_PENDING (the call is not the worker's).
     * </pre>
     */
    public dev.clew.v1.ReportProgressResponse reportProgress(dev.clew.v1.ReportProgressRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getReportProgressMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Brings what came of a call. When it has answered the outcome is durable, and the worker may forget it. Bringing it again does nothing
     * more.
     * A result that comes for a call that must run at most once, after its lease was over, settles it: also where people are being asked by
     * now what became of it.
     * It answers when the outcome is in the thread's log, which a run may be busy with: give it a deadline, and bring the outcome again
     * when that is over.
     * Refused with: CALL_NOT_PENDING (nobody waits for it any more, or another outcome was taken: drop it), THREAD_INTERRUPTED (the run
     * died; keep the outcome, and bring it again until the run has been retried), THREAD_BUSY (the run has other calls to finish before it
     * comes to this one again; keep the outcome, too).
     * </pre>
     */
    public dev.clew.v1.FinishCallResponse finishCall(dev.clew.v1.FinishCallRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getFinishCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes no more calls. The stream of Work ends when the last that the worker has is finished. At another server than the stream's it
     * takes up to a third of a lease until that hears of it.
     * </pre>
     */
    public dev.clew.v1.DrainWorkerResponse drainWorker(dev.clew.v1.DrainWorkerRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDrainWorkerMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The workers of all servers, by their ids.
     * </pre>
     */
    public dev.clew.v1.ListWorkersResponse listWorkers(dev.clew.v1.ListWorkersRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListWorkersMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service WorkerService.
   * <pre>
   * Tools in any language, in processes of their own: a worker registers what it can run, is given calls, says that it is at work on
   * them, and brings what came of them.
   * A worker is a stream of Work and calls beside it, so that a browser can be one, too: for the tools of its own run, with `thread_id`.
   * Nothing that was acknowledged is lost, and no result is taken twice: a worker keeps the result of a call until FinishCall has
   * answered, and gives it again when the call is given again.
   * A worker that is to end first drains. One that dies loses nothing but what it was doing: its calls are given to others when their leases
   * are over, and of those that must run at most once people are asked what became of them.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * INTERNAL.
   * </pre>
   */
  public static final class WorkerServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<WorkerServiceBlockingStub> {
    private WorkerServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WorkerServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WorkerServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Registers a worker and gives it calls, as long as the stream is open. One that breaks is opened again under the same id: what the
     * worker was given is its own until the leases are over, and what it does not name among `held` never came to it: unless it must run at
     * most once, it is given again. A second stream with the id of one that is open at the same server takes its place.
     * Ends with: LEASE_LOST (another stream has come as this worker), STREAM_CUT (the server stops: open it again).
     * </pre>
     */
    public java.util.Iterator<dev.clew.v1.WorkResponse> work(
        dev.clew.v1.WorkRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWorkMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Says that calls are being worked on, and renews their leases; due in a third of a lease.
     * </pre>
     */
    public dev.clew.v1.RenewCallsResponse renewCalls(dev.clew.v1.RenewCallsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRenewCallsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells those who watch the thread how far a call is: a ToolCallProgress. Only the newest is told, and none is kept.
     * Refused with: CALL_NOT_PENDING (the call is not the worker's).
     * </pre>
     */
    public dev.clew.v1.ReportProgressResponse reportProgress(dev.clew.v1.ReportProgressRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getReportProgressMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Brings what came of a call. When it has answered the outcome is durable, and the worker may forget it. Bringing it again does nothing
     * more.
     * A result that comes for a call that must run at most once, after its lease was over, settles it: also where people are being asked by
     * now what became of it.
     * It answers when the outcome is in the thread's log, which a run may be busy with: give it a deadline, and bring the outcome again
     * when that is over.
     * Refused with: CALL_NOT_PENDING (nobody waits for it any more, or another outcome was taken: drop it), THREAD_INTERRUPTED (the run
     * died; keep the outcome, and bring it again until the run has been retried), THREAD_BUSY (the run has other calls to finish before it
     * comes to this one again; keep the outcome, too).
     * </pre>
     */
    public dev.clew.v1.FinishCallResponse finishCall(dev.clew.v1.FinishCallRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getFinishCallMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Takes no more calls. The stream of Work ends when the last that the worker has is finished. At another server than the stream's it
     * takes up to a third of a lease until that hears of it.
     * </pre>
     */
    public dev.clew.v1.DrainWorkerResponse drainWorker(dev.clew.v1.DrainWorkerRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDrainWorkerMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * The workers of all servers, by their ids.
     * </pre>
     */
    public dev.clew.v1.ListWorkersResponse listWorkers(dev.clew.v1.ListWorkersRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListWorkersMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service WorkerService.
   * <pre>
   * Tools in any language, in processes of their own: a worker registers what it can run, is given calls, says that it is at work on
   * them, and brings what came of them.
   * A worker is a stream of Work and calls beside it, so that a browser can be one, too: for the tools of its own run, with `thread_id`.
   * Nothing that was acknowledged is lost, and no result is taken twice: a worker keeps the result of a call until FinishCall has
   * answered, and gives it again when the call is given again.
   * A worker that is to end first drains. One that dies loses nothing but what it was doing: its calls are given to others when their leases
   * are over, and of those that must run at most once people are asked what became of them.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL,
   * INTERNAL.
   * </pre>
   */
  public static final class WorkerServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<WorkerServiceFutureStub> {
    private WorkerServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected WorkerServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new WorkerServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Says that calls are being worked on, and renews their leases; due in a third of a lease.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.RenewCallsResponse> renewCalls(
        dev.clew.v1.RenewCallsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRenewCallsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Tells those who watch the thread how far a call is: a ToolCallProgress. Only the newest is told, and none is kept.
     * Refused with: CALL_NOT_PENDING (the call is not the worker's).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ReportProgressResponse> reportProgress(
        dev.clew.v1.ReportProgressRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getReportProgressMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Brings what came of a call. When it has answered the outcome is durable, and the worker may forget it. Bringing it again does nothing
     * more.
     * A result that comes for a call that must run at most once, after its lease was over, settles it: also where people are being asked by
     * now what became of it.
     * It answers when the outcome is in the thread's log, which a run may be busy with: give it a deadline, and bring the outcome again
     * when that is over.
     * Refused with: CALL_NOT_PENDING (nobody waits for it any more, or another outcome was taken: drop it), THREAD_INTERRUPTED (the run
     * died; keep the outcome, and bring it again until the run has been retried), THREAD_BUSY (the run has other calls to finish before it
     * comes to this one again; keep the outcome, too).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.FinishCallResponse> finishCall(
        dev.clew.v1.FinishCallRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getFinishCallMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Takes no more calls. The stream of Work ends when the last that the worker has is finished. At another server than the stream's it
     * takes up to a third of a lease until that hears of it.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.DrainWorkerResponse> drainWorker(
        dev.clew.v1.DrainWorkerRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDrainWorkerMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * The workers of all servers, by their ids.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ListWorkersResponse> listWorkers(
        dev.clew.v1.ListWorkersRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListWorkersMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_WORK = 0;
  private static final int METHODID_RENEW_CALLS = 1;
  private static final int METHODID_REPORT_PROGRESS = 2;
  private static final int METHODID_FINISH_CALL = 3;
  private static final int METHODID_DRAIN_WORKER = 4;
  private static final int METHODID_LIST_WORKERS = 5;

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
        case METHODID_WORK:
          serviceImpl.work((dev.clew.v1.WorkRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.WorkResponse>) responseObserver);
          break;
        case METHODID_RENEW_CALLS:
          serviceImpl.renewCalls((dev.clew.v1.RenewCallsRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.RenewCallsResponse>) responseObserver);
          break;
        case METHODID_REPORT_PROGRESS:
          serviceImpl.reportProgress((dev.clew.v1.ReportProgressRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ReportProgressResponse>) responseObserver);
          break;
        case METHODID_FINISH_CALL:
          serviceImpl.finishCall((dev.clew.v1.FinishCallRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.FinishCallResponse>) responseObserver);
          break;
        case METHODID_DRAIN_WORKER:
          serviceImpl.drainWorker((dev.clew.v1.DrainWorkerRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.DrainWorkerResponse>) responseObserver);
          break;
        case METHODID_LIST_WORKERS:
          serviceImpl.listWorkers((dev.clew.v1.ListWorkersRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ListWorkersResponse>) responseObserver);
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
          getWorkMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.clew.v1.WorkRequest,
              dev.clew.v1.WorkResponse>(
                service, METHODID_WORK)))
        .addMethod(
          getRenewCallsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.RenewCallsRequest,
              dev.clew.v1.RenewCallsResponse>(
                service, METHODID_RENEW_CALLS)))
        .addMethod(
          getReportProgressMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ReportProgressRequest,
              dev.clew.v1.ReportProgressResponse>(
                service, METHODID_REPORT_PROGRESS)))
        .addMethod(
          getFinishCallMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.FinishCallRequest,
              dev.clew.v1.FinishCallResponse>(
                service, METHODID_FINISH_CALL)))
        .addMethod(
          getDrainWorkerMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.DrainWorkerRequest,
              dev.clew.v1.DrainWorkerResponse>(
                service, METHODID_DRAIN_WORKER)))
        .addMethod(
          getListWorkersMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ListWorkersRequest,
              dev.clew.v1.ListWorkersResponse>(
                service, METHODID_LIST_WORKERS)))
        .build();
  }

  private static abstract class WorkerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    WorkerServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.clew.v1.WorkerServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("WorkerService");
    }
  }

  private static final class WorkerServiceFileDescriptorSupplier
      extends WorkerServiceBaseDescriptorSupplier {
    WorkerServiceFileDescriptorSupplier() {}
  }

  private static final class WorkerServiceMethodDescriptorSupplier
      extends WorkerServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    WorkerServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (WorkerServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new WorkerServiceFileDescriptorSupplier())
              .addMethod(getWorkMethod())
              .addMethod(getRenewCallsMethod())
              .addMethod(getReportProgressMethod())
              .addMethod(getFinishCallMethod())
              .addMethod(getDrainWorkerMethod())
              .addMethod(getListWorkersMethod())
              .build();
        }
      }
    }
    return result;
  }
}
