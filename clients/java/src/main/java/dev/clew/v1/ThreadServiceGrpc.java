package dev.clew.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Reads threads, their state and their messages, and changes them from outside a run.
 * A change of state or messages is a write of the thread: a checkpoint with CHECKPOINT_SOURCE_UPDATE that keeps the status of the
 * head and what comes next. It takes its turn as a run does (`on_busy`), and makes the thread where there is none, unless it is a
 * change of what would have to be there. On a suspended thread it is refused unless `force` is set, which keeps the approvals.
 * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
 * (writes), DATA_CORRUPT, INTERNAL.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class ThreadServiceGrpc {

  private ThreadServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "clew.v1.ThreadService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.GetThreadRequest,
      dev.clew.v1.GetThreadResponse> getGetThreadMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetThread",
      requestType = dev.clew.v1.GetThreadRequest.class,
      responseType = dev.clew.v1.GetThreadResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.GetThreadRequest,
      dev.clew.v1.GetThreadResponse> getGetThreadMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.GetThreadRequest, dev.clew.v1.GetThreadResponse> getGetThreadMethod;
    if ((getGetThreadMethod = ThreadServiceGrpc.getGetThreadMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getGetThreadMethod = ThreadServiceGrpc.getGetThreadMethod) == null) {
          ThreadServiceGrpc.getGetThreadMethod = getGetThreadMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.GetThreadRequest, dev.clew.v1.GetThreadResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetThread"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetThreadRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetThreadResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("GetThread"))
              .build();
        }
      }
    }
    return getGetThreadMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ListThreadsRequest,
      dev.clew.v1.ListThreadsResponse> getListThreadsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListThreads",
      requestType = dev.clew.v1.ListThreadsRequest.class,
      responseType = dev.clew.v1.ListThreadsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ListThreadsRequest,
      dev.clew.v1.ListThreadsResponse> getListThreadsMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ListThreadsRequest, dev.clew.v1.ListThreadsResponse> getListThreadsMethod;
    if ((getListThreadsMethod = ThreadServiceGrpc.getListThreadsMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getListThreadsMethod = ThreadServiceGrpc.getListThreadsMethod) == null) {
          ThreadServiceGrpc.getListThreadsMethod = getListThreadsMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ListThreadsRequest, dev.clew.v1.ListThreadsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListThreads"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListThreadsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListThreadsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("ListThreads"))
              .build();
        }
      }
    }
    return getListThreadsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.UpdateThreadRequest,
      dev.clew.v1.UpdateThreadResponse> getUpdateThreadMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateThread",
      requestType = dev.clew.v1.UpdateThreadRequest.class,
      responseType = dev.clew.v1.UpdateThreadResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.UpdateThreadRequest,
      dev.clew.v1.UpdateThreadResponse> getUpdateThreadMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.UpdateThreadRequest, dev.clew.v1.UpdateThreadResponse> getUpdateThreadMethod;
    if ((getUpdateThreadMethod = ThreadServiceGrpc.getUpdateThreadMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getUpdateThreadMethod = ThreadServiceGrpc.getUpdateThreadMethod) == null) {
          ThreadServiceGrpc.getUpdateThreadMethod = getUpdateThreadMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.UpdateThreadRequest, dev.clew.v1.UpdateThreadResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateThread"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.UpdateThreadRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.UpdateThreadResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("UpdateThread"))
              .build();
        }
      }
    }
    return getUpdateThreadMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.CopyThreadRequest,
      dev.clew.v1.CopyThreadResponse> getCopyThreadMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CopyThread",
      requestType = dev.clew.v1.CopyThreadRequest.class,
      responseType = dev.clew.v1.CopyThreadResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.CopyThreadRequest,
      dev.clew.v1.CopyThreadResponse> getCopyThreadMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.CopyThreadRequest, dev.clew.v1.CopyThreadResponse> getCopyThreadMethod;
    if ((getCopyThreadMethod = ThreadServiceGrpc.getCopyThreadMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getCopyThreadMethod = ThreadServiceGrpc.getCopyThreadMethod) == null) {
          ThreadServiceGrpc.getCopyThreadMethod = getCopyThreadMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.CopyThreadRequest, dev.clew.v1.CopyThreadResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CopyThread"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.CopyThreadRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.CopyThreadResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("CopyThread"))
              .build();
        }
      }
    }
    return getCopyThreadMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.DeleteThreadRequest,
      dev.clew.v1.DeleteThreadResponse> getDeleteThreadMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteThread",
      requestType = dev.clew.v1.DeleteThreadRequest.class,
      responseType = dev.clew.v1.DeleteThreadResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.DeleteThreadRequest,
      dev.clew.v1.DeleteThreadResponse> getDeleteThreadMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.DeleteThreadRequest, dev.clew.v1.DeleteThreadResponse> getDeleteThreadMethod;
    if ((getDeleteThreadMethod = ThreadServiceGrpc.getDeleteThreadMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getDeleteThreadMethod = ThreadServiceGrpc.getDeleteThreadMethod) == null) {
          ThreadServiceGrpc.getDeleteThreadMethod = getDeleteThreadMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.DeleteThreadRequest, dev.clew.v1.DeleteThreadResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteThread"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DeleteThreadRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DeleteThreadResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("DeleteThread"))
              .build();
        }
      }
    }
    return getDeleteThreadMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.GetStateRequest,
      dev.clew.v1.GetStateResponse> getGetStateMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetState",
      requestType = dev.clew.v1.GetStateRequest.class,
      responseType = dev.clew.v1.GetStateResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.GetStateRequest,
      dev.clew.v1.GetStateResponse> getGetStateMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.GetStateRequest, dev.clew.v1.GetStateResponse> getGetStateMethod;
    if ((getGetStateMethod = ThreadServiceGrpc.getGetStateMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getGetStateMethod = ThreadServiceGrpc.getGetStateMethod) == null) {
          ThreadServiceGrpc.getGetStateMethod = getGetStateMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.GetStateRequest, dev.clew.v1.GetStateResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetState"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetStateRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetStateResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("GetState"))
              .build();
        }
      }
    }
    return getGetStateMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.UpdateStateRequest,
      dev.clew.v1.UpdateStateResponse> getUpdateStateMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateState",
      requestType = dev.clew.v1.UpdateStateRequest.class,
      responseType = dev.clew.v1.UpdateStateResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.UpdateStateRequest,
      dev.clew.v1.UpdateStateResponse> getUpdateStateMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.UpdateStateRequest, dev.clew.v1.UpdateStateResponse> getUpdateStateMethod;
    if ((getUpdateStateMethod = ThreadServiceGrpc.getUpdateStateMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getUpdateStateMethod = ThreadServiceGrpc.getUpdateStateMethod) == null) {
          ThreadServiceGrpc.getUpdateStateMethod = getUpdateStateMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.UpdateStateRequest, dev.clew.v1.UpdateStateResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateState"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.UpdateStateRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.UpdateStateResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("UpdateState"))
              .build();
        }
      }
    }
    return getUpdateStateMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ClearStateRequest,
      dev.clew.v1.ClearStateResponse> getClearStateMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ClearState",
      requestType = dev.clew.v1.ClearStateRequest.class,
      responseType = dev.clew.v1.ClearStateResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ClearStateRequest,
      dev.clew.v1.ClearStateResponse> getClearStateMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ClearStateRequest, dev.clew.v1.ClearStateResponse> getClearStateMethod;
    if ((getClearStateMethod = ThreadServiceGrpc.getClearStateMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getClearStateMethod = ThreadServiceGrpc.getClearStateMethod) == null) {
          ThreadServiceGrpc.getClearStateMethod = getClearStateMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ClearStateRequest, dev.clew.v1.ClearStateResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ClearState"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ClearStateRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ClearStateResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("ClearState"))
              .build();
        }
      }
    }
    return getClearStateMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ListMessagesRequest,
      dev.clew.v1.ListMessagesResponse> getListMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListMessages",
      requestType = dev.clew.v1.ListMessagesRequest.class,
      responseType = dev.clew.v1.ListMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ListMessagesRequest,
      dev.clew.v1.ListMessagesResponse> getListMessagesMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ListMessagesRequest, dev.clew.v1.ListMessagesResponse> getListMessagesMethod;
    if ((getListMessagesMethod = ThreadServiceGrpc.getListMessagesMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getListMessagesMethod = ThreadServiceGrpc.getListMessagesMethod) == null) {
          ThreadServiceGrpc.getListMessagesMethod = getListMessagesMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ListMessagesRequest, dev.clew.v1.ListMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("ListMessages"))
              .build();
        }
      }
    }
    return getListMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.GetMessageRequest,
      dev.clew.v1.GetMessageResponse> getGetMessageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetMessage",
      requestType = dev.clew.v1.GetMessageRequest.class,
      responseType = dev.clew.v1.GetMessageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.GetMessageRequest,
      dev.clew.v1.GetMessageResponse> getGetMessageMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.GetMessageRequest, dev.clew.v1.GetMessageResponse> getGetMessageMethod;
    if ((getGetMessageMethod = ThreadServiceGrpc.getGetMessageMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getGetMessageMethod = ThreadServiceGrpc.getGetMessageMethod) == null) {
          ThreadServiceGrpc.getGetMessageMethod = getGetMessageMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.GetMessageRequest, dev.clew.v1.GetMessageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetMessage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetMessageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetMessageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("GetMessage"))
              .build();
        }
      }
    }
    return getGetMessageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.AppendMessagesRequest,
      dev.clew.v1.AppendMessagesResponse> getAppendMessagesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "AppendMessages",
      requestType = dev.clew.v1.AppendMessagesRequest.class,
      responseType = dev.clew.v1.AppendMessagesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.AppendMessagesRequest,
      dev.clew.v1.AppendMessagesResponse> getAppendMessagesMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.AppendMessagesRequest, dev.clew.v1.AppendMessagesResponse> getAppendMessagesMethod;
    if ((getAppendMessagesMethod = ThreadServiceGrpc.getAppendMessagesMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getAppendMessagesMethod = ThreadServiceGrpc.getAppendMessagesMethod) == null) {
          ThreadServiceGrpc.getAppendMessagesMethod = getAppendMessagesMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.AppendMessagesRequest, dev.clew.v1.AppendMessagesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "AppendMessages"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.AppendMessagesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.AppendMessagesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("AppendMessages"))
              .build();
        }
      }
    }
    return getAppendMessagesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.UpdateMessageRequest,
      dev.clew.v1.UpdateMessageResponse> getUpdateMessageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateMessage",
      requestType = dev.clew.v1.UpdateMessageRequest.class,
      responseType = dev.clew.v1.UpdateMessageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.UpdateMessageRequest,
      dev.clew.v1.UpdateMessageResponse> getUpdateMessageMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.UpdateMessageRequest, dev.clew.v1.UpdateMessageResponse> getUpdateMessageMethod;
    if ((getUpdateMessageMethod = ThreadServiceGrpc.getUpdateMessageMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getUpdateMessageMethod = ThreadServiceGrpc.getUpdateMessageMethod) == null) {
          ThreadServiceGrpc.getUpdateMessageMethod = getUpdateMessageMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.UpdateMessageRequest, dev.clew.v1.UpdateMessageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateMessage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.UpdateMessageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.UpdateMessageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("UpdateMessage"))
              .build();
        }
      }
    }
    return getUpdateMessageMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.DeleteMessageRequest,
      dev.clew.v1.DeleteMessageResponse> getDeleteMessageMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteMessage",
      requestType = dev.clew.v1.DeleteMessageRequest.class,
      responseType = dev.clew.v1.DeleteMessageResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.DeleteMessageRequest,
      dev.clew.v1.DeleteMessageResponse> getDeleteMessageMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.DeleteMessageRequest, dev.clew.v1.DeleteMessageResponse> getDeleteMessageMethod;
    if ((getDeleteMessageMethod = ThreadServiceGrpc.getDeleteMessageMethod) == null) {
      synchronized (ThreadServiceGrpc.class) {
        if ((getDeleteMessageMethod = ThreadServiceGrpc.getDeleteMessageMethod) == null) {
          ThreadServiceGrpc.getDeleteMessageMethod = getDeleteMessageMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.DeleteMessageRequest, dev.clew.v1.DeleteMessageResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteMessage"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DeleteMessageRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DeleteMessageResponse.getDefaultInstance()))
              .setSchemaDescriptor(new ThreadServiceMethodDescriptorSupplier("DeleteMessage"))
              .build();
        }
      }
    }
    return getDeleteMessageMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static ThreadServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ThreadServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ThreadServiceStub>() {
        @java.lang.Override
        public ThreadServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ThreadServiceStub(channel, callOptions);
        }
      };
    return ThreadServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static ThreadServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ThreadServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ThreadServiceBlockingV2Stub>() {
        @java.lang.Override
        public ThreadServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ThreadServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return ThreadServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static ThreadServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ThreadServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ThreadServiceBlockingStub>() {
        @java.lang.Override
        public ThreadServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ThreadServiceBlockingStub(channel, callOptions);
        }
      };
    return ThreadServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static ThreadServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<ThreadServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<ThreadServiceFutureStub>() {
        @java.lang.Override
        public ThreadServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new ThreadServiceFutureStub(channel, callOptions);
        }
      };
    return ThreadServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Reads threads, their state and their messages, and changes them from outside a run.
   * A change of state or messages is a write of the thread: a checkpoint with CHECKPOINT_SOURCE_UPDATE that keeps the status of the
   * head and what comes next. It takes its turn as a run does (`on_busy`), and makes the thread where there is none, unless it is a
   * change of what would have to be there. On a suspended thread it is refused unless `force` is set, which keeps the approvals.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (writes), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Reads a thread: how it stands, and whether anyone works on it.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    default void getThread(dev.clew.v1.GetThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetThreadResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetThreadMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists threads, newest first. Threads that are made or changed meanwhile make no page of the order by creation skip or repeat one.
     * </pre>
     */
    default void listThreads(dev.clew.v1.ListThreadsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListThreadsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListThreadsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes a thread's name, metadata or user; with `allow_missing` it also makes one before its first send. It waits for no run and
     * has no version; `etag` guards it instead.
     * Refused with: THREAD_NOT_FOUND, VERSION_CONFLICT (the etag), REQUEST_ID_REUSED, APP_MISMATCH, APP_NOT_FOUND, STATE_INVALID
     * (metadata).
     * </pre>
     */
    default void updateThread(dev.clew.v1.UpdateThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.UpdateThreadResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateThreadMethod(), responseObserver);
    }

    /**
     * <pre>
     * Copies a thread, up to its head or an older checkpoint, to a new thread that owns all it has: either may be deleted. Message ids
     * and versions stay. A copy that ends in the middle of a run is failed with FAILURE_CODE_REWOUND, and Retry goes on from there; one
     * that ends suspended has approvals of its own.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND, VERSION_CONFLICT (also where the target exists), REQUEST_ID_REUSED.
     * </pre>
     */
    default void copyThread(dev.clew.v1.CopyThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.CopyThreadResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCopyThreadMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a thread and all that belongs to it, for good and at once: a run at work writes nothing more, and its stream and all that
     * watch or wait end with THREAD_NOT_FOUND. Facts remembered about a person stay.
     * Refused with: VERSION_CONFLICT, REQUEST_ID_REUSED. A thread that does not exist is no error.
     * </pre>
     */
    default void deleteThread(dev.clew.v1.DeleteThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DeleteThreadResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteThreadMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads a thread's state.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    default void getState(dev.clew.v1.GetStateRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetStateResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetStateMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes a thread's state: replaces it whole, or merges values into it. What the thread's app declares of its state must hold
     * afterwards (STATE_INVALID), where this server serves that app.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH,
     * STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile).
     * </pre>
     */
    default void updateState(dev.clew.v1.UpdateStateRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.UpdateStateResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateStateMethod(), responseObserver);
    }

    /**
     * <pre>
     * Removes every value from a thread's state. Messages stay, and so does the state of older checkpoints.
     * Refused with: THREAD_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    default void clearState(dev.clew.v1.ClearStateRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ClearStateResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getClearStateMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists a thread's messages in the order of the transcript. Pages are of one version: later writes do not show in them, but for
     * messages that are deleted.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    default void listMessages(dev.clew.v1.ListMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads one message.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND.
     * </pre>
     */
    default void getMessage(dev.clew.v1.GetMessageRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetMessageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetMessageMethod(), responseObserver);
    }

    /**
     * <pre>
     * Adds messages at the end of the transcript, all or none; no run begins. The model sees them from the next turn on. Tool calls are
     * added with their results; on a thread whose run has calls without an outcome they are refused (THREAD_SUSPENDED, RESUME_INVALID).
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT (also where a message has an id that is taken),
     * REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile),
     * RESUME_INVALID (see above).
     * </pre>
     */
    default void appendMessages(dev.clew.v1.AppendMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.AppendMessagesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getAppendMessagesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes a message in its place, under its id. The model sees it so from the next turn on; after a Rewind to before it, the
     * message is as it was.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    default void updateMessage(dev.clew.v1.UpdateMessageRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.UpdateMessageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateMessageMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a message for good: its content is erased in every version of the thread, and is not there after a Rewind either. With a
     * message that asked for tool calls go their results, also those that an abandoned line has; a result alone is not deleted
     * (ARGUMENT_INVALID). What approvals and the log say of its calls is erased too: arguments, reasons, results that people gave.
     * Copies of the thread keep theirs.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED (also with `force`, where approvals are about
     * its calls), THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    default void deleteMessage(dev.clew.v1.DeleteMessageRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DeleteMessageResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteMessageMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service ThreadService.
   * <pre>
   * Reads threads, their state and their messages, and changes them from outside a run.
   * A change of state or messages is a write of the thread: a checkpoint with CHECKPOINT_SOURCE_UPDATE that keeps the status of the
   * head and what comes next. It takes its turn as a run does (`on_busy`), and makes the thread where there is none, unless it is a
   * change of what would have to be there. On a suspended thread it is refused unless `force` is set, which keeps the approvals.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (writes), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static abstract class ThreadServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return ThreadServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service ThreadService.
   * <pre>
   * Reads threads, their state and their messages, and changes them from outside a run.
   * A change of state or messages is a write of the thread: a checkpoint with CHECKPOINT_SOURCE_UPDATE that keeps the status of the
   * head and what comes next. It takes its turn as a run does (`on_busy`), and makes the thread where there is none, unless it is a
   * change of what would have to be there. On a suspended thread it is refused unless `force` is set, which keeps the approvals.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (writes), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class ThreadServiceStub
      extends io.grpc.stub.AbstractAsyncStub<ThreadServiceStub> {
    private ThreadServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ThreadServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ThreadServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Reads a thread: how it stands, and whether anyone works on it.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public void getThread(dev.clew.v1.GetThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetThreadResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetThreadMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists threads, newest first. Threads that are made or changed meanwhile make no page of the order by creation skip or repeat one.
     * </pre>
     */
    public void listThreads(dev.clew.v1.ListThreadsRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListThreadsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListThreadsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes a thread's name, metadata or user; with `allow_missing` it also makes one before its first send. It waits for no run and
     * has no version; `etag` guards it instead.
     * Refused with: THREAD_NOT_FOUND, VERSION_CONFLICT (the etag), REQUEST_ID_REUSED, APP_MISMATCH, APP_NOT_FOUND, STATE_INVALID
     * (metadata).
     * </pre>
     */
    public void updateThread(dev.clew.v1.UpdateThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.UpdateThreadResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateThreadMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Copies a thread, up to its head or an older checkpoint, to a new thread that owns all it has: either may be deleted. Message ids
     * and versions stay. A copy that ends in the middle of a run is failed with FAILURE_CODE_REWOUND, and Retry goes on from there; one
     * that ends suspended has approvals of its own.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND, VERSION_CONFLICT (also where the target exists), REQUEST_ID_REUSED.
     * </pre>
     */
    public void copyThread(dev.clew.v1.CopyThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.CopyThreadResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCopyThreadMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a thread and all that belongs to it, for good and at once: a run at work writes nothing more, and its stream and all that
     * watch or wait end with THREAD_NOT_FOUND. Facts remembered about a person stay.
     * Refused with: VERSION_CONFLICT, REQUEST_ID_REUSED. A thread that does not exist is no error.
     * </pre>
     */
    public void deleteThread(dev.clew.v1.DeleteThreadRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DeleteThreadResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteThreadMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads a thread's state.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public void getState(dev.clew.v1.GetStateRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetStateResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetStateMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes a thread's state: replaces it whole, or merges values into it. What the thread's app declares of its state must hold
     * afterwards (STATE_INVALID), where this server serves that app.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH,
     * STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile).
     * </pre>
     */
    public void updateState(dev.clew.v1.UpdateStateRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.UpdateStateResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateStateMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Removes every value from a thread's state. Messages stay, and so does the state of older checkpoints.
     * Refused with: THREAD_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public void clearState(dev.clew.v1.ClearStateRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ClearStateResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getClearStateMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists a thread's messages in the order of the transcript. Pages are of one version: later writes do not show in them, but for
     * messages that are deleted.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public void listMessages(dev.clew.v1.ListMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads one message.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND.
     * </pre>
     */
    public void getMessage(dev.clew.v1.GetMessageRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetMessageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetMessageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Adds messages at the end of the transcript, all or none; no run begins. The model sees them from the next turn on. Tool calls are
     * added with their results; on a thread whose run has calls without an outcome they are refused (THREAD_SUSPENDED, RESUME_INVALID).
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT (also where a message has an id that is taken),
     * REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile),
     * RESUME_INVALID (see above).
     * </pre>
     */
    public void appendMessages(dev.clew.v1.AppendMessagesRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.AppendMessagesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getAppendMessagesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes a message in its place, under its id. The model sees it so from the next turn on; after a Rewind to before it, the
     * message is as it was.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public void updateMessage(dev.clew.v1.UpdateMessageRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.UpdateMessageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateMessageMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a message for good: its content is erased in every version of the thread, and is not there after a Rewind either. With a
     * message that asked for tool calls go their results, also those that an abandoned line has; a result alone is not deleted
     * (ARGUMENT_INVALID). What approvals and the log say of its calls is erased too: arguments, reasons, results that people gave.
     * Copies of the thread keep theirs.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED (also with `force`, where approvals are about
     * its calls), THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public void deleteMessage(dev.clew.v1.DeleteMessageRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DeleteMessageResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteMessageMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service ThreadService.
   * <pre>
   * Reads threads, their state and their messages, and changes them from outside a run.
   * A change of state or messages is a write of the thread: a checkpoint with CHECKPOINT_SOURCE_UPDATE that keeps the status of the
   * head and what comes next. It takes its turn as a run does (`on_busy`), and makes the thread where there is none, unless it is a
   * change of what would have to be there. On a suspended thread it is refused unless `force` is set, which keeps the approvals.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (writes), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class ThreadServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<ThreadServiceBlockingV2Stub> {
    private ThreadServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ThreadServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ThreadServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Reads a thread: how it stands, and whether anyone works on it.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetThreadResponse getThread(dev.clew.v1.GetThreadRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists threads, newest first. Threads that are made or changed meanwhile make no page of the order by creation skip or repeat one.
     * </pre>
     */
    public dev.clew.v1.ListThreadsResponse listThreads(dev.clew.v1.ListThreadsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListThreadsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a thread's name, metadata or user; with `allow_missing` it also makes one before its first send. It waits for no run and
     * has no version; `etag` guards it instead.
     * Refused with: THREAD_NOT_FOUND, VERSION_CONFLICT (the etag), REQUEST_ID_REUSED, APP_MISMATCH, APP_NOT_FOUND, STATE_INVALID
     * (metadata).
     * </pre>
     */
    public dev.clew.v1.UpdateThreadResponse updateThread(dev.clew.v1.UpdateThreadRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Copies a thread, up to its head or an older checkpoint, to a new thread that owns all it has: either may be deleted. Message ids
     * and versions stay. A copy that ends in the middle of a run is failed with FAILURE_CODE_REWOUND, and Retry goes on from there; one
     * that ends suspended has approvals of its own.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND, VERSION_CONFLICT (also where the target exists), REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.CopyThreadResponse copyThread(dev.clew.v1.CopyThreadRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCopyThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a thread and all that belongs to it, for good and at once: a run at work writes nothing more, and its stream and all that
     * watch or wait end with THREAD_NOT_FOUND. Facts remembered about a person stay.
     * Refused with: VERSION_CONFLICT, REQUEST_ID_REUSED. A thread that does not exist is no error.
     * </pre>
     */
    public dev.clew.v1.DeleteThreadResponse deleteThread(dev.clew.v1.DeleteThreadRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads a thread's state.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetStateResponse getState(dev.clew.v1.GetStateRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetStateMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a thread's state: replaces it whole, or merges values into it. What the thread's app declares of its state must hold
     * afterwards (STATE_INVALID), where this server serves that app.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH,
     * STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile).
     * </pre>
     */
    public dev.clew.v1.UpdateStateResponse updateState(dev.clew.v1.UpdateStateRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateStateMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes every value from a thread's state. Messages stay, and so does the state of older checkpoints.
     * Refused with: THREAD_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.ClearStateResponse clearState(dev.clew.v1.ClearStateRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getClearStateMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists a thread's messages in the order of the transcript. Pages are of one version: later writes do not show in them, but for
     * messages that are deleted.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.ListMessagesResponse listMessages(dev.clew.v1.ListMessagesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads one message.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetMessageResponse getMessage(dev.clew.v1.GetMessageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetMessageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Adds messages at the end of the transcript, all or none; no run begins. The model sees them from the next turn on. Tool calls are
     * added with their results; on a thread whose run has calls without an outcome they are refused (THREAD_SUSPENDED, RESUME_INVALID).
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT (also where a message has an id that is taken),
     * REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile),
     * RESUME_INVALID (see above).
     * </pre>
     */
    public dev.clew.v1.AppendMessagesResponse appendMessages(dev.clew.v1.AppendMessagesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getAppendMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a message in its place, under its id. The model sees it so from the next turn on; after a Rewind to before it, the
     * message is as it was.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public dev.clew.v1.UpdateMessageResponse updateMessage(dev.clew.v1.UpdateMessageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateMessageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a message for good: its content is erased in every version of the thread, and is not there after a Rewind either. With a
     * message that asked for tool calls go their results, also those that an abandoned line has; a result alone is not deleted
     * (ARGUMENT_INVALID). What approvals and the log say of its calls is erased too: arguments, reasons, results that people gave.
     * Copies of the thread keep theirs.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED (also with `force`, where approvals are about
     * its calls), THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.DeleteMessageResponse deleteMessage(dev.clew.v1.DeleteMessageRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteMessageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service ThreadService.
   * <pre>
   * Reads threads, their state and their messages, and changes them from outside a run.
   * A change of state or messages is a write of the thread: a checkpoint with CHECKPOINT_SOURCE_UPDATE that keeps the status of the
   * head and what comes next. It takes its turn as a run does (`on_busy`), and makes the thread where there is none, unless it is a
   * change of what would have to be there. On a suspended thread it is refused unless `force` is set, which keeps the approvals.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (writes), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class ThreadServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<ThreadServiceBlockingStub> {
    private ThreadServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ThreadServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ThreadServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Reads a thread: how it stands, and whether anyone works on it.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetThreadResponse getThread(dev.clew.v1.GetThreadRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists threads, newest first. Threads that are made or changed meanwhile make no page of the order by creation skip or repeat one.
     * </pre>
     */
    public dev.clew.v1.ListThreadsResponse listThreads(dev.clew.v1.ListThreadsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListThreadsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a thread's name, metadata or user; with `allow_missing` it also makes one before its first send. It waits for no run and
     * has no version; `etag` guards it instead.
     * Refused with: THREAD_NOT_FOUND, VERSION_CONFLICT (the etag), REQUEST_ID_REUSED, APP_MISMATCH, APP_NOT_FOUND, STATE_INVALID
     * (metadata).
     * </pre>
     */
    public dev.clew.v1.UpdateThreadResponse updateThread(dev.clew.v1.UpdateThreadRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Copies a thread, up to its head or an older checkpoint, to a new thread that owns all it has: either may be deleted. Message ids
     * and versions stay. A copy that ends in the middle of a run is failed with FAILURE_CODE_REWOUND, and Retry goes on from there; one
     * that ends suspended has approvals of its own.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND, VERSION_CONFLICT (also where the target exists), REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.CopyThreadResponse copyThread(dev.clew.v1.CopyThreadRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCopyThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a thread and all that belongs to it, for good and at once: a run at work writes nothing more, and its stream and all that
     * watch or wait end with THREAD_NOT_FOUND. Facts remembered about a person stay.
     * Refused with: VERSION_CONFLICT, REQUEST_ID_REUSED. A thread that does not exist is no error.
     * </pre>
     */
    public dev.clew.v1.DeleteThreadResponse deleteThread(dev.clew.v1.DeleteThreadRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteThreadMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads a thread's state.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetStateResponse getState(dev.clew.v1.GetStateRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetStateMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a thread's state: replaces it whole, or merges values into it. What the thread's app declares of its state must hold
     * afterwards (STATE_INVALID), where this server serves that app.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH,
     * STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile).
     * </pre>
     */
    public dev.clew.v1.UpdateStateResponse updateState(dev.clew.v1.UpdateStateRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateStateMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Removes every value from a thread's state. Messages stay, and so does the state of older checkpoints.
     * Refused with: THREAD_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.ClearStateResponse clearState(dev.clew.v1.ClearStateRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getClearStateMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists a thread's messages in the order of the transcript. Pages are of one version: later writes do not show in them, but for
     * messages that are deleted.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.ListMessagesResponse listMessages(dev.clew.v1.ListMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads one message.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND.
     * </pre>
     */
    public dev.clew.v1.GetMessageResponse getMessage(dev.clew.v1.GetMessageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetMessageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Adds messages at the end of the transcript, all or none; no run begins. The model sees them from the next turn on. Tool calls are
     * added with their results; on a thread whose run has calls without an outcome they are refused (THREAD_SUSPENDED, RESUME_INVALID).
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT (also where a message has an id that is taken),
     * REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile),
     * RESUME_INVALID (see above).
     * </pre>
     */
    public dev.clew.v1.AppendMessagesResponse appendMessages(dev.clew.v1.AppendMessagesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getAppendMessagesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes a message in its place, under its id. The model sees it so from the next turn on; after a Rewind to before it, the
     * message is as it was.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public dev.clew.v1.UpdateMessageResponse updateMessage(dev.clew.v1.UpdateMessageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateMessageMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a message for good: its content is erased in every version of the thread, and is not there after a Rewind either. With a
     * message that asked for tool calls go their results, also those that an abandoned line has; a result alone is not deleted
     * (ARGUMENT_INVALID). What approvals and the log say of its calls is erased too: arguments, reasons, results that people gave.
     * Copies of the thread keep theirs.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED (also with `force`, where approvals are about
     * its calls), THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public dev.clew.v1.DeleteMessageResponse deleteMessage(dev.clew.v1.DeleteMessageRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteMessageMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service ThreadService.
   * <pre>
   * Reads threads, their state and their messages, and changes them from outside a run.
   * A change of state or messages is a write of the thread: a checkpoint with CHECKPOINT_SOURCE_UPDATE that keeps the status of the
   * head and what comes next. It takes its turn as a run does (`on_busy`), and makes the thread where there is none, unless it is a
   * change of what would have to be there. On a suspended thread it is refused unless `force` is set, which keeps the approvals.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ID_INVALID, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL
   * (writes), DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class ThreadServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<ThreadServiceFutureStub> {
    private ThreadServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected ThreadServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new ThreadServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Reads a thread: how it stands, and whether anyone works on it.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.GetThreadResponse> getThread(
        dev.clew.v1.GetThreadRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetThreadMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists threads, newest first. Threads that are made or changed meanwhile make no page of the order by creation skip or repeat one.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ListThreadsResponse> listThreads(
        dev.clew.v1.ListThreadsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListThreadsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes a thread's name, metadata or user; with `allow_missing` it also makes one before its first send. It waits for no run and
     * has no version; `etag` guards it instead.
     * Refused with: THREAD_NOT_FOUND, VERSION_CONFLICT (the etag), REQUEST_ID_REUSED, APP_MISMATCH, APP_NOT_FOUND, STATE_INVALID
     * (metadata).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.UpdateThreadResponse> updateThread(
        dev.clew.v1.UpdateThreadRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateThreadMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Copies a thread, up to its head or an older checkpoint, to a new thread that owns all it has: either may be deleted. Message ids
     * and versions stay. A copy that ends in the middle of a run is failed with FAILURE_CODE_REWOUND, and Retry goes on from there; one
     * that ends suspended has approvals of its own.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND, VERSION_CONFLICT (also where the target exists), REQUEST_ID_REUSED.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.CopyThreadResponse> copyThread(
        dev.clew.v1.CopyThreadRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCopyThreadMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a thread and all that belongs to it, for good and at once: a run at work writes nothing more, and its stream and all that
     * watch or wait end with THREAD_NOT_FOUND. Facts remembered about a person stay.
     * Refused with: VERSION_CONFLICT, REQUEST_ID_REUSED. A thread that does not exist is no error.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.DeleteThreadResponse> deleteThread(
        dev.clew.v1.DeleteThreadRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteThreadMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads a thread's state.
     * Refused with: THREAD_NOT_FOUND, CHECKPOINT_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.GetStateResponse> getState(
        dev.clew.v1.GetStateRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetStateMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes a thread's state: replaces it whole, or merges values into it. What the thread's app declares of its state must hold
     * afterwards (STATE_INVALID), where this server serves that app.
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH,
     * STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.UpdateStateResponse> updateState(
        dev.clew.v1.UpdateStateRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateStateMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Removes every value from a thread's state. Messages stay, and so does the state of older checkpoints.
     * Refused with: THREAD_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ClearStateResponse> clearState(
        dev.clew.v1.ClearStateRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getClearStateMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists a thread's messages in the order of the transcript. Pages are of one version: later writes do not show in them, but for
     * messages that are deleted.
     * Refused with: THREAD_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ListMessagesResponse> listMessages(
        dev.clew.v1.ListMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads one message.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.GetMessageResponse> getMessage(
        dev.clew.v1.GetMessageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetMessageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Adds messages at the end of the transcript, all or none; no run begins. The model sees them from the next turn on. Tool calls are
     * added with their results; on a thread whose run has calls without an outcome they are refused (THREAD_SUSPENDED, RESUME_INVALID).
     * Refused with: THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT (also where a message has an id that is taken),
     * REQUEST_ID_REUSED, APP_NOT_FOUND, APP_MISMATCH, STATE_INVALID, STATE_TOO_LARGE, THREAD_NOT_FOUND (deleted meanwhile),
     * RESUME_INVALID (see above).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.AppendMessagesResponse> appendMessages(
        dev.clew.v1.AppendMessagesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getAppendMessagesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes a message in its place, under its id. The model sees it so from the next turn on; after a Rewind to before it, the
     * message is as it was.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED, THREAD_INTERRUPTED, VERSION_CONFLICT,
     * REQUEST_ID_REUSED, STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.UpdateMessageResponse> updateMessage(
        dev.clew.v1.UpdateMessageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateMessageMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a message for good: its content is erased in every version of the thread, and is not there after a Rewind either. With a
     * message that asked for tool calls go their results, also those that an abandoned line has; a result alone is not deleted
     * (ARGUMENT_INVALID). What approvals and the log say of its calls is erased too: arguments, reasons, results that people gave.
     * Copies of the thread keep theirs.
     * Refused with: THREAD_NOT_FOUND, MESSAGE_NOT_FOUND, THREAD_BUSY, THREAD_SUSPENDED (also with `force`, where approvals are about
     * its calls), THREAD_INTERRUPTED, VERSION_CONFLICT, REQUEST_ID_REUSED.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.DeleteMessageResponse> deleteMessage(
        dev.clew.v1.DeleteMessageRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteMessageMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_GET_THREAD = 0;
  private static final int METHODID_LIST_THREADS = 1;
  private static final int METHODID_UPDATE_THREAD = 2;
  private static final int METHODID_COPY_THREAD = 3;
  private static final int METHODID_DELETE_THREAD = 4;
  private static final int METHODID_GET_STATE = 5;
  private static final int METHODID_UPDATE_STATE = 6;
  private static final int METHODID_CLEAR_STATE = 7;
  private static final int METHODID_LIST_MESSAGES = 8;
  private static final int METHODID_GET_MESSAGE = 9;
  private static final int METHODID_APPEND_MESSAGES = 10;
  private static final int METHODID_UPDATE_MESSAGE = 11;
  private static final int METHODID_DELETE_MESSAGE = 12;

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
        case METHODID_GET_THREAD:
          serviceImpl.getThread((dev.clew.v1.GetThreadRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.GetThreadResponse>) responseObserver);
          break;
        case METHODID_LIST_THREADS:
          serviceImpl.listThreads((dev.clew.v1.ListThreadsRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ListThreadsResponse>) responseObserver);
          break;
        case METHODID_UPDATE_THREAD:
          serviceImpl.updateThread((dev.clew.v1.UpdateThreadRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.UpdateThreadResponse>) responseObserver);
          break;
        case METHODID_COPY_THREAD:
          serviceImpl.copyThread((dev.clew.v1.CopyThreadRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.CopyThreadResponse>) responseObserver);
          break;
        case METHODID_DELETE_THREAD:
          serviceImpl.deleteThread((dev.clew.v1.DeleteThreadRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.DeleteThreadResponse>) responseObserver);
          break;
        case METHODID_GET_STATE:
          serviceImpl.getState((dev.clew.v1.GetStateRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.GetStateResponse>) responseObserver);
          break;
        case METHODID_UPDATE_STATE:
          serviceImpl.updateState((dev.clew.v1.UpdateStateRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.UpdateStateResponse>) responseObserver);
          break;
        case METHODID_CLEAR_STATE:
          serviceImpl.clearState((dev.clew.v1.ClearStateRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ClearStateResponse>) responseObserver);
          break;
        case METHODID_LIST_MESSAGES:
          serviceImpl.listMessages((dev.clew.v1.ListMessagesRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ListMessagesResponse>) responseObserver);
          break;
        case METHODID_GET_MESSAGE:
          serviceImpl.getMessage((dev.clew.v1.GetMessageRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.GetMessageResponse>) responseObserver);
          break;
        case METHODID_APPEND_MESSAGES:
          serviceImpl.appendMessages((dev.clew.v1.AppendMessagesRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.AppendMessagesResponse>) responseObserver);
          break;
        case METHODID_UPDATE_MESSAGE:
          serviceImpl.updateMessage((dev.clew.v1.UpdateMessageRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.UpdateMessageResponse>) responseObserver);
          break;
        case METHODID_DELETE_MESSAGE:
          serviceImpl.deleteMessage((dev.clew.v1.DeleteMessageRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.DeleteMessageResponse>) responseObserver);
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
          getGetThreadMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.GetThreadRequest,
              dev.clew.v1.GetThreadResponse>(
                service, METHODID_GET_THREAD)))
        .addMethod(
          getListThreadsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ListThreadsRequest,
              dev.clew.v1.ListThreadsResponse>(
                service, METHODID_LIST_THREADS)))
        .addMethod(
          getUpdateThreadMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.UpdateThreadRequest,
              dev.clew.v1.UpdateThreadResponse>(
                service, METHODID_UPDATE_THREAD)))
        .addMethod(
          getCopyThreadMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.CopyThreadRequest,
              dev.clew.v1.CopyThreadResponse>(
                service, METHODID_COPY_THREAD)))
        .addMethod(
          getDeleteThreadMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.DeleteThreadRequest,
              dev.clew.v1.DeleteThreadResponse>(
                service, METHODID_DELETE_THREAD)))
        .addMethod(
          getGetStateMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.GetStateRequest,
              dev.clew.v1.GetStateResponse>(
                service, METHODID_GET_STATE)))
        .addMethod(
          getUpdateStateMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.UpdateStateRequest,
              dev.clew.v1.UpdateStateResponse>(
                service, METHODID_UPDATE_STATE)))
        .addMethod(
          getClearStateMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ClearStateRequest,
              dev.clew.v1.ClearStateResponse>(
                service, METHODID_CLEAR_STATE)))
        .addMethod(
          getListMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ListMessagesRequest,
              dev.clew.v1.ListMessagesResponse>(
                service, METHODID_LIST_MESSAGES)))
        .addMethod(
          getGetMessageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.GetMessageRequest,
              dev.clew.v1.GetMessageResponse>(
                service, METHODID_GET_MESSAGE)))
        .addMethod(
          getAppendMessagesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.AppendMessagesRequest,
              dev.clew.v1.AppendMessagesResponse>(
                service, METHODID_APPEND_MESSAGES)))
        .addMethod(
          getUpdateMessageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.UpdateMessageRequest,
              dev.clew.v1.UpdateMessageResponse>(
                service, METHODID_UPDATE_MESSAGE)))
        .addMethod(
          getDeleteMessageMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.DeleteMessageRequest,
              dev.clew.v1.DeleteMessageResponse>(
                service, METHODID_DELETE_MESSAGE)))
        .build();
  }

  private static abstract class ThreadServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    ThreadServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.clew.v1.ThreadServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("ThreadService");
    }
  }

  private static final class ThreadServiceFileDescriptorSupplier
      extends ThreadServiceBaseDescriptorSupplier {
    ThreadServiceFileDescriptorSupplier() {}
  }

  private static final class ThreadServiceMethodDescriptorSupplier
      extends ThreadServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    ThreadServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (ThreadServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new ThreadServiceFileDescriptorSupplier())
              .addMethod(getGetThreadMethod())
              .addMethod(getListThreadsMethod())
              .addMethod(getUpdateThreadMethod())
              .addMethod(getCopyThreadMethod())
              .addMethod(getDeleteThreadMethod())
              .addMethod(getGetStateMethod())
              .addMethod(getUpdateStateMethod())
              .addMethod(getClearStateMethod())
              .addMethod(getListMessagesMethod())
              .addMethod(getGetMessageMethod())
              .addMethod(getAppendMessagesMethod())
              .addMethod(getUpdateMessageMethod())
              .addMethod(getDeleteMessageMethod())
              .build();
        }
      }
    }
    return result;
  }
}
