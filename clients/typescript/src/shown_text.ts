/** The streamed text that a reader was shown and no checkpoint has confirmed: nothing of it is shown twice, and none is left out. */

import { create } from "@bufbuild/protobuf";
import { isTerminal } from "./event_kinds.js";
import { CheckpointSource } from "./gen/clew/v1/checkpoint_pb.js";
import {
  type CheckpointWritten,
  type Event,
  MessageDiscardedSchema,
  type ReasoningDelta,
  type TextDelta,
  TextDeltaSchema,
} from "./gen/clew/v1/event_pb.js";
import { type Message, Role } from "./gen/clew/v1/message_pb.js";

type DeltaKind = "textDelta" | "reasoningDelta";
/** How many bytes were shown of each part, by its index. */
type Parts = Map<number, bigint>;

const encoder = new TextEncoder();
// A mark at the beginning of a piece is text like any other.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** What the reader has of each part, in bytes. */
export class ShownText {
  readonly #complete: boolean;
  readonly #shown: Record<DeltaKind, Map<string, Parts>> = { textDelta: new Map(), reasoningDelta: new Map() };
  readonly #settled = new Set<string>();
  #doubtful = new Set<string>();
  #joined = false;

  /** With `complete` the reader is owed the text of every message, also of one that it saw nothing of. */
  constructor(complete: boolean) {
    this.#complete = complete;
  }

  /** Another connection carries the stream from here on. What was shown is in doubt until it comes again, or is written. */
  join(): void {
    this.#joined = true;
    this.#doubtful = new Set([...this.#shown.textDelta.keys(), ...this.#shown.reasoningDelta.keys()]);
  }

  /** The event as the reader needs it: less what it has, and after what it missed. */
  show(event: Event): Event[] {
    switch (event.payload.case) {
      case "textDelta":
      case "reasoningDelta":
        return this.#grow(event, event.payload.case, event.payload.value);
      case "checkpointWritten":
        return [...this.#settle(event, event.payload.value), event];
      case "runStarted":
        this.#forgetAll();
        return [event];
      case "messageDiscarded":
        this.#forget(event.payload.value.messageId);
        return [event];
      default:
        return isTerminal(event) ? [...this.#voidDoubtful(event), event] : [event];
    }
  }

  #grow(event: Event, kind: DeltaKind, delta: TextDelta | ReasoningDelta): Event[] {
    if (this.#settled.has(delta.messageId)) {
      return [];
    }
    this.#doubtful.delete(delta.messageId);
    const parts = this.#shown[kind].get(delta.messageId);
    // Agents inside nodes talk side by side: a new message says nothing of those of other nodes.
    const given = parts === undefined ? this.#voidDoubtful(event, pathOf(delta.messageId)) : [];
    const shown = parts?.get(delta.partIndex) ?? 0n;
    const text = encoder.encode(delta.text);
    const known = shown > delta.offset ? Number(shown - delta.offset) : 0;
    if (known >= text.length && text.length > 0) {
      return given;
    }
    const grown = parts ?? new Map<number, bigint>();
    grown.set(delta.partIndex, delta.offset + BigInt(text.length));
    this.#shown[kind].set(delta.messageId, grown);
    if (known === 0) {
      return [...given, event];
    }
    const rest = { ...delta, offset: shown, text: decoder.decode(text.subarray(known)) };
    return [...given, { ...event, payload: { case: kind, value: rest } as Event["payload"] }];
  }

  #settle(event: Event, written: CheckpointWritten): Event[] {
    if (written.checkpoint?.source === CheckpointSource.FORK) {
      this.#forgetAll();
      return [];
    }
    if (written.checkpoint?.source === CheckpointSource.UPDATE) {
      // Nobody says what was added or edited from outside: it is no text of a stream.
      return [];
    }
    const inside = written.nodeMessages.flatMap((each) => (each.message === undefined ? [] : [each.message]));
    const missed: Event[] = [];
    for (const message of [...written.messages, ...inside]) {
      // A watch through another server than the run's may have had no more than a beginning.
      if ((this.#joined || this.#shown.textDelta.has(message.id)) && message.role === Role.ASSISTANT) {
        missed.push(...this.#restOf(event, message));
      }
      this.#forget(message.id);
    }
    return missed;
  }

  #restOf(event: Event, message: Message): Event[] {
    const begun = this.#shown.textDelta.get(message.id);
    if (this.#settled.has(message.id) || (begun === undefined && !this.#complete)) {
      return [];
    }
    const parts = [...(begun?.keys() ?? [])].sort((one, other) => one - other);
    const texts = message.content.flatMap((part, index) =>
      part.kind.case === "text" ? [{ index, bytes: encoder.encode(part.kind.value.text) }] : [],
    );
    // A message that is read back may lack parts (thoughts), so the order of text parts tells which is which, and not their index.
    return texts.flatMap(({ index, bytes }, order) => {
      const partIndex = parts[order] ?? index;
      const offset = begun?.get(partIndex) ?? 0n;
      const text = decoder.decode(bytes.subarray(Number(offset)));
      if (text === "") {
        return [];
      }
      const delta = create(TextDeltaSchema, { messageId: message.id, partIndex, offset, text });
      const before = { ...event, version: event.version - 1n, lastOfVersion: false };
      return this.#grow({ ...before, payload: { case: "textDelta", value: delta } }, "textDelta", delta);
    });
  }

  /** Gives up what is in doubt: all, or what is of one node (empty: of the thread's own agent). */
  #voidDoubtful(event: Event, path?: string): Event[] {
    const given = [...this.#doubtful].filter((id) => path === undefined || pathOf(id) === path).sort();
    return given.map((messageId) => {
      this.#forget(messageId);
      const discarded = create(MessageDiscardedSchema, { messageId });
      return { ...event, lastOfVersion: false, payload: { case: "messageDiscarded", value: discarded } };
    });
  }

  #forget(messageId: string): void {
    this.#settled.add(messageId);
    this.#doubtful.delete(messageId);
    this.#shown.textDelta.delete(messageId);
    this.#shown.reasoningDelta.delete(messageId);
  }

  #forgetAll(): void {
    this.#settled.clear();
    this.#doubtful.clear();
    this.#shown.textDelta.clear();
    this.#shown.reasoningDelta.clear();
  }
}

/** The path of the node that a message is of, or empty. */
function pathOf(messageId: string): string {
  return messageId.slice(0, Math.max(0, messageId.lastIndexOf("/")));
}
