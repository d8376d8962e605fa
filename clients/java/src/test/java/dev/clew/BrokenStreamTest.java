package dev.clew;

import static dev.clew.Telling.asked;
import static dev.clew.Telling.completed;
import static dev.clew.Telling.delta;
import static dev.clew.Telling.heartbeat;
import static dev.clew.Telling.said;
import static dev.clew.Telling.started;
import static dev.clew.Telling.toolFinished;
import static dev.clew.Telling.toolStarted;
import static dev.clew.Telling.written;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.clew.v1.Event;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Wherever connections break, every event comes once and the text is whole. */
class BrokenStreamTest {
  private static final String ANSWER = "héllo, wörld — 你好";

  /** A connection gives so many events and breaks, and so much happens until the next. */
  record Break(int read, int meanwhile) {}

  @Provide
  Arbitrary<List<Break>> breaks() {
    Arbitrary<Integer> read = Arbitraries.integers().between(1, 25);
    Arbitrary<Integer> meanwhile = Arbitraries.integers().between(0, 25);
    return Combinators.combine(read, meanwhile).as(Break::new).list().ofMaxSize(4);
  }

  @Property
  void everyEventComesOnceAndTheTextIsWhole(@ForAll("breaks") List<Break> breaks) {
    List<Event> run = run();
    Position position = Position.ofAttempt();
    List<Event> seen = new ArrayList<>();
    List<Event> before = List.of();
    int at = 0;
    for (Break each : breaks) {
      List<Event> stream = new ArrayList<>(before);
      stream.addAll(run.subList(at, run.size()));
      List<Event> told = stream.subList(0, Math.min(each.read(), stream.size()));
      told.forEach(event -> seen.addAll(position.accept(event)));
      int more = Math.max(0, told.size() - before.size()) + each.meanwhile();
      at = whole(run, Math.min(run.size(), at + more));
      before = replayed(run, position.cursor().orElse(0), at);
      position.join();
    }
    before.forEach(event -> seen.addAll(position.accept(event)));
    run.subList(at, run.size()).forEach(event -> seen.addAll(position.accept(event)));

    List<Event> expected = run.stream().filter(Payloads::isLogged).toList();
    assertEquals(expected, seen.stream().filter(Payloads::isLogged).toList());
    assertEquals("let me look", PositionTest.textOf(seen, "m2.1"));
    assertEquals(ANSWER, PositionTest.textOf(seen, "m5.1"));
    assertEquals(OptionalLong.of(5), position.cursor());
  }

  private static List<Event> run() {
    List<Event> run =
        new ArrayList<>(
            List.of(
                started(1),
                written(1, asked("m1.1", "hi")),
                delta(1, "m2.1", 0, "let me "),
                delta(1, "m2.1", 7, "look"),
                heartbeat(1),
                written(2, false, said("m2.1", "let me look")),
                toolStarted(2, "call_1", false),
                toolStarted(2, "call_2", true),
                toolFinished(3, "call_2"),
                written(3),
                toolFinished(4, "call_1"),
                written(4)));
    int offset = 0;
    for (int index = 0; index < ANSWER.length(); index += 3) {
      String piece = ANSWER.substring(index, Math.min(ANSWER.length(), index + 3));
      run.add(delta(4, "m5.1", offset, piece));
      offset += piece.getBytes(StandardCharsets.UTF_8).length;
    }
    run.add(written(5, false, said("m5.1", ANSWER)));
    run.add(completed(5));
    return run;
  }

  /**
   * What a server first gives a watcher after a cursor, when the run has come as far as {@code at}.
   */
  private static List<Event> replayed(List<Event> run, long cursor, int at) {
    List<Event> past = run.subList(0, at);
    long head =
        past.stream().filter(Event::getLastOfVersion).mapToLong(Event::getVersion).max().orElse(0);
    List<Event> told = new ArrayList<>();
    Map<String, String> soFar = new LinkedHashMap<>();
    for (Event event : past) {
      if (Payloads.isLogged(event) && cursor < event.getVersion() && event.getVersion() <= head) {
        told.add(event);
      }
      if (event.hasTextDelta()) {
        soFar.merge(
            event.getTextDelta().getMessageId(), event.getTextDelta().getText(), String::concat);
      } else if (event.hasCheckpointWritten()) {
        soFar.clear();
      }
    }
    soFar.forEach((messageId, text) -> told.add(delta(head, messageId, 0, text)));
    return told;
  }

  /** The next point where no version is told in part: a write is told at once. */
  private static int whole(List<Event> run, int from) {
    int at = from;
    while (at > 0 && at < run.size() && sameWrite(run.get(at - 1), run.get(at))) {
      at++;
    }
    return at;
  }

  private static boolean sameWrite(Event one, Event next) {
    return Payloads.isLogged(one)
        && Payloads.isLogged(next)
        && one.getVersion() == next.getVersion();
  }
}
