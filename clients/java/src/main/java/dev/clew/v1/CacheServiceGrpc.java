package dev.clew.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Keeps JSON values by namespace and key, each for ever or for a time: what is dear to compute and may be computed again.
 * A value belongs to no thread, and what happens to threads leaves it as it is. Of several writes to one key the last one holds. To
 * repeat a call does no harm, so none takes a request id. A value whose time is over is gone at once, for reads and lists alike.
 * Namespaces and keys are any text, compared code point by code point: no character has a meaning of its own, and no two pairs of
 * namespace and key are the same value. In a path each of them is one segment, in which everything but letters, digits and `-._~` is
 * percent-encoded, `/` (as `%2F`) and `%` (as `%25`) too. What a path cannot say even so (`.` and `..`, which proxies take for steps,
 * or a NUL) is said to `/v1/cache/value` and `/v1/cache/keys`, where both are query parameters or in the body.
 * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL (PutValue),
 * DATA_CORRUPT, INTERNAL.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class CacheServiceGrpc {

  private CacheServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "clew.v1.CacheService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.PutValueRequest,
      dev.clew.v1.PutValueResponse> getPutValueMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "PutValue",
      requestType = dev.clew.v1.PutValueRequest.class,
      responseType = dev.clew.v1.PutValueResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.PutValueRequest,
      dev.clew.v1.PutValueResponse> getPutValueMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.PutValueRequest, dev.clew.v1.PutValueResponse> getPutValueMethod;
    if ((getPutValueMethod = CacheServiceGrpc.getPutValueMethod) == null) {
      synchronized (CacheServiceGrpc.class) {
        if ((getPutValueMethod = CacheServiceGrpc.getPutValueMethod) == null) {
          CacheServiceGrpc.getPutValueMethod = getPutValueMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.PutValueRequest, dev.clew.v1.PutValueResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "PutValue"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.PutValueRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.PutValueResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CacheServiceMethodDescriptorSupplier("PutValue"))
              .build();
        }
      }
    }
    return getPutValueMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.GetValueRequest,
      dev.clew.v1.GetValueResponse> getGetValueMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetValue",
      requestType = dev.clew.v1.GetValueRequest.class,
      responseType = dev.clew.v1.GetValueResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.GetValueRequest,
      dev.clew.v1.GetValueResponse> getGetValueMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.GetValueRequest, dev.clew.v1.GetValueResponse> getGetValueMethod;
    if ((getGetValueMethod = CacheServiceGrpc.getGetValueMethod) == null) {
      synchronized (CacheServiceGrpc.class) {
        if ((getGetValueMethod = CacheServiceGrpc.getGetValueMethod) == null) {
          CacheServiceGrpc.getGetValueMethod = getGetValueMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.GetValueRequest, dev.clew.v1.GetValueResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetValue"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetValueRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.GetValueResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CacheServiceMethodDescriptorSupplier("GetValue"))
              .build();
        }
      }
    }
    return getGetValueMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.DeleteValueRequest,
      dev.clew.v1.DeleteValueResponse> getDeleteValueMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "DeleteValue",
      requestType = dev.clew.v1.DeleteValueRequest.class,
      responseType = dev.clew.v1.DeleteValueResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.DeleteValueRequest,
      dev.clew.v1.DeleteValueResponse> getDeleteValueMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.DeleteValueRequest, dev.clew.v1.DeleteValueResponse> getDeleteValueMethod;
    if ((getDeleteValueMethod = CacheServiceGrpc.getDeleteValueMethod) == null) {
      synchronized (CacheServiceGrpc.class) {
        if ((getDeleteValueMethod = CacheServiceGrpc.getDeleteValueMethod) == null) {
          CacheServiceGrpc.getDeleteValueMethod = getDeleteValueMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.DeleteValueRequest, dev.clew.v1.DeleteValueResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "DeleteValue"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DeleteValueRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.DeleteValueResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CacheServiceMethodDescriptorSupplier("DeleteValue"))
              .build();
        }
      }
    }
    return getDeleteValueMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.clew.v1.ListKeysRequest,
      dev.clew.v1.ListKeysResponse> getListKeysMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListKeys",
      requestType = dev.clew.v1.ListKeysRequest.class,
      responseType = dev.clew.v1.ListKeysResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.clew.v1.ListKeysRequest,
      dev.clew.v1.ListKeysResponse> getListKeysMethod() {
    io.grpc.MethodDescriptor<dev.clew.v1.ListKeysRequest, dev.clew.v1.ListKeysResponse> getListKeysMethod;
    if ((getListKeysMethod = CacheServiceGrpc.getListKeysMethod) == null) {
      synchronized (CacheServiceGrpc.class) {
        if ((getListKeysMethod = CacheServiceGrpc.getListKeysMethod) == null) {
          CacheServiceGrpc.getListKeysMethod = getListKeysMethod =
              io.grpc.MethodDescriptor.<dev.clew.v1.ListKeysRequest, dev.clew.v1.ListKeysResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListKeys"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListKeysRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.clew.v1.ListKeysResponse.getDefaultInstance()))
              .setSchemaDescriptor(new CacheServiceMethodDescriptorSupplier("ListKeys"))
              .build();
        }
      }
    }
    return getListKeysMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static CacheServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CacheServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CacheServiceStub>() {
        @java.lang.Override
        public CacheServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CacheServiceStub(channel, callOptions);
        }
      };
    return CacheServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static CacheServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CacheServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CacheServiceBlockingV2Stub>() {
        @java.lang.Override
        public CacheServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CacheServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return CacheServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static CacheServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CacheServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CacheServiceBlockingStub>() {
        @java.lang.Override
        public CacheServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CacheServiceBlockingStub(channel, callOptions);
        }
      };
    return CacheServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static CacheServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<CacheServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<CacheServiceFutureStub>() {
        @java.lang.Override
        public CacheServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new CacheServiceFutureStub(channel, callOptions);
        }
      };
    return CacheServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Keeps JSON values by namespace and key, each for ever or for a time: what is dear to compute and may be computed again.
   * A value belongs to no thread, and what happens to threads leaves it as it is. Of several writes to one key the last one holds. To
   * repeat a call does no harm, so none takes a request id. A value whose time is over is gone at once, for reads and lists alike.
   * Namespaces and keys are any text, compared code point by code point: no character has a meaning of its own, and no two pairs of
   * namespace and key are the same value. In a path each of them is one segment, in which everything but letters, digits and `-._~` is
   * percent-encoded, `/` (as `%2F`) and `%` (as `%25`) too. What a path cannot say even so (`.` and `..`, which proxies take for steps,
   * or a NUL) is said to `/v1/cache/value` and `/v1/cache/keys`, where both are query parameters or in the body.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL (PutValue),
   * DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Keeps a value, in the place of the one that was under the key; its time begins anew.
     * Refused with: STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    default void putValue(dev.clew.v1.PutValueRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.PutValueResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getPutValueMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads a value. That there is none is no error.
     * </pre>
     */
    default void getValue(dev.clew.v1.GetValueRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetValueResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetValueMethod(), responseObserver);
    }

    /**
     * <pre>
     * Deletes a value. That there is none is no error.
     * </pre>
     */
    default void deleteValue(dev.clew.v1.DeleteValueRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DeleteValueResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getDeleteValueMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the keys of a namespace in the order of their code points. A key that is there from the first page to the last comes once;
     * one that comes, goes or expires meanwhile comes once or not at all.
     * </pre>
     */
    default void listKeys(dev.clew.v1.ListKeysRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListKeysResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListKeysMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service CacheService.
   * <pre>
   * Keeps JSON values by namespace and key, each for ever or for a time: what is dear to compute and may be computed again.
   * A value belongs to no thread, and what happens to threads leaves it as it is. Of several writes to one key the last one holds. To
   * repeat a call does no harm, so none takes a request id. A value whose time is over is gone at once, for reads and lists alike.
   * Namespaces and keys are any text, compared code point by code point: no character has a meaning of its own, and no two pairs of
   * namespace and key are the same value. In a path each of them is one segment, in which everything but letters, digits and `-._~` is
   * percent-encoded, `/` (as `%2F`) and `%` (as `%25`) too. What a path cannot say even so (`.` and `..`, which proxies take for steps,
   * or a NUL) is said to `/v1/cache/value` and `/v1/cache/keys`, where both are query parameters or in the body.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL (PutValue),
   * DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static abstract class CacheServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return CacheServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service CacheService.
   * <pre>
   * Keeps JSON values by namespace and key, each for ever or for a time: what is dear to compute and may be computed again.
   * A value belongs to no thread, and what happens to threads leaves it as it is. Of several writes to one key the last one holds. To
   * repeat a call does no harm, so none takes a request id. A value whose time is over is gone at once, for reads and lists alike.
   * Namespaces and keys are any text, compared code point by code point: no character has a meaning of its own, and no two pairs of
   * namespace and key are the same value. In a path each of them is one segment, in which everything but letters, digits and `-._~` is
   * percent-encoded, `/` (as `%2F`) and `%` (as `%25`) too. What a path cannot say even so (`.` and `..`, which proxies take for steps,
   * or a NUL) is said to `/v1/cache/value` and `/v1/cache/keys`, where both are query parameters or in the body.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL (PutValue),
   * DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CacheServiceStub
      extends io.grpc.stub.AbstractAsyncStub<CacheServiceStub> {
    private CacheServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CacheServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CacheServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Keeps a value, in the place of the one that was under the key; its time begins anew.
     * Refused with: STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public void putValue(dev.clew.v1.PutValueRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.PutValueResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getPutValueMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads a value. That there is none is no error.
     * </pre>
     */
    public void getValue(dev.clew.v1.GetValueRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.GetValueResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetValueMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Deletes a value. That there is none is no error.
     * </pre>
     */
    public void deleteValue(dev.clew.v1.DeleteValueRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.DeleteValueResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getDeleteValueMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the keys of a namespace in the order of their code points. A key that is there from the first page to the last comes once;
     * one that comes, goes or expires meanwhile comes once or not at all.
     * </pre>
     */
    public void listKeys(dev.clew.v1.ListKeysRequest request,
        io.grpc.stub.StreamObserver<dev.clew.v1.ListKeysResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListKeysMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service CacheService.
   * <pre>
   * Keeps JSON values by namespace and key, each for ever or for a time: what is dear to compute and may be computed again.
   * A value belongs to no thread, and what happens to threads leaves it as it is. Of several writes to one key the last one holds. To
   * repeat a call does no harm, so none takes a request id. A value whose time is over is gone at once, for reads and lists alike.
   * Namespaces and keys are any text, compared code point by code point: no character has a meaning of its own, and no two pairs of
   * namespace and key are the same value. In a path each of them is one segment, in which everything but letters, digits and `-._~` is
   * percent-encoded, `/` (as `%2F`) and `%` (as `%25`) too. What a path cannot say even so (`.` and `..`, which proxies take for steps,
   * or a NUL) is said to `/v1/cache/value` and `/v1/cache/keys`, where both are query parameters or in the body.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL (PutValue),
   * DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CacheServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<CacheServiceBlockingV2Stub> {
    private CacheServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CacheServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CacheServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Keeps a value, in the place of the one that was under the key; its time begins anew.
     * Refused with: STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public dev.clew.v1.PutValueResponse putValue(dev.clew.v1.PutValueRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getPutValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads a value. That there is none is no error.
     * </pre>
     */
    public dev.clew.v1.GetValueResponse getValue(dev.clew.v1.GetValueRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a value. That there is none is no error.
     * </pre>
     */
    public dev.clew.v1.DeleteValueResponse deleteValue(dev.clew.v1.DeleteValueRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getDeleteValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the keys of a namespace in the order of their code points. A key that is there from the first page to the last comes once;
     * one that comes, goes or expires meanwhile comes once or not at all.
     * </pre>
     */
    public dev.clew.v1.ListKeysResponse listKeys(dev.clew.v1.ListKeysRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListKeysMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service CacheService.
   * <pre>
   * Keeps JSON values by namespace and key, each for ever or for a time: what is dear to compute and may be computed again.
   * A value belongs to no thread, and what happens to threads leaves it as it is. Of several writes to one key the last one holds. To
   * repeat a call does no harm, so none takes a request id. A value whose time is over is gone at once, for reads and lists alike.
   * Namespaces and keys are any text, compared code point by code point: no character has a meaning of its own, and no two pairs of
   * namespace and key are the same value. In a path each of them is one segment, in which everything but letters, digits and `-._~` is
   * percent-encoded, `/` (as `%2F`) and `%` (as `%25`) too. What a path cannot say even so (`.` and `..`, which proxies take for steps,
   * or a NUL) is said to `/v1/cache/value` and `/v1/cache/keys`, where both are query parameters or in the body.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL (PutValue),
   * DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CacheServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<CacheServiceBlockingStub> {
    private CacheServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CacheServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CacheServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Keeps a value, in the place of the one that was under the key; its time begins anew.
     * Refused with: STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public dev.clew.v1.PutValueResponse putValue(dev.clew.v1.PutValueRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getPutValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads a value. That there is none is no error.
     * </pre>
     */
    public dev.clew.v1.GetValueResponse getValue(dev.clew.v1.GetValueRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Deletes a value. That there is none is no error.
     * </pre>
     */
    public dev.clew.v1.DeleteValueResponse deleteValue(dev.clew.v1.DeleteValueRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getDeleteValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the keys of a namespace in the order of their code points. A key that is there from the first page to the last comes once;
     * one that comes, goes or expires meanwhile comes once or not at all.
     * </pre>
     */
    public dev.clew.v1.ListKeysResponse listKeys(dev.clew.v1.ListKeysRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListKeysMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service CacheService.
   * <pre>
   * Keeps JSON values by namespace and key, each for ever or for a time: what is dear to compute and may be computed again.
   * A value belongs to no thread, and what happens to threads leaves it as it is. Of several writes to one key the last one holds. To
   * repeat a call does no harm, so none takes a request id. A value whose time is over is gone at once, for reads and lists alike.
   * Namespaces and keys are any text, compared code point by code point: no character has a meaning of its own, and no two pairs of
   * namespace and key are the same value. In a path each of them is one segment, in which everything but letters, digits and `-._~` is
   * percent-encoded, `/` (as `%2F`) and `%` (as `%25`) too. What a path cannot say even so (`.` and `..`, which proxies take for steps,
   * or a NUL) is said to `/v1/cache/value` and `/v1/cache/keys`, where both are query parameters or in the body.
   * All of them may end with: UNAUTHENTICATED, PERMISSION_DENIED, ARGUMENT_INVALID, STORAGE_UNAVAILABLE, STORAGE_FULL (PutValue),
   * DATA_CORRUPT, INTERNAL.
   * </pre>
   */
  public static final class CacheServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<CacheServiceFutureStub> {
    private CacheServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected CacheServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new CacheServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Keeps a value, in the place of the one that was under the key; its time begins anew.
     * Refused with: STATE_INVALID, STATE_TOO_LARGE.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.PutValueResponse> putValue(
        dev.clew.v1.PutValueRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getPutValueMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads a value. That there is none is no error.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.GetValueResponse> getValue(
        dev.clew.v1.GetValueRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetValueMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Deletes a value. That there is none is no error.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.DeleteValueResponse> deleteValue(
        dev.clew.v1.DeleteValueRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getDeleteValueMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the keys of a namespace in the order of their code points. A key that is there from the first page to the last comes once;
     * one that comes, goes or expires meanwhile comes once or not at all.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.clew.v1.ListKeysResponse> listKeys(
        dev.clew.v1.ListKeysRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListKeysMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_PUT_VALUE = 0;
  private static final int METHODID_GET_VALUE = 1;
  private static final int METHODID_DELETE_VALUE = 2;
  private static final int METHODID_LIST_KEYS = 3;

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
        case METHODID_PUT_VALUE:
          serviceImpl.putValue((dev.clew.v1.PutValueRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.PutValueResponse>) responseObserver);
          break;
        case METHODID_GET_VALUE:
          serviceImpl.getValue((dev.clew.v1.GetValueRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.GetValueResponse>) responseObserver);
          break;
        case METHODID_DELETE_VALUE:
          serviceImpl.deleteValue((dev.clew.v1.DeleteValueRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.DeleteValueResponse>) responseObserver);
          break;
        case METHODID_LIST_KEYS:
          serviceImpl.listKeys((dev.clew.v1.ListKeysRequest) request,
              (io.grpc.stub.StreamObserver<dev.clew.v1.ListKeysResponse>) responseObserver);
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
          getPutValueMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.PutValueRequest,
              dev.clew.v1.PutValueResponse>(
                service, METHODID_PUT_VALUE)))
        .addMethod(
          getGetValueMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.GetValueRequest,
              dev.clew.v1.GetValueResponse>(
                service, METHODID_GET_VALUE)))
        .addMethod(
          getDeleteValueMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.DeleteValueRequest,
              dev.clew.v1.DeleteValueResponse>(
                service, METHODID_DELETE_VALUE)))
        .addMethod(
          getListKeysMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.clew.v1.ListKeysRequest,
              dev.clew.v1.ListKeysResponse>(
                service, METHODID_LIST_KEYS)))
        .build();
  }

  private static abstract class CacheServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    CacheServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.clew.v1.CacheServiceProto.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("CacheService");
    }
  }

  private static final class CacheServiceFileDescriptorSupplier
      extends CacheServiceBaseDescriptorSupplier {
    CacheServiceFileDescriptorSupplier() {}
  }

  private static final class CacheServiceMethodDescriptorSupplier
      extends CacheServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    CacheServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (CacheServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new CacheServiceFileDescriptorSupplier())
              .addMethod(getPutValueMethod())
              .addMethod(getGetValueMethod())
              .addMethod(getDeleteValueMethod())
              .addMethod(getListKeysMethod())
              .build();
        }
      }
    }
    return result;
  }
}
