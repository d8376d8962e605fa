package dev.clew;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.concurrent.TimeUnit;

/**
 * What goes with every call of a client: its token, and a limit for calls that answer once and have
 * none.
 */
final class CallDefaults implements ClientInterceptor {
  private static final Metadata.Key<String> AUTHORIZATION =
      Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER);
  // More than any field may have, so that the server refuses what is too large by the field's name.
  static final int MOST_SENT = 8 << 20;

  private final Settings settings;

  CallDefaults(Settings settings) {
    this.settings = settings;
  }

  @Override
  public <Q, R> ClientCall<Q, R> interceptCall(
      MethodDescriptor<Q, R> method, CallOptions given, Channel next) {
    CallOptions options =
        given.getMaxOutboundMessageSize() == null
            ? given.withMaxOutboundMessageSize(MOST_SENT)
            : given;
    if (options.getDeadline() == null && method.getType() == MethodDescriptor.MethodType.UNARY) {
      options = options.withDeadlineAfter(Nanos.of(settings.timeout()), TimeUnit.NANOSECONDS);
    }
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<R> listener, Metadata headers) {
        if (settings.token() != null) {
          headers.put(AUTHORIZATION, "Bearer " + settings.token().get());
        }
        super.start(listener, headers);
      }
    };
  }
}
