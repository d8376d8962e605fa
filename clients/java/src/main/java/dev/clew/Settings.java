package dev.clew;

import io.grpc.ChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * How a client reaches its server, and how long it tries.
 *
 * @param token what to send as a bearer token; null for none
 * @param silence how long nothing at all may come of a run that has started
 * @param firstPause how long to wait before the first try to join a stream again, doubled up to
 *     {@code longestPause}
 */
record Settings(
    String target,
    ChannelCredentials credentials,
    Supplier<String> token,
    Duration timeout,
    Duration connectTimeout,
    Duration rejoinTimeout,
    Duration leaveTimeout,
    Duration silence,
    Duration firstPause,
    Duration longestPause,
    Consumer<ManagedChannelBuilder<?>> more) {}
