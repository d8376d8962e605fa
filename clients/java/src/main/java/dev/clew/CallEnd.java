package dev.clew;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.ProtoUtils;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** How a call ended: its status, with what the server said of it in the trailers. */
record CallEnd(Status status, Optional<ErrorInfo> info, Optional<Duration> retryAfter) {
  private static final String DOMAIN = "clew";
  private static final Metadata.Key<com.google.rpc.Status> DETAILS =
      Metadata.Key.of(
          "grpc-status-details-bin",
          ProtoUtils.metadataMarshaller(com.google.rpc.Status.getDefaultInstance()));

  /** As a call's listener is told it. */
  static CallEnd of(Status status, Metadata trailers) {
    List<Any> details = detailsIn(trailers);
    return new CallEnd(status, infoIn(details), retryAfterIn(details));
  }

  /** As a stub throws it. */
  static CallEnd of(StatusRuntimeException thrown) {
    Metadata trailers = thrown.getTrailers();
    return of(thrown.getStatus(), trailers == null ? new Metadata() : trailers);
  }

  /** Why, and with which values, in the contract's words. */
  static Optional<ErrorInfo> infoIn(List<Any> details) {
    return details.stream()
        .flatMap(detail -> unpacked(detail, ErrorInfo.class).stream())
        .filter(info -> info.getDomain().equals(DOMAIN))
        .findFirst();
  }

  /** How long to wait before another try. */
  static Optional<Duration> retryAfterIn(List<Any> details) {
    return details.stream()
        .flatMap(detail -> unpacked(detail, RetryInfo.class).stream())
        .map(RetryInfo::getRetryDelay)
        .map(delay -> Duration.ofSeconds(delay.getSeconds(), delay.getNanos()))
        .findFirst();
  }

  /** Whether a stream that ended so was broken or cut, and not refused: it may be joined again. */
  boolean isBreak() {
    if (info.isPresent()) {
      ErrorInfo why = info.get();
      // A server that only reads its database does so now and later.
      boolean readsOnly = "read_only".equals(why.getMetadataOrDefault("access", ""));
      boolean away = status.getCode() == Status.Code.UNAVAILABLE;
      return !readsOnly && (away || why.getReason().equals("LEASE_LOST"));
    }
    // What a broken connection, a proxy or a server that stops ends a stream with.
    return switch (status.getCode()) {
      case CANCELLED, INTERNAL, UNAVAILABLE, UNKNOWN -> true;
      default -> false;
    };
  }

  private static List<Any> detailsIn(Metadata trailers) {
    try {
      com.google.rpc.Status told = trailers.get(DETAILS);
      return told == null ? List.of() : told.getDetailsList();
    } catch (IllegalArgumentException garbled) {
      return List.of();
    }
  }

  private static <M extends Message> Optional<M> unpacked(Any detail, Class<M> kind) {
    try {
      return detail.is(kind) ? Optional.of(detail.unpack(kind)) : Optional.empty();
    } catch (InvalidProtocolBufferException garbled) {
      return Optional.empty();
    }
  }
}
