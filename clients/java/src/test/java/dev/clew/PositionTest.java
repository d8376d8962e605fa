package dev.clew;

import static dev.clew.Telling.asked;
import static dev.clew.Telling.completed;
import static dev.clew.Telling.delta;
import static dev.clew.Telling.discarded;
import static dev.clew.Telling.heartbeat;
import static dev.clew.Telling.progress;
import static dev.clew.Telling.queued;
import static dev.clew.Telling.said;
import static dev.clew.Telling.started;
import static dev.clew.Telling.thought;
import static dev.clew.Telling.toolFinished;
import static dev.clew.Telling.toolStarted;
import static dev.clew.Telling.unknown;
import static dev.clew.Telling.written;
import static dev.clew.v1.Event.PayloadCase.CHECKPOINT_WRITTEN;
import static dev.clew.v1.Event.PayloadCase.MESSAGE_DISCARDED;
import static dev.clew.v1.Event.PayloadCase.REASONING_DELTA;
import static dev.clew.v1.Event.PayloadCase.RUN_COMPLETED;
import static dev.clew.v1.Event.PayloadCase.RUN_STARTED;
import static dev.clew.v1.Event.PayloadCase.TEXT_DELTA;
import static dev.clew.v1.Event.PayloadCase.TOOL_CALL_FINISHED;
import static dev.clew.v1.Event.PayloadCase.TOOL_CALL_PROGRESS;
import static dev.clew.v1.Event.PayloadCase.TOOL_CALL_STARTED;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.clew.v1.CheckpointSource;
import dev.clew.v1.Event;
import dev.clew.v1.Event.PayloadCase;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** What a reader is given of a thread's events, however often its connection breaks. */
class PositionTest {
  private static final String ANSWER = "héllo, wörld — 你好";

  private final Position attempt = Position.ofAttempt();

  static List<Event> given(Position position, Event... events) {
    List<Event> seen = new ArrayList<>();
    for (Event event : events) {
      seen.addAll(position.accept(event));
    }
    return seen;
  }

  static List<PayloadCase> kinds(List<Event> events) {
    return events.stream().map(Event::getPayloadCase).toList();
  }

  /** What a reader has who only joins deltas, and drops what is void. */
  static String textOf(List<Event> events, String messageId) {
    StringBuilder text = new StringBuilder();
    for (Event event : events) {
      if (event.getTextDelta().getMessageId().equals(messageId)) {
        int length = text.toString().getBytes(StandardCharsets.UTF_8).length;
        assertEquals(length, event.getTextDelta().getOffset(), "a piece is doubled or missing");
        text.append(event.getTextDelta().getText());
      }
      if (event.hasRunStarted() || event.getMessageDiscarded().getMessageId().equals(messageId)) {
        text.setLength(0);
      }
    }
    return text.toString();
  }

  static List<Event> both(List<Event> first, List<Event> again) {
    List<Event> all = new ArrayList<>(first);
    all.addAll(again);
    return all;
  }

  @Test
  void theCursorMovesOnlyWithTheLastEventOfAVersion() {
    List<OptionalLong> cursors = new ArrayList<>();
    for (Event event :
        List.of(queued(), started(4), written(4), toolFinished(5, "call_1"), written(5))) {
      given(attempt, event);
      cursors.add(attempt.cursor());
    }
    assertEquals(
        List.of(
            OptionalLong.empty(),
            OptionalLong.of(3),
            OptionalLong.of(4),
            OptionalLong.of(4),
            OptionalLong.of(5)),
        cursors);
  }

  @Test
  void aVersionThatWasReadInPartIsGivenOnce() {
    List<Event> first = given(attempt, started(1), written(1), toolFinished(2, "call_1"));
    attempt.join();
    assertEquals(OptionalLong.of(1), attempt.cursor());
    List<Event> again =
        given(
            attempt, toolFinished(2, "call_1"), written(2, false), toolStarted(2, "call_2", true));
    assertEquals(List.of(RUN_STARTED, CHECKPOINT_WRITTEN, TOOL_CALL_FINISHED), kinds(first));
    assertEquals(List.of(CHECKPOINT_WRITTEN, TOOL_CALL_STARTED), kinds(again));
  }

  @Test
  void textSoFarIsGivenLessWhatWasShown() {
    List<Event> first = given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hé"));
    attempt.join();
    List<Event> again = given(attempt, delta(1, "m2.1", 0, "héllo"), delta(1, "m2.1", 6, "!"));
    assertEquals("héllo!", textOf(both(first, again), "m2.1"));
  }

  @Test
  void textThatIsAllKnownIsNotGivenAgain() {
    given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hello"));
    attempt.join();
    assertEquals(List.of(), given(attempt, delta(1, "m2.1", 0, "hell"), delta(1, "m2.1", 0, "")));
    assertEquals(5, given(attempt, delta(1, "m2.1", 3, "lo!")).get(0).getTextDelta().getOffset());
  }

  @Test
  void reasoningAndTextOfAMessageAreCountedApart() {
    List<Event> seen =
        given(
            attempt,
            started(1),
            written(1),
            thought(1, "m2.1", "hm"),
            delta(1, "m2.1", 0, "no", 1));
    assertEquals(List.of(REASONING_DELTA, TEXT_DELTA), kinds(seen).subList(2, 4));
  }

  @Test
  void theRestOfAMessageThatWasWrittenMeanwhileComesBeforeItsCheckpoint() {
    List<Event> first = given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hello"));
    attempt.join();
    List<Event> again = given(attempt, written(2, said("m2.1", "hello, world")), completed(3));
    assertEquals("hello, world", textOf(both(first, again), "m2.1"));
    assertEquals(List.of(TEXT_DELTA, CHECKPOINT_WRITTEN, RUN_COMPLETED), kinds(again));
    assertEquals(1, again.get(0).getVersion());
  }

  @Test
  void aWholeMessageThatWasMissedComesAsTextToo() {
    given(attempt, started(1), written(1));
    attempt.join();
    List<Event> again = given(attempt, written(2, said("m2.1", "hello")));
    assertEquals("hello", textOf(again, "m2.1"));
  }

  @Test
  void aMessageOfWhichOnlyABeginningCameIsCompletedBeforeItsCheckpoint() {
    Position watch = Position.after(0);
    List<Event> events =
        given(
            watch,
            started(1),
            written(1),
            delta(1, "m2.0", 0, ANSWER.substring(0, 5)),
            written(2, said("m2.0", ANSWER)));
    assertEquals(List.of(TEXT_DELTA, TEXT_DELTA, CHECKPOINT_WRITTEN), kinds(events).subList(2, 5));
    assertEquals(ANSWER, textOf(events, "m2.0"));
  }

  @Test
  void aStreamThatDidNotBreakGetsNoTextButTheServers() {
    List<Event> seen = given(attempt, started(1), written(1), written(2, said("m2.1", "hello")));
    assertEquals(List.of(RUN_STARTED, CHECKPOINT_WRITTEN, CHECKPOINT_WRITTEN), kinds(seen));
  }

  @Test
  void aWatcherIsNotToldTheTextOfOldMessages() {
    Position watch = Position.after(0);
    given(watch, started(1), written(1), delta(1, "m2.1", 0, "he"));
    watch.join();
    List<Event> again =
        given(watch, written(2, said("m2.1", "hello")), written(3, said("m3.1", "more")));
    assertEquals(List.of(TEXT_DELTA, CHECKPOINT_WRITTEN, CHECKPOINT_WRITTEN), kinds(again));
    assertEquals("llo", again.get(0).getTextDelta().getText());
  }

  @Test
  void theOrderOfTextPartsTellsWhichIsWhichWhereThoughtsAreLeftOut() {
    given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hel", 1));
    attempt.join();
    Event rest = given(attempt, written(2, said("m2.1", "hello"))).get(0);
    assertEquals(1, rest.getTextDelta().getPartIndex());
    assertEquals("lo", rest.getTextDelta().getText());
  }

  @Test
  void anAttemptVoidsTheTextBeforeIt() {
    List<Event> seen =
        given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hello"), started(2, 2));
    seen.addAll(given(attempt, written(2), delta(2, "m2.1", 0, "bye")));
    assertEquals("bye", textOf(seen, "m2.1"));
  }

  @Test
  void aDiscardedMessageIsVoidAndStaysSo() {
    given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hel"), discarded(1, "m2.1"));
    attempt.join();
    assertEquals(List.of(), given(attempt, delta(1, "m2.1", 0, "hello")));
    assertEquals(List.of(TEXT_DELTA), kinds(given(attempt, delta(1, "m2.2", 0, "hi"))));
  }

  @Test
  void aMessageThatWasGivenUpWhileNobodyListenedIsSaidToBeVoid() {
    given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hel"));
    attempt.join();
    List<Event> again = given(attempt, delta(1, "m2.2", 0, "hi"));
    assertEquals(List.of(MESSAGE_DISCARDED, TEXT_DELTA), kinds(again));
    assertEquals("m2.1", again.get(0).getMessageDiscarded().getMessageId());
    assertEquals(0, again.get(0).getMessageDiscarded().getCodeValue());
  }

  @Test
  void aMessageThatIsStillWrittenIsNotVoidWhenAnotherOneBegins() {
    given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hel"));
    attempt.join();
    List<Event> again = given(attempt, delta(1, "m2.1", 0, "hell"), delta(1, "m2.2", 0, "hi"));
    assertEquals(List.of(TEXT_DELTA, TEXT_DELTA), kinds(again));
  }

  @Test
  void aMessageOfAnotherNodeVoidsNothing() {
    given(attempt, started(1), written(1), delta(1, "left/m2.1", 0, "hel"));
    attempt.join();
    assertEquals(List.of(TEXT_DELTA), kinds(given(attempt, delta(1, "right/m2.1", 0, "hi"))));
    assertEquals(
        List.of(MESSAGE_DISCARDED, TEXT_DELTA),
        kinds(given(attempt, delta(1, "left/m2.2", 0, "hi"))));
  }

  @Test
  void textThatWasNeverWrittenIsVoidWhenTheAttemptHasEnded() {
    given(attempt, started(1), written(1), delta(1, "m2.1", 0, "hel"));
    attempt.join();
    assertEquals(List.of(MESSAGE_DISCARDED, RUN_COMPLETED), kinds(given(attempt, completed(2))));
  }

  @Test
  void aForkLeavesNoTextOfTheLineThatWasLeft() {
    Position watch = Position.after(0);
    given(watch, started(1), written(1), delta(1, "m2.1", 0, "hel"));
    watch.join();
    List<Event> fork = given(watch, written(2, true, CheckpointSource.CHECKPOINT_SOURCE_FORK));
    assertEquals(List.of(CHECKPOINT_WRITTEN), kinds(fork));
    assertEquals("hi", textOf(given(watch, delta(2, "m2.1", 0, "hi")), "m2.1"));
  }

  @Test
  void whatWasWrittenFromOutsideIsNoTextOfAStream() {
    given(attempt, started(1), written(1, asked("m1.0", "hi")));
    attempt.join();
    List<Event> events =
        given(
            attempt,
            written(2, true, CheckpointSource.CHECKPOINT_SOURCE_UPDATE, said("m2.0", "added")));
    assertEquals(List.of(CHECKPOINT_WRITTEN), kinds(events));
  }

  @Test
  void theLastWordOfAThreadAtRestIsGivenOnce() {
    Position watch = Position.after(2);
    assertEquals(List.of(RUN_COMPLETED), kinds(given(watch, completed(2))));
    watch.join();
    assertEquals(List.of(), given(watch, completed(2)));
  }

  @Test
  void aKindThatIsNotKnownIsSkippedAndItsVersionIsNot() {
    List<Event> seen = given(attempt, started(1), written(1), unknown(2, true));
    assertEquals(List.of(RUN_STARTED, CHECKPOINT_WRITTEN), kinds(seen));
    assertEquals(OptionalLong.of(2), attempt.cursor());
  }

  @Test
  void kindsThatAreNotKnownCountInAVersionThatIsReadAgain() {
    Position watch = Position.after(1);
    given(watch, unknown(2, false), toolFinished(2, "call_1"));
    watch.join();
    List<Event> again = given(watch, unknown(2, false), toolFinished(2, "call_1"), written(2));
    assertEquals(List.of(CHECKPOINT_WRITTEN), kinds(again));
  }

  @Test
  void progressIsGivenAndMovesNothing() {
    given(attempt, started(1), written(1));
    assertEquals(List.of(TOOL_CALL_PROGRESS), kinds(given(attempt, progress(2, "call_1"))));
    assertEquals(OptionalLong.of(1), attempt.cursor());
  }

  @Test
  void heartbeatsAreGivenAndMoveNothing() {
    assertEquals(1, given(attempt, heartbeat(3)).size());
    assertEquals(OptionalLong.empty(), attempt.cursor());
  }
}
