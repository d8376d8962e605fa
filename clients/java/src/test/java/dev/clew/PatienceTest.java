package dev.clew;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.InsecureChannelCredentials;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** How long a stream that broke is tried again. */
class PatienceTest {
  private final AtomicLong clock = new AtomicLong(42);
  private final Patience patience = new Patience(settings(), clock::get);

  private static Settings settings() {
    return new Settings(
        "there:1",
        InsecureChannelCredentials.create(),
        null,
        Duration.ofSeconds(30),
        Duration.ofSeconds(5),
        Duration.ofSeconds(60),
        Duration.ofSeconds(15),
        Duration.ofSeconds(60),
        Duration.ofMillis(100),
        Duration.ofSeconds(2),
        channel -> {});
  }

  private List<Long> pauses() {
    List<Long> pauses = new ArrayList<>();
    for (Optional<Duration> next = patience.pause(); next.isPresent(); next = patience.pause()) {
      pauses.add(next.get().toMillis());
      clock.addAndGet(next.get().toNanos());
    }
    return pauses;
  }

  @Test
  void aServerThatWasNeverHeardIsGivenUpAfterTheConnectTimeout() {
    assertEquals(List.of(100L, 200L, 400L, 800L, 1600L), pauses());
  }

  @Test
  void aServerThatWasHeardIsTriedForTheRejoinTimeoutFromThenOn() {
    pauses();
    patience.heard();
    List<Long> again = pauses();
    assertEquals(List.of(100L, 200L, 400L, 800L, 1600L, 2000L), again.subList(0, 6));
    assertEquals(59_100, again.stream().mapToLong(Long::longValue).sum());
  }
}
