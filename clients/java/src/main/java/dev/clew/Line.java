package dev.clew;

import dev.clew.v1.Event;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Deadline;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * One call whose responses are read one by one. It asks for the next only when one was taken, so
 * that a slow reader slows the server.
 */
final class Line {
  /** What can come of a call. */
  sealed interface Arrival {}

  /** A response. */
  record Response(List<Event> events) implements Arrival {}

  /** The end. */
  record Ended(CallEnd how) implements Arrival {}

  /** Nothing, for as long as the reader would wait. */
  record Silence() implements Arrival {}

  /** Nothing, but there is something to heed. */
  record Woken() implements Arrival {}

  private final ClientCall<?, ?> call;
  private final BlockingQueue<Arrival> arrived;

  private Line(ClientCall<?, ?> call, BlockingQueue<Arrival> arrived) {
    this.call = call;
    this.arrived = arrived;
  }

  /**
   * Begins a call.
   *
   * @param deadline when it is over; null for never
   * @param events what a response holds
   */
  static <Q, R> Line open(
      Channel channel,
      MethodDescriptor<Q, R> method,
      Q request,
      Function<R, List<Event>> events,
      Deadline deadline) {
    ClientCall<Q, R> call = channel.newCall(method, CallOptions.DEFAULT.withDeadline(deadline));
    BlockingQueue<Arrival> arrived = new LinkedBlockingQueue<>();
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(R response) {
            arrived.add(new Response(events.apply(response)));
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            arrived.add(new Ended(CallEnd.of(status, trailers)));
          }
        },
        new Metadata());
    call.request(1);
    call.sendMessage(request);
    call.halfClose();
    return new Line(call, arrived);
  }

  /** The next of what arrives, waited for so many nanoseconds. */
  Arrival read(long nanos) throws InterruptedException {
    Arrival next = arrived.poll(nanos, TimeUnit.NANOSECONDS);
    if (next instanceof Response) {
      call.request(1);
    }
    return next == null ? new Silence() : next;
  }

  /** Makes a read end that waits, or else the next one. */
  void wake() {
    arrived.add(new Woken());
  }

  /** Gives the call up. */
  void close() {
    call.cancel("the stream was left", null);
  }
}
