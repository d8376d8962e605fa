/** What a tool knows of its call, and what it may give back beside text and JSON. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PartSchema } from "./gen/clew/v1/message_pb.js";

/** The call that a tool is being run for: the second argument of its function. */
export interface ToolCall {
  /** The tool. */
  readonly tool: string;
  /** The thread. */
  readonly threadId: string;
  /** The run. */
  readonly runId: string;
  /** The call's id in the transcript. */
  readonly toolCallId: string;
  /** The same for every try of this call: hand it to whatever has the effect. */
  readonly idempotencyKey: string;
  /** On whose behalf the run was started. */
  readonly actor: string;
  /** Counts from 1 how often the call was given to a worker. */
  readonly delivery: number;
  /** When its time is over; undefined where it has no limit. */
  readonly deadline: Date | undefined;
  /** Aborted when nobody wants the call from this worker any more: what the tool gives after that is dropped. */
  readonly signal: AbortSignal;
  /**
   * Tells those who watch the thread how far the call is: any JSON value up to 64 KiB. What cannot be told just now is dropped. Throws
   * StateInvalidError for what JSON cannot say.
   */
  readonly report: (progress: unknown) => Promise<void>;
}

/** Return it from a tool to give the model parts to read, such as an image. Whatever else a tool returns is text, or JSON. */
export class ToolContent {
  /** Parts as the contract has them: `{ kind: { case: "text", value: { text: "…" } } }`. */
  readonly parts: MessageInitShape<typeof PartSchema>[];

  constructor(parts: MessageInitShape<typeof PartSchema>[]) {
    this.parts = parts;
  }
}

/** What is known of a tool's error beside its message. */
export interface ToolErrorOptions {
  /** Whether another try may help: the call is tried again while the tool has tries left. Not so unless given. */
  retryable?: boolean | undefined;
  /** Milliseconds to wait before the next try, up to an hour; none unless given. */
  retryAfterMs?: number | undefined;
  /** What it comes from, which is not told. */
  cause?: unknown;
}

/** Throw it in a tool to say, for the model to read, what was wrong. Whatever else a tool throws is told by its name and message, and is retryable. */
export class ToolError extends Error {
  /** Whether another try may help. */
  readonly retryable: boolean;
  /** Milliseconds to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: ToolErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ToolError";
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
  }
}
