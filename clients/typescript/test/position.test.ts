/** What a reader is given of a thread's events, however often its connection breaks. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { isLogged } from "../src/event_kinds.js";
import { CheckpointSource } from "../src/gen/clew/v1/checkpoint_pb.js";
import type { Event } from "../src/gen/clew/v1/event_pb.js";
import { Position } from "../src/position.js";
import {
  asked,
  completed,
  delta,
  discarded,
  event,
  heartbeat,
  kinds,
  progress,
  queued,
  said,
  started,
  thought,
  toolFinished,
  toolStarted,
  written,
} from "./telling.js";

const ANSWER = "héllo, wörld — 你好";

function anAttempt(): Position {
  return new Position(undefined, true);
}

function aWatch(after: bigint): Position {
  return new Position(after, false);
}

function given(position: Position, ...events: Event[]): Event[] {
  return events.flatMap((each) => position.accept(each));
}

function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** What a reader has who only joins deltas, and drops what is void. */
function textOf(events: Event[], messageId: string): string {
  let text = "";
  for (const { payload } of events) {
    if (payload.case === "textDelta" && payload.value.messageId === messageId) {
      expect(payload.value.offset, "a piece is doubled or missing").toBe(BigInt(bytes(text)));
      text += payload.value.text;
    }
    if (
      payload.case === "runStarted" ||
      (payload.case === "messageDiscarded" && payload.value.messageId === messageId)
    ) {
      text = "";
    }
  }
  return text;
}

test("the cursor moves only with the last event of a version", () => {
  const position = anAttempt();
  const events = [queued(), started(4), written(4), toolFinished(5, "call_1"), written(5)];
  const cursors = events.map((each) => {
    given(position, each);
    return position.cursor;
  });
  expect(cursors).toEqual([undefined, 3n, 4n, 4n, 5n]);
});

test("a version that was read in part is given once", () => {
  const position = anAttempt();
  const first = given(position, started(1), written(1), toolFinished(2, "call_1"));
  position.join();
  expect(position.cursor).toBe(1n);
  const again = given(position, toolFinished(2, "call_1"), written(2, { last: false }), toolStarted(2, "call_2", true));
  expect(kinds(first)).toEqual(["runStarted", "checkpointWritten", "toolCallFinished"]);
  expect(kinds(again)).toEqual(["checkpointWritten", "toolCallStarted"]);
});

test("how far a tool's call is comes through, and moves nothing", () => {
  const position = anAttempt();
  const told = progress(7, "call_1");
  expect(isLogged(told)).toBe(false);
  expect(given(position, told)).toEqual([told]);
  expect(position.cursor).toBeUndefined();
  given(position, started(1), written(1));
  expect(given(position, told, told)).toEqual([told, told]);
  expect(position.cursor).toBe(1n);
});

test("text so far is given less what was shown", () => {
  const position = anAttempt();
  const first = given(position, started(1), written(1), delta(1, "m2.1", 0, "hé"));
  position.join();
  const again = given(position, delta(1, "m2.1", 0, "héllo"), delta(1, "m2.1", 6, "!"));
  expect(textOf([...first, ...again], "m2.1")).toBe("héllo!");
});

test("text that is all known is not given again", () => {
  const position = anAttempt();
  given(position, started(1), written(1), delta(1, "m2.1", 0, "hello"));
  position.join();
  expect(given(position, delta(1, "m2.1", 0, "hell"))).toEqual([]);
});

test("a byte order mark at the beginning of a piece is text like any other", () => {
  const position = anAttempt();
  const first = given(position, started(1), written(1), delta(1, "m2.1", 0, "a"));
  position.join();
  const again = given(position, delta(1, "m2.1", 0, "a\uFEFFb"));
  expect(textOf([...first, ...again], "m2.1")).toBe("a\uFEFFb");
});

test("reasoning and text of a message are counted apart", () => {
  const position = anAttempt();
  const seen = given(position, started(1), written(1), thought(1, "m2.1", "hm"), delta(1, "m2.1", 0, "no", 1));
  expect(kinds(seen).slice(-2)).toEqual(["reasoningDelta", "textDelta"]);
});

test("the rest of a message that was written meanwhile comes before its checkpoint", () => {
  const position = anAttempt();
  const first = given(position, started(1), written(1), delta(1, "m2.1", 0, "hello"));
  position.join();
  const again = given(position, written(2, { messages: [said("m2.1", "hello, world")] }), completed(3));
  expect(textOf([...first, ...again], "m2.1")).toBe("hello, world");
  expect(kinds(again)).toEqual(["textDelta", "checkpointWritten", "runCompleted"]);
  expect(again[0]?.version).toBe(1n);
});

test("a whole message that was missed comes as text too", () => {
  const position = anAttempt();
  given(position, started(1), written(1));
  position.join();
  expect(textOf(given(position, written(2, { messages: [said("m2.1", "hello")] })), "m2.1")).toBe("hello");
});

test("a message of which only a beginning came is completed before its checkpoint", () => {
  const position = new Position(undefined, false);
  const events = given(
    position,
    started(1),
    written(1),
    delta(1, "m2.0", 0, ANSWER.slice(0, 5)),
    written(2, { messages: [said("m2.0", ANSWER)] }),
  );
  expect(kinds(events).slice(-3)).toEqual(["textDelta", "textDelta", "checkpointWritten"]);
  expect(textOf(events, "m2.0")).toBe(ANSWER);
});

test("a stream that did not break gets no text but the server's", () => {
  const seen = given(anAttempt(), started(1), written(1), written(2, { messages: [said("m2.1", "hello")] }));
  expect(kinds(seen)).toEqual(["runStarted", "checkpointWritten", "checkpointWritten"]);
});

test("a watcher is not told the text of old messages", () => {
  const position = aWatch(0n);
  given(position, started(1), written(1), delta(1, "m2.1", 0, "he"));
  position.join();
  const again = given(
    position,
    written(2, { messages: [said("m2.1", "hello")] }),
    written(3, { messages: [said("m3.1", "more")] }),
  );
  expect(again.flatMap(({ payload }) => (payload.case === "textDelta" ? [payload.value.text] : []))).toEqual(["llo"]);
});

test("the order of text parts tells which is which where thoughts are left out", () => {
  const position = anAttempt();
  given(position, started(1), written(1), delta(1, "m2.1", 0, "hel", 1));
  position.join();
  const [rest] = given(position, written(2, { messages: [said("m2.1", "hello")] }));
  expect(rest?.payload).toMatchObject({ case: "textDelta", value: { partIndex: 1, text: "lo" } });
});

test("an attempt voids the text before it", () => {
  const position = anAttempt();
  const seen = given(position, started(1), written(1), delta(1, "m2.1", 0, "hello"), started(2, 2));
  seen.push(...given(position, written(2), delta(2, "m2.1", 0, "bye")));
  expect(textOf(seen, "m2.1")).toBe("bye");
});

test("a discarded message is void and stays so", () => {
  const position = anAttempt();
  given(position, started(1), written(1), delta(1, "m2.1", 0, "hel"), discarded(1, "m2.1"));
  position.join();
  expect(given(position, delta(1, "m2.1", 0, "hello"))).toEqual([]);
  expect(kinds(given(position, delta(1, "m2.2", 0, "hi")))).toEqual(["textDelta"]);
});

test("a message that was given up while nobody listened is said to be void", () => {
  const position = anAttempt();
  given(position, started(1), written(1), delta(1, "m2.1", 0, "hel"));
  position.join();
  const again = given(position, delta(1, "m2.2", 0, "hi"));
  expect(kinds(again)).toEqual(["messageDiscarded", "textDelta"]);
  expect(again[0]?.payload).toMatchObject({ value: { messageId: "m2.1", code: 0 } });
});

test("a new message says nothing of those of other nodes", () => {
  const position = anAttempt();
  given(position, started(1), written(1), delta(1, "left/m1", 0, "hel"), delta(1, "right/m1", 0, "he"));
  position.join();
  const again = given(position, delta(1, "right/m2", 0, "hi"));
  expect(
    again.flatMap(({ payload }) => (payload.case === "messageDiscarded" ? [payload.value.messageId] : [])),
  ).toEqual(["right/m1"]);
});

test("a message that is still written is not void when another one begins", () => {
  const position = anAttempt();
  given(position, started(1), written(1), delta(1, "m2.1", 0, "hel"));
  position.join();
  const again = given(position, delta(1, "m2.1", 0, "hell"), delta(1, "m2.2", 0, "hi"));
  expect(kinds(again)).toEqual(["textDelta", "textDelta"]);
});

test("text that was never written is void when the attempt has ended", () => {
  const position = anAttempt();
  given(position, started(1), written(1), delta(1, "m2.1", 0, "hel"));
  position.join();
  expect(kinds(given(position, completed(2)))).toEqual(["messageDiscarded", "runCompleted"]);
});

test("a fork leaves no text of the line that was left", () => {
  const position = aWatch(0n);
  given(position, started(1), written(1), delta(1, "m2.1", 0, "hel"));
  position.join();
  const [fork] = given(position, written(2, { source: CheckpointSource.FORK, parent: 0 }));
  expect(fork?.payload).toMatchObject({ case: "checkpointWritten", value: { parentVersion: 0n } });
  expect(textOf(given(position, delta(2, "m2.1", 0, "hi")), "m2.1")).toBe("hi");
});

test("the last word of a thread at rest is given once", () => {
  const position = aWatch(2n);
  expect(kinds(given(position, completed(2)))).toEqual(["runCompleted"]);
  position.join();
  expect(given(position, completed(2))).toEqual([]);
});

test("a kind that is not known is skipped and its version is not", () => {
  const position = anAttempt();
  const seen = given(position, started(1), written(1), event(2, { case: undefined }, true));
  expect(kinds(seen)).toEqual(["runStarted", "checkpointWritten"]);
  expect(position.cursor).toBe(2n);
});

test("kinds that are not known count in a version that is read again", () => {
  const position = new Position(1n, true);
  given(position, event(2), toolFinished(2, "call_1"));
  position.join();
  expect(kinds(given(position, event(2), toolFinished(2, "call_1"), written(2)))).toEqual(["checkpointWritten"]);
});

test("what was written from outside while the connection was broken is no text of a stream", () => {
  const position = anAttempt();
  given(position, started(1), written(1, { messages: [asked("m1.0", "hi")], source: CheckpointSource.INPUT }));
  position.join();
  const added = written(2, { messages: [said("m2.0", "added")], source: CheckpointSource.UPDATE });
  expect(kinds(given(position, added))).toEqual(["checkpointWritten"]);
});

function aRun(): Event[] {
  const letters = [...ANSWER];
  const deltas: Event[] = [];
  let offset = 0;
  for (let at = 0; at < letters.length; at += 3) {
    const piece = letters.slice(at, at + 3).join("");
    deltas.push(delta(4, "m5.1", offset, piece));
    offset += bytes(piece);
  }
  return [
    started(1),
    written(1, { messages: [asked("m1.1", "hi")], source: CheckpointSource.INPUT }),
    delta(1, "m2.1", 0, "let me "),
    delta(1, "m2.1", 7, "look"),
    heartbeat(1),
    written(2, { messages: [said("m2.1", "let me look")], last: false }),
    toolStarted(2, "call_1"),
    toolStarted(2, "call_2", true),
    toolFinished(3, "call_2"),
    written(3),
    toolFinished(4, "call_1"),
    written(4),
    ...deltas,
    written(5, { messages: [said("m5.1", ANSWER)], last: false }),
    completed(5, ANSWER, "m5.1"),
  ];
}

/** What a server first gives a watcher after a cursor, when the run has come as far as `at`. */
function replayed(run: Event[], cursor: bigint, at: number): Event[] {
  const past = run.slice(0, at);
  const head = past.reduce((most, each) => (each.lastOfVersion && each.version > most ? each.version : most), 0n);
  const soFar = new Map<string, string>();
  for (const { payload } of past) {
    if (payload.case === "textDelta") {
      soFar.set(payload.value.messageId, (soFar.get(payload.value.messageId) ?? "") + payload.value.text);
    } else if (payload.case === "checkpointWritten") {
      soFar.clear();
    }
  }
  const replay = past.filter((each) => isLogged(each) && cursor < each.version && each.version <= head);
  return [...replay, ...[...soFar].map(([id, text]) => delta(Number(head), id, 0, text))];
}

/** The next point where no version is told in part: a write is told at once. */
function whole(run: Event[], from: number): number {
  let at = from;
  for (;;) {
    const [before, next] = [run[at - 1], run[at]];
    if (!before || !next || !isLogged(next) || !isLogged(before) || next.version !== before.version) {
      return at;
    }
    at += 1;
  }
}

test("wherever connections break, every event comes once and the text is whole", () => {
  const breaks = fc.array(fc.tuple(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 0, max: 25 })), { maxLength: 4 });
  fc.assert(
    fc.property(breaks, (cuts) => {
      const run = aRun();
      const position = anAttempt();
      const seen: Event[] = [];
      let before: Event[] = [];
      let at = 0;
      for (const [read, meanwhile] of cuts) {
        const stream = [...before, ...run.slice(at)].slice(0, read);
        seen.push(...given(position, ...stream));
        at = whole(run, Math.min(run.length, at + Math.max(0, stream.length - before.length) + meanwhile));
        before = replayed(run, position.cursor ?? 0n, at);
        position.join();
      }
      seen.push(...given(position, ...before, ...run.slice(at)));
      const logged = seen.filter(isLogged);
      const expected = run.filter(isLogged);
      expect(kinds(logged)).toEqual(kinds(expected));
      expect(logged.map((each) => each.version)).toEqual(expected.map((each) => each.version));
      expect(textOf(seen, "m2.1")).toBe("let me look");
      expect(textOf(seen, "m5.1")).toBe(ANSWER);
      expect(position.cursor).toBe(5n);
    }),
    {
      examples: [
        [[[1, 0]]],
        [
          [
            [3, 0],
            [1, 8],
            [2, 3],
          ],
        ],
      ],
      numRuns: 300,
    },
  );
});
