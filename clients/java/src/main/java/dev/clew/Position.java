package dev.clew;

import dev.clew.v1.Event;
import java.util.List;
import java.util.OptionalLong;

/**
 * Where a reader is in a thread's log: takes the events of one connection after the other, and
 * gives each one once.
 *
 * <p>The cursor moves only where a version is whole. Events of one write come in a fixed order, so
 * that a part of them, read before a connection broke, is known by its number.
 */
final class Position {
  /** How far a connection, or the reader, has come: the so-many-th event of a version. */
  private record Step(long version, int number) {
    boolean isAfter(Step other) {
      return version > other.version || (version == other.version && number > other.number);
    }
  }

  private static final long UNKNOWN = Long.MIN_VALUE;
  private static final Step NOWHERE = new Step(0, 0);

  private final ShownText text;
  private long cursor;
  private String runId = "";
  private String threadUid = "";
  private Step furthest = NOWHERE;
  private Step here = NOWHERE;
  private long endedAt = UNKNOWN;

  private Position(long cursor, boolean complete) {
    this.cursor = cursor;
    this.text = new ShownText(complete);
  }

  /** Of a request that is to start an attempt: its first logged event tells where it is. */
  static Position ofAttempt() {
    return new Position(UNKNOWN, true);
  }

  /** Of a watch after a version. */
  static Position after(long version) {
    return new Position(version, false);
  }

  /**
   * The last version that the reader has whole; empty before the first logged event of an attempt.
   */
  OptionalLong cursor() {
    return started() ? OptionalLong.of(cursor) : OptionalLong.empty();
  }

  /** Whether the log may be read on from here. */
  boolean started() {
    return cursor != UNKNOWN;
  }

  /** The run of the first logged event of an attempt; empty before it, and for a watch. */
  String runId() {
    return runId;
  }

  /** The incarnation of the thread; empty before the first logged event. */
  String threadUid() {
    return threadUid;
  }

  /** Another connection carries the stream from here on. */
  void join() {
    here = NOWHERE;
    text.join();
  }

  /**
   * What the reader has not had of it; kinds that this version does not know only move the cursor.
   */
  List<Event> accept(Event event) {
    if (event.getPayloadCase() == Event.PayloadCase.PAYLOAD_NOT_SET) {
      if (started() && event.getVersion() > cursor) {
        advance(event);
      }
      return List.of();
    }
    return !Payloads.isLogged(event) || isNew(event) ? text.show(event) : List.of();
  }

  private boolean isNew(Event event) {
    boolean terminal = Payloads.isTerminal(event);
    if (!started()) {
      cursor = event.getVersion() - 1;
      runId = event.getRunId();
    }
    threadUid = event.getThreadUid();
    // A thread at rest says its last word again to whoever asks; a reader that has it needs it no
    // more.
    boolean again = terminal && endedAt != event.getVersion();
    boolean isNew = event.getVersion() > cursor ? advance(event) : again;
    if (terminal) {
      endedAt = event.getVersion();
    }
    return isNew;
  }

  private boolean advance(Event event) {
    long version = event.getVersion();
    here = new Step(version, here.version() == version ? here.number() + 1 : 1);
    boolean isNew = here.isAfter(furthest);
    if (isNew) {
      furthest = here;
    }
    if (event.getLastOfVersion()) {
      cursor = version;
    }
    return isNew;
  }
}
