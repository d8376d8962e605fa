package dev.clew;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import dev.clew.errors.ClewException;
import dev.clew.v1.ApprovalServiceGrpc;
import dev.clew.v1.CheckpointServiceGrpc;
import dev.clew.v1.RunServiceGrpc;
import dev.clew.v1.ThreadServiceGrpc;
import dev.clew.v1.WorkerServiceGrpc;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A client's channel, the stubs over it, and the streams that are open on it. */
final class Connection {
  private static final String SERVICE_CONFIG = "v1/service_config.json";
  private static final int MOST_RECEIVED = 4 << 20;
  // What may have to be sent again: a request of the largest size, which gRPC otherwise sends but
  // once.
  private static final long MOST_KEPT = 8 << 20;
  // An error tells a list of ids, in its text and beside it.
  private static final int MOST_METADATA = 64 << 10;

  private final Settings settings;
  private final Executor executor;
  private final ManagedChannel managed;
  private final Channel channel;
  private final Set<Leavable> open = ConcurrentHashMap.newKeySet();

  /**
   * @param executor what waits for replies in the place of a caller, and runs tools
   */
  Connection(Settings settings, Executor executor) {
    this.settings = settings;
    this.executor = executor;
    this.managed = channelOf(settings);
    this.channel = ClientInterceptors.intercept(managed, new CallDefaults(settings));
    Reconnecting.seeTo(managed);
  }

  Settings settings() {
    return settings;
  }

  Executor executor() {
    return executor;
  }

  /** With the client's token, limits and retries. */
  Channel channel() {
    return channel;
  }

  RunServiceGrpc.RunServiceBlockingStub runs() {
    return RunServiceGrpc.newBlockingStub(channel);
  }

  ThreadServiceGrpc.ThreadServiceBlockingStub threads() {
    return ThreadServiceGrpc.newBlockingStub(channel);
  }

  CheckpointServiceGrpc.CheckpointServiceBlockingStub checkpoints() {
    return CheckpointServiceGrpc.newBlockingStub(channel);
  }

  ApprovalServiceGrpc.ApprovalServiceBlockingStub approvals() {
    return ApprovalServiceGrpc.newBlockingStub(channel);
  }

  WorkerServiceGrpc.WorkerServiceBlockingStub workers() {
    return WorkerServiceGrpc.newBlockingStub(channel);
  }

  /** The answer to a call that has one. Throws what a refusal stands for. */
  <R> R ask(Supplier<R> call) {
    try {
      return call.get();
    } catch (StatusRuntimeException refused) {
      throw errorOf(refused);
    }
  }

  /** What a call over this channel that ended so stands for. */
  ClewException errorOf(CallEnd end) {
    boolean reached = managed.getState(false) == ConnectivityState.READY;
    return Refusals.of(end, settings.target(), reached);
  }

  /** What a stub threw, as the client's exception. */
  ClewException errorOf(StatusRuntimeException thrown) {
    return errorOf(CallEnd.of(thrown));
  }

  /** It is to be left when the client is closed. */
  void opened(Leavable stream) {
    open.add(stream);
  }

  /** It is over. */
  void closed(Leavable stream) {
    open.remove(stream);
  }

  /** Leaves what is open, side by side, and lets the channel go. */
  void close() {
    List<Thread> leaving = new ArrayList<>();
    for (Leavable stream : open) {
      Thread thread = new Thread(stream::leave, "clew-leave");
      thread.setDaemon(true);
      thread.start();
      leaving.add(thread);
    }
    try {
      for (Thread thread : leaving) {
        thread.join();
      }
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    } finally {
      managed.shutdownNow();
    }
  }

  private static ManagedChannel channelOf(Settings settings) {
    ManagedChannelBuilder<?> builder =
        Grpc.newChannelBuilder(settings.target(), settings.credentials())
            .defaultServiceConfig(serviceConfig())
            .disableServiceConfigLookUp()
            .maxInboundMessageSize(MOST_RECEIVED)
            .maxInboundMetadataSize(MOST_METADATA)
            .perRpcBufferLimit(MOST_KEPT)
            // A connection that died without a word is noticed while a call waits on it.
            .keepAliveTime(30, TimeUnit.SECONDS)
            .keepAliveTimeout(10, TimeUnit.SECONDS);
    settings.more().accept(builder);
    return builder.build();
  }

  private static Map<String, ?> serviceConfig() {
    try (Reader text =
        new InputStreamReader(
            Connection.class.getResourceAsStream(SERVICE_CONFIG), StandardCharsets.UTF_8)) {
      return new Gson().fromJson(text, new TypeToken<Map<String, Object>>() {});
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
