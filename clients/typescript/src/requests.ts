/** Requests that start an attempt, as they travel. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Start } from "./attempts.js";
import type { PartSchema } from "./gen/clew/v1/message_pb.js";
import type { SendRequestSchema } from "./gen/clew/v1/run_service_pb.js";
import { encodeObject, type JsonObject } from "./json_text.js";
import { frameOf, type RunOptions } from "./options.js";
import { refusedArgument } from "./refused_argument.js";

/** A user's text, or the parts of a user's message, as the contract has them: `{ kind: { case: "text", value: { text: "…" } } }`. */
export type Input = string | MessageInitShape<typeof PartSchema>[];

/** What goes along with an input. */
export interface SendOptions extends RunOptions {
  /** Values that replace those of the thread's state, before the run begins. */
  state?: JsonObject | undefined;
  /** Whom a new thread belongs to; also the state's `user_id` for an agent's tools, unless `state` has one. */
  userId?: string | number | undefined;
  /** The metadata of a new thread. */
  metadata?: JsonObject | undefined;
}

const encoder = new TextEncoder();

/** Names what a request is for. */
export interface Address {
  /** Empty for a run without a thread. */
  threadId: string;
  app: string;
  actor: string;
}

/** The request of a message. */
export function sendRequest(to: Address, message: Input, options: SendOptions): Start {
  const { userId } = options;
  const state = { ...(userId === undefined ? {} : { user_id: userId }), ...options.state };
  return startOf(to, inputOf(message), state, options);
}

/** The request of what a workflow starts with. */
export function runRequest(to: Address, values: JsonObject, options: SendOptions): Start {
  const inputJson = encoder.encode(encodeObject(values, "input_json"));
  return startOf(to, { case: "inputJson", value: inputJson }, { ...options.state }, options);
}

function startOf(
  to: Address,
  input: MessageInitShape<typeof SendRequestSchema>["input"] & {},
  state: JsonObject,
  options: SendOptions,
): Start {
  const { userId, metadata } = options;
  const frame = frameOf(options, to.actor);
  const request: MessageInitShape<typeof SendRequestSchema> = { ...frame, threadId: to.threadId, app: to.app, input };
  if (Object.keys(state).length > 0) {
    request.stateJson = encoder.encode(encodeObject(state, "state_json"));
  }
  if (userId !== undefined) {
    request.userId = String(userId);
  }
  if (metadata !== undefined) {
    request.metadataJson = encodeObject(metadata, "metadata_json");
  }
  return { rpc: "send", requestId: frame.requestId, request };
}

function inputOf(message: Input): MessageInitShape<typeof SendRequestSchema>["input"] & {} {
  if (Array.isArray(message)) {
    return { case: "content", value: { parts: message } };
  }
  if (typeof message !== "string") {
    throw refusedArgument("input", `a text or a list of parts is due here, not ${typeof message}`);
  }
  if (!message.isWellFormed()) {
    throw refusedArgument("input", "text with half of a surrogate pair");
  }
  return { case: "text", value: message };
}
