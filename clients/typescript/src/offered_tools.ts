/** Tools as a worker offers them: functions, and what is said of them. */

import { create } from "@bufbuild/protobuf";
import { type WorkerTool, WorkerToolSchema } from "./gen/clew/v1/worker_pb.js";
import { encodeObject, type JsonObject } from "./json_text.js";
import { whole } from "./options.js";
import { refusedArgument } from "./refused_argument.js";
import { checkMs, durationOf } from "./times.js";
import type { ToolCall } from "./tool_calls.js";

/** What is said of a tool. Where the app says something else of it, that holds. */
export interface ToolOptions {
  /** What agents call it: 1 to 64 letters, digits, `_` and `-`. */
  name: string;
  /** What the model is told of it. */
  description?: string | undefined;
  /** The JSON schema of its arguments; an object with anything in it unless given. */
  parameters?: object | undefined;
  /** A call runs at most once: it is never started again by itself when its result is not known, nor tried again. */
  once?: boolean | undefined;
  /** Milliseconds that a call may take, over all its tries; no limit unless given. */
  timeoutMs?: number | undefined;
  /** How many calls of it run at a time; as many as the worker takes at all unless given. */
  maxCalls?: number | undefined;
  /** How often a call is tried that fails with an error that is retryable; once unless given. */
  maxTries?: number | undefined;
}

/**
 * A tool's function. It takes the arguments, which the schema allows, and the call. It returns (or promises) text, any JSON value or a ToolContent,
 * and throws ToolError.
 */
export type ToolFunction<Arguments = JsonObject> = (args: Arguments, call: ToolCall) => unknown;

/** A function, and what is said of it. */
export interface OfferedTool {
  readonly offer: WorkerTool;
  readonly run: ToolFunction;
}

const MOST_COUNTED = 2_147_483_647;

/** A function as a tool. Throws ArgumentInvalidError, or StateInvalidError for a schema that is no JSON. */
export function offeredTool(options: ToolOptions, run: ToolFunction): OfferedTool {
  const { name, description = "", parameters, once = false, timeoutMs, maxCalls, maxTries } = options;
  if (typeof run !== "function") {
    throw refusedArgument("tool", `a function is due here, not ${typeof run}`);
  }
  const offer = create(WorkerToolSchema, {
    name: text(name, "name"),
    description: text(description, "description"),
    parametersSchemaJson: parameters === undefined ? "" : encodeObject(parameters, "parameters"),
    once,
    maxCalls: count(maxCalls, "max_calls"),
    maxTries: count(maxTries, "max_tries"),
  });
  if (timeoutMs !== undefined) {
    checkMs(timeoutMs, "timeout", Number.MAX_SAFE_INTEGER);
    if (timeoutMs === 0) {
      throw refusedArgument("timeout", "milliseconds over 0 are due here; leave it out for none");
    }
    offer.timeout = durationOf(Math.max(1, Math.round(timeoutMs)), "timeout");
  }
  return { offer, run };
}

/** A count as it travels, 0 for one that is not given. Throws ArgumentInvalidError, naming the field, for what is none. */
export function count(given: number | undefined, field: string): number {
  const counted = Number(whole(given ?? 0, field));
  if (counted > MOST_COUNTED) {
    throw refusedArgument(field, `${MOST_COUNTED} at most is due here, not ${counted}`);
  }
  return counted;
}

function text(given: unknown, field: string): string {
  if (typeof given !== "string" || !given.isWellFormed()) {
    throw refusedArgument(field, `text is due here, not ${typeof given}`);
  }
  return given;
}
