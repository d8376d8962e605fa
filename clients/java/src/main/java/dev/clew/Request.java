package dev.clew;

import dev.clew.v1.DecideRequest;
import dev.clew.v1.DecideResponse;
import dev.clew.v1.Event;
import dev.clew.v1.ResumeRequest;
import dev.clew.v1.ResumeResponse;
import dev.clew.v1.RetryRequest;
import dev.clew.v1.RetryResponse;
import dev.clew.v1.RunServiceGrpc;
import dev.clew.v1.SendRequest;
import dev.clew.v1.SendResponse;
import dev.clew.v1.WatchRequest;
import dev.clew.v1.WatchResponse;
import io.grpc.Channel;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import java.util.List;
import java.util.function.Function;

/** A request whose answer is events, with the RPC that it is for. */
record Request<Q, R>(MethodDescriptor<Q, R> method, Q body, Function<R, List<Event>> events) {
  static Request<?, ?> of(SendRequest body) {
    return new Request<>(RunServiceGrpc.getSendMethod(), body, SendResponse::getEventsList);
  }

  static Request<?, ?> of(DecideRequest body) {
    return new Request<>(RunServiceGrpc.getDecideMethod(), body, DecideResponse::getEventsList);
  }

  static Request<?, ?> of(ResumeRequest body) {
    return new Request<>(RunServiceGrpc.getResumeMethod(), body, ResumeResponse::getEventsList);
  }

  static Request<?, ?> of(RetryRequest body) {
    return new Request<>(RunServiceGrpc.getRetryMethod(), body, RetryResponse::getEventsList);
  }

  static Request<?, ?> of(WatchRequest body) {
    return new Request<>(RunServiceGrpc.getWatchMethod(), body, WatchResponse::getEventsList);
  }

  /** Sends it. */
  Line open(Channel channel, Deadline deadline) {
    return Line.open(channel, method, body, events, deadline);
  }
}
