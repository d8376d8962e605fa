package dev.clew.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * The inbox: what waits for people, across threads. RunService.Decide answers it.
 * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, DATA_CORRUPT,
 * INTERNAL.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class ApprovalServiceGrpc {

  private ApprovalServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "clew.v1.ApprovalService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ListApprovalsRequest,
      dev.clew.v1.ListApprovalsResponse> getListApprovalsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListApprovals",
      requestType = dev.clew.v1.ListApprovalsRequest.class,
      responseType = dev.clew.v1.ListApprovalsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ListApprovalsRequest,
      dev.clew.v1.ListApprovalsResponse> getListApprovalsMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ListApprovalsRequest, dev.clew.v1.ListApprovalsResponse> getListApprovalsMethod;
    if ((getListApprovalsMethod = ApprovalServiceGrpc.getListApprovalsMethod) == null) {
      synchronized (ApprovalServiceGrpc.class) {
        if ((getListApprovalsMethod = ApprovalServiceGrpc.getListApprovalsMethod) == null) {
          ApprovalServiceGrpc.getListApprovalsMethod = getListApprovalsMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ListApprovalsRequest, dev.clew.v1.ListApprovalsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListApprovals"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListApprovalsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListApprovalsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ApprovalServiceMethodDescriptorSupplier("ListApprovals"))
              .build();
        }
      }
    }
    return getListApprovalsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.GetApprovalRequest,
      dev.clew.v1.GetApprovalResponse> getGetApprovalMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetApproval",
      requestType = dev.clew.v1.GetApprovalRequest.class,
      responseType = dev.clew.v1.GetApprovalResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.GetApprovalRequest,
      dev.clew.v1.GetApprovalResponse> getGetApprovalMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.GetApprovalRequest, dev.clew.v1.GetApprovalResponse> getGetApprovalMethod;
    if ((getGetApprovalMethod = ApprovalServiceGrpc.getGetApprovalMethod) == null) {
      synchronized (ApprovalServiceGrpc.class) {
        if ((getGetApprovalMethod = ApprovalServiceGrpc.getGetApprovalMethod) == null) {
          ApprovalServiceGrpc.getGetApprovalMethod = getGetApprovalMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.GetApprovalRequest, dev.clew.v1.GetApprovalResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetApproval"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetApprovalRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetApprovalResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ApprovalServiceMethodDescriptorSupplier("GetApproval"))
              .build();
        }
      }
    }
    return getGetApprovalMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.WatchApprovalsRequest,
      dev.clew.v1.WatchApprovalsResponse> getWatchApprovalsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "WatchApprovals",
      requestType = dev.clew.v1.WatchApprovalsRequest.class,
      responseType = dev.clew.v1.WatchApprovalsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.clew.v1.WatchApprovalsRequest,
      dev.clew.v1.WatchApprovalsResponse> getWatchApprovalsMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.WatchApprovalsRequest, dev.clew.v1.WatchApprovalsResponse> getWatchApprovalsMethod;
    if ((getWatchApprovalsMethod = ApprovalServiceGrpc.getWatchApprovalsMethod) == null) {
      synchronized (ApprovalServiceGrpc.class) {
        if ((getWatchApprovalsMethod = ApprovalServiceGrpc.getWatchApprovalsMethod) == null) {
          ApprovalServiceGrpc.getWatchApprovalsMethod = getWatchApprovalsMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.WatchApprovalsRequest, dev.clew.v1.WatchApprovalsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "WatchApprovals"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.WatchApprovalsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.WatchApprovalsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ApprovalServiceMethodDescriptorSupplier("WatchApprovals"))
              .build();
        }
      }
    }
    return getWatchApprovalsMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ApprovalServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceStub>() {
        @java.lang.Override
        public ApprovalServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ApprovalServiceStub(channel, callOptions);
        }
      };
    return ApprovalServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static ApprovalServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceBlockingV2Stub>() {
        @java.lang.Override
        public ApprovalServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ApprovalServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return ApprovalServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ApprovalServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceBlockingStub>() {
        @java.lang.Override
        public ApprovalServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ApprovalServiceBlockingStub(channel, callOptions);
        }
      };
    return ApprovalServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ApprovalServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ApprovalServiceFutureStub>() {
        @java.lang.Override
        public ApprovalServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ApprovalServiceFutureStub(channel, callOptions);
        }
      };
    return ApprovalServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * The inbox: what waits for people, across threads. RunService.Decide answers it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, DATA_CORRUPT,
   * INTERNAL.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Lists approvals, oldest first: pending ones unless another state is asked for.
     * Refused with: THREAD_NOT_FOUND (a thread is named and does not exist).
     * </pre>
     */
    default void listApprovals(dev.clew.v1.ListApprovalsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListApprovalsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListApprovalsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads one approval, whether it waits or how it ended. One whose thread was deleted is gone with it.
     * Refused with: APPROVAL_NOT_FOUND.
     * </pre>
     */
    default void getApproval(dev.clew.v1.GetApprovalRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetApprovalResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetApprovalMethod(), responseObserver);
    }

    /**
     * <pre>
     * Streams the inbox: all that is pending, then a mark, then every change, until the reader leaves. A reader that does not keep up is
     * cut off with STREAM_CUT, and begins again.
     * </pre>
     */
    default void watchApprovals(dev.clew.v1.WatchApprovalsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.WatchApprovalsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getWatchApprovalsMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service ApprovalService.
   * <pre>
   * The inbox: what waits for people, across threads. RunService.Decide answers it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, DATA_CORRUPT,
   * INTERNAL.
   * </pre>
   */
  public static abstract class ApprovalServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return ApprovalServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service ApprovalService.
   * <pre>
   * The inbox: what waits for people, across threads. RunService.Decide answers it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, DATA_CORRUPT,
   * INTERNAL.
   * </pre>
   */
  public static final class ApprovalServiceStub
      extends io.grpc.stub.AbstractAsyncStub<ApprovalServiceStub> {
    private ApprovalServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ApprovalServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ApprovalServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists approvals, oldest first: pending ones unless another state is asked for.
     * Refused with: THREAD_NOT_FOUND (a thread is named and does not exist).
     * </pre>
     */
    public void listApprovals(dev.clew.v1.ListApprovalsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListApprovalsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListApprovalsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads one approval, whether it waits or how it ended. One whose thread was deleted is gone with it.
     * Refused with: APPROVAL_NOT_FOUND.
     * </pre>
     */
    public void getApproval(dev.clew.v1.GetApprovalRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetApprovalResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetApprovalMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Streams the inbox: all that is pending, then a mark, then every change, until the reader leaves. A reader that does not keep up is
     * cut off with STREAM_CUT, and begins again.
     * </pre>
     */
    public void watchApprovals(dev.clew.v1.WatchApprovalsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.WatchApprovalsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getWatchApprovalsMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service ApprovalService.
   * <pre>
   * The inbox: what waits for people, across threads. RunService.Decide answers it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, DATA_CORRUPT,
   * INTERNAL.
   * </pre>
   */
  public static final class ApprovalServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<ApprovalServiceBlockingV2Stub> {
    private ApprovalServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ApprovalServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ApprovalServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists approvals, oldest first: pending ones unless another state is asked for.
     * Refused with: THREAD_NOT_FOUND (a thread is named and does not exist).
     * </pre>
     */
    public dev.clew.v1.ListApprovalsResponse listApprovals(dev.clew.v1.ListApprovalsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListApprovalsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads one approval, whether it waits or how it ended. One whose thread was deleted is gone with it.
     * Refused with: APPROVAL_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetApprovalResponse getApproval(dev.clew.v1.GetApprovalRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetApprovalMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams the inbox: all that is pending, then a mark, then every change, until the reader leaves. A reader that does not keep up is
     * cut off with STREAM_CUT, and begins again.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.clew.v1.WatchApprovalsResponse>
        watchApprovals(dev.clew.v1.WatchApprovalsRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getWatchApprovalsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service ApprovalService.
   * <pre>
   * The inbox: what waits for people, across threads. RunService.Decide answers it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, DATA_CORRUPT,
   * INTERNAL.
   * </pre>
   */
  public static final class ApprovalServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<ApprovalServiceBlockingStub> {
    private ApprovalServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ApprovalServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ApprovalServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists approvals, oldest first: pending ones unless another state is asked for.
     * Refused with: THREAD_NOT_FOUND (a thread is named and does not exist).
     * </pre>
     */
    public dev.clew.v1.ListApprovalsResponse listApprovals(dev.clew.v1.ListApprovalsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListApprovalsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads one approval, whether it waits or how it ended. One whose thread was deleted is gone with it.
     * Refused with: APPROVAL_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetApprovalResponse getApproval(dev.clew.v1.GetApprovalRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetApprovalMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Streams the inbox: all that is pending, then a mark, then every change, until the reader leaves. A reader that does not keep up is
     * cut off with STREAM_CUT, and begins again.
     * </pre>
     */
    public java.util.Iterator<dev.clew.v1.WatchApprovalsResponse> watchApprovals(
        dev.clew.v1.WatchApprovalsRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getWatchApprovalsMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service ApprovalService.
   * <pre>
   * The inbox: what waits for people, across threads. RunService.Decide answers it.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, DATA_CORRUPT,
   * INTERNAL.
   * </pre>
   */
  public static final class ApprovalServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<ApprovalServiceFutureStub> {
    private ApprovalServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ApprovalServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ApprovalServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists approvals, oldest first: pending ones unless another state is asked for.
     * Refused with: THREAD_NOT_FOUND (a thread is named and does not exist).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ListApprovalsResponse> listApprovals(
        dev.clew.v1.ListApprovalsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListApprovalsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads one approval, whether it waits or how it ended. One whose thread was deleted is gone with it.
     * Refused with: APPROVAL_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.GetApprovalResponse> getApproval(
        dev.clew.v1.GetApprovalRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetApprovalMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_APPROVALS = 0;
  private static final int METHODID_GET_APPROVAL = 1;
  private static final int METHODID_WATCH_APPROVALS = 2;

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
        case METHODID_LIST_APPROVALS:
          serviceImpl.listApprovals((dev.clew.v1.ListApprovalsRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ListApprovalsResponse>) responseObserver);
          break;
        case METHODID_GET_APPROVAL:
          serviceImpl.getApproval((dev.clew.v1.GetApprovalRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.GetApprovalResponse>) responseObserver);
          break;
        case METHODID_WATCH_APPROVALS:
          serviceImpl.watchApprovals((dev.clew.v1.WatchApprovalsRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.WatchApprovalsResponse>) responseObserver);
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
          getListApprovalsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ListApprovalsRequest,
              dev.clew.v1.ListApprovalsResponse>(
                service, METHODID_LIST_APPROVALS)))
        .addMethod(
          getGetApprovalMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.GetApprovalRequest,
              dev.clew.v1.GetApprovalResponse>(
                service, METHODID_GET_APPROVAL)))
        .addMethod(
          getWatchApprovalsMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.clew.v1.WatchApprovalsRequest,
              dev.clew.v1.WatchApprovalsResponse>(
                service, METHODID_WATCH_APPROVALS)))
        .build();
  }

  private static abstract class ApprovalServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ApprovalServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.clew.v1.ApprovalServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ApprovalService");
    }
  }

  private static final class ApprovalServiceFileDescriptorSupplier
      extends ApprovalServiceBaseDescriptorSupplier {
    ApprovalServiceFileDescriptorSupplier() {}
  }

  private static final class ApprovalServiceMethodDescriptorSupplier
      extends ApprovalServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    ApprovalServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (ApprovalServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ApprovalServiceFileDescriptorSupplier())
              .addMethod(getListApprovalsMethod())
              .addMethod(getGetApprovalMethod())
              .addMethod(getWatchApprovalsMethod())
              .build();
        }
      }
    }
    return result;
  }
}
