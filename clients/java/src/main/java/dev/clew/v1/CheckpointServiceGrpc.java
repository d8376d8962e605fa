package dev.clew.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * A thread's history, and the way back in it.
 * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
 * (Rewind), DATA_CORRUPT, INTERNAL.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class CheckpointServiceGrpc {

  private CheckpointServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "clew.v1.CheckpointService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ListCheckpointsRequest,
      dev.clew.v1.ListCheckpointsResponse> getListCheckpointsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListCheckpoints",
      requestType = dev.clew.v1.ListCheckpointsRequest.class,
      responseType = dev.clew.v1.ListCheckpointsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ListCheckpointsRequest,
      dev.clew.v1.ListCheckpointsResponse> getListCheckpointsMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ListCheckpointsRequest, dev.clew.v1.ListCheckpointsResponse> getListCheckpointsMethod;
    if ((getListCheckpointsMethod = CheckpointServiceGrpc.getListCheckpointsMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getListCheckpointsMethod = CheckpointServiceGrpc.getListCheckpointsMethod) == null) {
          CheckpointServiceGrpc.getListCheckpointsMethod = getListCheckpointsMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ListCheckpointsRequest, dev.clew.v1.ListCheckpointsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListCheckpoints"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListCheckpointsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListCheckpointsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("ListCheckpoints"))
              .build();
        }
      }
    }
    return getListCheckpointsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.GetCheckpointRequest,
      dev.clew.v1.GetCheckpointResponse> getGetCheckpointMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetCheckpoint",
      requestType = dev.clew.v1.GetCheckpointRequest.class,
      responseType = dev.clew.v1.GetCheckpointResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.GetCheckpointRequest,
      dev.clew.v1.GetCheckpointResponse> getGetCheckpointMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.GetCheckpointRequest, dev.clew.v1.GetCheckpointResponse> getGetCheckpointMethod;
    if ((getGetCheckpointMethod = CheckpointServiceGrpc.getGetCheckpointMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getGetCheckpointMethod = CheckpointServiceGrpc.getGetCheckpointMethod) == null) {
          CheckpointServiceGrpc.getGetCheckpointMethod = getGetCheckpointMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.GetCheckpointRequest, dev.clew.v1.GetCheckpointResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetCheckpoint"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetCheckpointRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetCheckpointResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("GetCheckpoint"))
              .build();
        }
      }
    }
    return getGetCheckpointMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.RewindRequest,
      dev.clew.v1.RewindResponse> getRewindMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Rewind",
      requestType = dev.clew.v1.RewindRequest.class,
      responseType = dev.clew.v1.RewindResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.RewindRequest,
      dev.clew.v1.RewindResponse> getRewindMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.RewindRequest, dev.clew.v1.RewindResponse> getRewindMethod;
    if ((getRewindMethod = CheckpointServiceGrpc.getRewindMethod) == null) {
      synchronized (CheckpointServiceGrpc.class) {
        if ((getRewindMethod = CheckpointServiceGrpc.getRewindMethod) == null) {
          CheckpointServiceGrpc.getRewindMethod = getRewindMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.RewindRequest, dev.clew.v1.RewindResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Rewind"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.RewindRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.RewindResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CheckpointServiceMethodDescriptorSupplier("Rewind"))
              .build();
        }
      }
    }
    return getRewindMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static CheckpointServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceStub>() {
        @java.lang.Override
        public CheckpointServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceStub(channel, callOptions);
        }
      };
    return CheckpointServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static CheckpointServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingV2Stub>() {
        @java.lang.Override
        public CheckpointServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return CheckpointServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static CheckpointServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceBlockingStub>() {
        @java.lang.Override
        public CheckpointServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceBlockingStub(channel, callOptions);
        }
      };
    return CheckpointServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static CheckpointServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CheckpointServiceFutureStub>() {
        @java.lang.Override
        public CheckpointServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CheckpointServiceFutureStub(channel, callOptions);
        }
      };
    return CheckpointServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * A thread's history, and the way back in it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (Rewind), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Lists the checkpoints of the thread's present line, newest first. What a rewind left behind is not on it. Pages are of one
     * version: later writes do not show in them.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    default void listCheckpoints(dev.clew.v1.ListCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListCheckpointsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListCheckpointsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads a checkpoint, on the present line or left behind by a rewind.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    default void getCheckpoint(dev.clew.v1.GetCheckpointRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetCheckpointResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetCheckpointMethod(), responseObserver);
    }

    /**
     * <pre>
     * Goes back to a checkpoint (or forward, to one that an earlier rewind left behind): writes a new head that continues it, under a
     * new run id. Nothing is erased. Completed and failed stay so; suspended stays so too, with approvals of new ids; a checkpoint from
     * the middle of a run becomes failed with FAILURE_CODE_REWOUND, which Retry continues. Approvals that waited are void.
     * Refused with: CHECKPOINT_NOT_FOUND (also where there is no thread), THREAD_BUSY, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    default void rewind(dev.clew.v1.RewindRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.RewindResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getRewindMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service CheckpointService.
   * <pre>
   * A thread's history, and the way back in it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (Rewind), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static abstract class CheckpointServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return CheckpointServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service CheckpointService.
   * <pre>
   * A thread's history, and the way back in it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (Rewind), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CheckpointServiceStub
      extends io.grpc.stub.AbstractAsyncStub<CheckpointServiceStub> {
    private CheckpointServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the checkpoints of the thread's present line, newest first. What a rewind left behind is not on it. Pages are of one
     * version: later writes do not show in them.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public void listCheckpoints(dev.clew.v1.ListCheckpointsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListCheckpointsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListCheckpointsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads a checkpoint, on the present line or left behind by a rewind.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public void getCheckpoint(dev.clew.v1.GetCheckpointRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetCheckpointResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetCheckpointMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Goes back to a checkpoint (or forward, to one that an earlier rewind left behind): writes a new head that continues it, under a
     * new run id. Nothing is erased. Completed and failed stay so; suspended stays so too, with approvals of new ids; a checkpoint from
     * the middle of a run becomes failed with FAILURE_CODE_REWOUND, which Retry continues. Approvals that waited are void.
     * Refused with: CHECKPOINT_NOT_FOUND (also where there is no thread), THREAD_BUSY, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public void rewind(dev.clew.v1.RewindRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.RewindResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getRewindMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service CheckpointService.
   * <pre>
   * A thread's history, and the way back in it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (Rewind), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CheckpointServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<CheckpointServiceBlockingV2Stub> {
    private CheckpointServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the checkpoints of the thread's present line, newest first. What a rewind left behind is not on it. Pages are of one
     * version: later writes do not show in them.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.ListCheckpointsResponse listCheckpoints(dev.clew.v1.ListCheckpointsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListCheckpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads a checkpoint, on the present line or left behind by a rewind.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetCheckpointResponse getCheckpoint(dev.clew.v1.GetCheckpointRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetCheckpointMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Goes back to a checkpoint (or forward, to one that an earlier rewind left behind): writes a new head that continues it, under a
     * new run id. Nothing is erased. Completed and failed stay so; suspended stays so too, with approvals of new ids; a checkpoint from
     * the middle of a run becomes failed with FAILURE_CODE_REWOUND, which Retry continues. Approvals that waited are void.
     * Refused with: CHECKPOINT_NOT_FOUND (also where there is no thread), THREAD_BUSY, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.RewindResponse rewind(dev.clew.v1.RewindRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getRewindMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service CheckpointService.
   * <pre>
   * A thread's history, and the way back in it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (Rewind), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CheckpointServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<CheckpointServiceBlockingStub> {
    private CheckpointServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the checkpoints of the thread's present line, newest first. What a rewind left behind is not on it. Pages are of one
     * version: later writes do not show in them.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.ListCheckpointsResponse listCheckpoints(dev.clew.v1.ListCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListCheckpointsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads a checkpoint, on the present line or left behind by a rewind.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetCheckpointResponse getCheckpoint(dev.clew.v1.GetCheckpointRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetCheckpointMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Goes back to a checkpoint (or forward, to one that an earlier rewind left behind): writes a new head that continues it, under a
     * new run id. Nothing is erased. Completed and failed stay so; suspended stays so too, with approvals of new ids; a checkpoint from
     * the middle of a run becomes failed with FAILURE_CODE_REWOUND, which Retry continues. Approvals that waited are void.
     * Refused with: CHECKPOINT_NOT_FOUND (also where there is no thread), THREAD_BUSY, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.RewindResponse rewind(dev.clew.v1.RewindRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getRewindMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service CheckpointService.
   * <pre>
   * A thread's history, and the way back in it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (Rewind), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CheckpointServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<CheckpointServiceFutureStub> {
    private CheckpointServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CheckpointServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CheckpointServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the checkpoints of the thread's present line, newest first. What a rewind left behind is not on it. Pages are of one
     * version: later writes do not show in them.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ListCheckpointsResponse> listCheckpoints(
        dev.clew.v1.ListCheckpointsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListCheckpointsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads a checkpoint, on the present line or left behind by a rewind.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.GetCheckpointResponse> getCheckpoint(
        dev.clew.v1.GetCheckpointRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetCheckpointMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Goes back to a checkpoint (or forward, to one that an earlier rewind left behind): writes a new head that continues it, under a
     * new run id. Nothing is erased. Completed and failed stay so; suspended stays so too, with approvals of new ids; a checkpoint from
     * the middle of a run becomes failed with FAILURE_CODE_REWOUND, which Retry continues. Approvals that waited are void.
     * Refused with: CHECKPOINT_NOT_FOUND (also where there is no thread), THREAD_BUSY, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.RewindResponse> rewind(
        dev.clew.v1.RewindRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getRewindMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_CHECKPOINTS = 0;
  private static final int METHODID_GET_CHECKPOINT = 1;
  private static final int METHODID_REWIND = 2;

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
        case METHODID_LIST_CHECKPOINTS:
          serviceImpl.listCheckpoints((dev.clew.v1.ListCheckpointsRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ListCheckpointsResponse>) responseObserver);
          break;
        case METHODID_GET_CHECKPOINT:
          serviceImpl.getCheckpoint((dev.clew.v1.GetCheckpointRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.GetCheckpointResponse>) responseObserver);
          break;
        case METHODID_REWIND:
          serviceImpl.rewind((dev.clew.v1.RewindRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.RewindResponse>) responseObserver);
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
          getListCheckpointsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ListCheckpointsRequest,
              dev.clew.v1.ListCheckpointsResponse>(
                service, METHODID_LIST_CHECKPOINTS)))
        .addMethod(
          getGetCheckpointMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.GetCheckpointRequest,
              dev.clew.v1.GetCheckpointResponse>(
                service, METHODID_GET_CHECKPOINT)))
        .addMethod(
          getRewindMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.RewindRequest,
              dev.clew.v1.RewindResponse>(
                service, METHODID_REWIND)))
        .build();
  }

  private static abstract class CheckpointServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    CheckpointServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.clew.v1.CheckpointServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("CheckpointService");
    }
  }

  private static final class CheckpointServiceFileDescriptorSupplier
      extends CheckpointServiceBaseDescriptorSupplier {
    CheckpointServiceFileDescriptorSupplier() {}
  }

  private static final class CheckpointServiceMethodDescriptorSupplier
      extends CheckpointServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    CheckpointServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (CheckpointServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new CheckpointServiceFileDescriptorSupplier())
              .addMethod(getListCheckpointsMethod())
              .addMethod(getGetCheckpointMethod())
              .addMethod(getRewindMethod())
              .build();
        }
      }
    }
    return result;
  }
}
