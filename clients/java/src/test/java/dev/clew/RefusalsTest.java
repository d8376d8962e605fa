package dev.clew;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.google.rpc.ErrorInfo;
import dev.clew.errors.ClewException;
import dev.clew.errors.DataCorruptException;
import dev.clew.errors.UnavailableException;
import dev.clew.v1.ErrorReason;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What the end of a call stands for. */
class RefusalsTest {
  private static final String PREFIX = "ERROR_REASON_";

  private static CallEnd refused(Status status, String reason, Map<String, String> metadata) {
    ErrorInfo info =
        ErrorInfo.newBuilder().setDomain("clew").setReason(reason).putAllMetadata(metadata).build();
    return new CallEnd(status, Optional.of(info), Optional.of(Duration.ofMillis(1500)));
  }

  private static ClewException exceptionOf(CallEnd end) {
    return Refusals.of(end, "there:1", true);
  }

  @Test
  void everyReasonOfTheContractHasAClassOfItsOwn() {
    Arrays.stream(ErrorReason.values())
        .filter(reason -> reason != ErrorReason.ERROR_REASON_UNSPECIFIED)
        .filter(reason -> reason != ErrorReason.UNRECOGNIZED)
        .map(reason -> reason.name().substring(PREFIX.length()))
        .forEach(
            reason -> {
              ClewException made = exceptionOf(refused(Status.ABORTED, reason, Map.of()));
              assertNotEquals(ClewException.class, made.getClass(), reason);
              assertEquals(reason.toLowerCase(Locale.ROOT), made.code());
            });
  }

  @Test
  void whatTheServerSaysIsInTheException() {
    Status status = Status.ABORTED.withDescription("wait");
    ClewException made = exceptionOf(refused(status, "THREAD_BUSY", Map.of("thread_id", "t")));
    assertEquals("wait", made.getMessage());
    assertEquals(Map.of("thread_id", "t"), made.metadata());
    assertEquals(Optional.of(Duration.ofMillis(1500)), made.retryAfter());
  }

  @Test
  void aReasonThatIsNotKnownKeepsItsCodeAndIsTreatedByItsStatus() {
    ClewException made = exceptionOf(refused(Status.UNAVAILABLE, "NEW", Map.of()));
    assertInstanceOf(UnavailableException.class, made);
    assertEquals("new", made.code());
  }

  @Test
  void withoutAReasonTheCodeIsTheStatus() {
    ClewException made = exceptionOf(CallEnd.of(Status.DATA_LOSS, new Metadata()));
    assertInstanceOf(DataCorruptException.class, made);
    assertEquals("data_loss", made.code());
  }

  @Test
  void whatABreakIs() {
    for (Status status :
        new Status[] {Status.CANCELLED, Status.INTERNAL, Status.UNAVAILABLE, Status.UNKNOWN}) {
      assertEquals(true, CallEnd.of(status, new Metadata()).isBreak(), status.toString());
    }
    assertEquals(false, CallEnd.of(Status.DEADLINE_EXCEEDED, new Metadata()).isBreak());
    assertEquals(true, refused(Status.UNAVAILABLE, "STREAM_CUT", Map.of()).isBreak());
    assertEquals(true, refused(Status.ABORTED, "LEASE_LOST", Map.of()).isBreak());
    assertEquals(false, refused(Status.INTERNAL, "INTERNAL", Map.of()).isBreak());
    Map<String, String> readOnly = Map.of("access", "read_only");
    assertEquals(false, refused(Status.UNAVAILABLE, "STORAGE_UNAVAILABLE", readOnly).isBreak());
  }
}
