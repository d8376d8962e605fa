/** What came of a call, as it travels. */

import { create, toBinary } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ClewError, UnavailableError } from "./errors.js";
import { type CallError, CallErrorSchema, type CallResult, CallResultSchema } from "./gen/clew/v1/worker_pb.js";
import { encodeJson } from "./json_text.js";
import { refusedArgument } from "./refused_argument.js";
import { ToolContent, ToolError } from "./tool_calls.js";

/** What came of a call. */
export type Outcome = { case: "result"; value: CallResult } | { case: "error"; value: CallError };

// Beyond that the transport itself would refuse to send it, again and again; below it the server says what is too large.
const MOST_SENT = (8 << 20) - (64 << 10);
const MOST_TOLD = 4_096;
const LONGEST_WAIT_MS = 3_600_000;

/** What a tool gave: text and parts as content, everything else as JSON. Throws ClewError for what no result is. */
export function resultOf(value: unknown): Outcome {
  const result = create(CallResultSchema, shapeOf(value));
  const bytes = sizeOf(result);
  if (bytes > MOST_SENT) {
    throw refusedArgument("result", `it has ${bytes} bytes, and 3.5 MiB are kept at most`);
  }
  return { case: "result", value: result };
}

/** Parts are a user's own: what cannot be written is told now, and not when it is brought. */
function sizeOf(result: CallResult): number {
  try {
    return toBinary(CallResultSchema, result).length;
  } catch (error) {
    throw refusedArgument("result", wordsOf(error));
  }
}

function shapeOf(value: unknown): { content: ToolContent["parts"] } | { structuredJson: string } {
  if (value instanceof ToolContent) {
    if (!Array.isArray(value.parts)) {
      throw refusedArgument("result", `a list of parts is due in a ToolContent, not ${typeof value.parts}`);
    }
    return { content: value.parts };
  }
  if (typeof value !== "string") {
    // A function without a `return` gives nothing, which JSON calls null.
    return { structuredJson: encodeJson(value === undefined ? null : value, "result") };
  }
  if (!value.isWellFormed()) {
    throw refusedArgument("result", "text with half of a surrogate pair");
  }
  return { content: [{ kind: { case: "text", value: { text: value } } }] };
}

/** What is told of a tool that threw. */
export function failureOf(error: unknown): Outcome {
  if (error instanceof ToolError) {
    return failed(error.message || "the tool failed", error.retryable, error.retryAfterMs);
  }
  if (error instanceof ClewError) {
    return failed(error.message, error instanceof UnavailableError);
  }
  return failed(wordsOf(error), true);
}

/** The error in place of a result that the server does not keep. */
export function unkept(tool: string, why: string): Outcome {
  return failed(`the result of ${tool} cannot be kept: ${why}`, false);
}

function failed(message: string, retryable: boolean, retryAfterMs?: number): Outcome {
  const error = create(CallErrorSchema, { message: cut(message), retryable });
  if (retryAfterMs !== undefined && retryAfterMs > 0) {
    // An error that is refused would be lost, and with it the call: a longer wait than any is the longest.
    error.retryAfter = durationFromMs(Math.min(Math.round(retryAfterMs), LONGEST_WAIT_MS));
  }
  return { case: "error", value: error };
}

/** Whatever was thrown: an Error's name and message. */
function wordsOf(error: unknown): string {
  try {
    return String(error) || "the tool failed";
  } catch {
    return "the tool threw what has no words";
  }
}

/** What a model is told, within what a server takes. */
function cut(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const whole = bytes.length <= MOST_TOLD;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  // With `stream` a character of which only the beginning is there is left out.
  return whole ? decoder.decode(bytes) : `${decoder.decode(bytes.subarray(0, MOST_TOLD - 3), { stream: true })}…`;
}
