package dev.clew;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Tries a lost connection again after 0.1 s, and then up to 1 s: gRPC's own backoff begins with 1
 * s, grows to 2 min, and cannot be set.
 */
final class Reconnecting {
  private static final long FIRST_MS = 100;
  private static final long LONGEST_MS = 1_000;

  private final ManagedChannel channel;

  private Reconnecting(ManagedChannel channel) {
    this.channel = channel;
  }

  /** Begins to see to it, until the channel is shut down. */
  static void seeTo(ManagedChannel channel) {
    new Reconnecting(channel).changed();
  }

  private void changed() {
    ConnectivityState state = channel.getState(false);
    if (state == ConnectivityState.TRANSIENT_FAILURE) {
      tryAgainAfter(FIRST_MS);
    } else if (state != ConnectivityState.SHUTDOWN) {
      channel.notifyWhenStateChanged(state, this::changed);
    }
  }

  private void tryAgainAfter(long pauseMs) {
    Executor later = CompletableFuture.delayedExecutor(pauseMs, TimeUnit.MILLISECONDS);
    later.execute(
        () -> {
          // The state stays what it is through tries that fail.
          if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            channel.resetConnectBackoff();
            tryAgainAfter(Math.min(2 * pauseMs, LONGEST_MS));
          } else {
            changed();
          }
        });
  }
}
