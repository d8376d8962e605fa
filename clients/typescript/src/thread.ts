/** The handle of a thread. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CallOptions, Connection } from "./connection.js";
import type { Approval } from "./gen/clew/v1/approval_pb.js";
import type { Checkpoint } from "./gen/clew/v1/checkpoint_pb.js";
import type { Message } from "./gen/clew/v1/message_pb.js";
import type { Thread as ThreadInfo } from "./gen/clew/v1/thread_pb.js";
import { MessageOrder, type UpdateStateRequestSchema } from "./gen/clew/v1/thread_service_pb.js";
import { decodeJson, encodeObject, type JsonObject } from "./json_text.js";
import { type BusyOptions, busy, named, type WriteOptions } from "./options.js";
import { waitingApprovals } from "./pending.js";
import { refusedArgument } from "./refused_argument.js";
import { present, Runs } from "./runs.js";

const BUSY_MS = 60_000;
const ORDERS = { oldest_first: MessageOrder.OLDEST_FIRST, newest_first: MessageOrder.NEWEST_FIRST } as const;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Which messages to read. */
export interface MessagesOptions extends CallOptions {
  /** Only messages that have all of its words, whatever their case and accents. */
  search?: string | undefined;
  /** From the beginning of the conversation, unless given, or from its end. */
  order?: "oldest_first" | "newest_first" | undefined;
  /** At most that many; all unless given. */
  limit?: number | undefined;
  /** Whether to give what models thought as well. */
  reasoning?: boolean | undefined;
}

/** How state is written from outside a run. */
export interface UpdateStateOptions extends BusyOptions, CallOptions {
  /** Keys to remove. */
  removeKeys?: readonly string[] | undefined;
  /** The state is the values and nothing else. */
  replace?: boolean | undefined;
  /** The values are what this node of the thread's workflow returned; `retry` goes on with what follows it. */
  asNode?: string | undefined;
  /** Write to a thread that waits for decisions, too; they stay to be made. */
  force?: boolean | undefined;
}

/** How a thread is copied. */
export interface CopyOptions extends WriteOptions, CallOptions {
  /** The last checkpoint to take; the head unless given. */
  checkpointId?: string | undefined;
}

/**
 * A thread by its id. It holds only the id, the app and the actor: make one per request, anywhere; two on one id are the same thread.
 *
 * The thread itself is made by its first send or run.
 */
export class Thread extends Runs {
  /** The conversation, a page after the other. */
  async messages(options: MessagesOptions = {}): Promise<Message[]> {
    const { search = "", order = "oldest_first", limit, reasoning: includeReasoning = false } = options;
    if (!Object.hasOwn(ORDERS, order)) {
      throw refusedArgument("order", `one of ${Object.keys(ORDERS).join(", ")} is due here, not ${order}`);
    }
    const to = this.connect();
    const request = { threadId: this.id, search, order: ORDERS[order], includeReasoning };
    return paged(limit, 500, async (page) => {
      const answer = await to.ask(to.threads.listMessages, { ...request, ...page }, options);
      return { items: answer.messages, next: answer.nextPageToken };
    });
  }

  /** The state at the head, or as of a checkpoint. Neither the conversation nor the engine's own values are in it. */
  async state(checkpointId = "", options: CallOptions = {}): Promise<JsonObject> {
    const to = this.connect();
    const { stateJson } = await to.ask(to.threads.getState, { threadId: this.id, checkpointId }, options);
    return stateJson.length === 0 ? {} : (decodeJson(decoder.decode(stateJson)) as JsonObject);
  }

  /** The newest checkpoints of the present line, newest first: 20 of them, or as many as `limit` says; all with `Infinity`. */
  async history(limit = 20, options: CallOptions = {}): Promise<Checkpoint[]> {
    const to = this.connect();
    return paged(limit === Number.POSITIVE_INFINITY ? undefined : limit, 200, async (page) => {
      const answer = await to.ask(to.checkpoints.listCheckpoints, { threadId: this.id, ...page }, options);
      return { items: answer.checkpoints, next: answer.nextPageToken };
    });
  }

  /** How the thread stands, and whether anyone works on it. */
  async info(options: CallOptions = {}): Promise<ThreadInfo> {
    const to = this.connect();
    return present((await to.ask(to.threads.getThread, { threadId: this.id }, options)).thread);
  }

  /** What the thread waits for. */
  approvals(options: CallOptions = {}): Promise<Approval[]> {
    return waitingApprovals(this.connect(), this.id, options);
  }

  /** Merges values into the state, each top-level value whole, and removes keys. Makes the thread where there is none. */
  async updateState(values: JsonObject = {}, options: UpdateStateOptions = {}): Promise<Checkpoint> {
    const { removeKeys = [], replace = false, asNode = "", force = false } = options;
    if (replace && removeKeys.length > 0) {
      throw refusedArgument("remove_keys", "a state that is replaced keeps no key that could be removed");
    }
    const stateJson = encoder.encode(encodeObject(values, "state_json"));
    const to = this.connect();
    const request = {
      ...this.#write(options),
      app: this.app,
      asNode,
      force,
      change: changeOf(stateJson, replace, removeKeys),
    };
    return present((await to.ask(to.threads.updateState, request, options, busyTime(to, options))).checkpoint);
  }

  /** Makes an older checkpoint the head again, and gives the checkpoint that says so. Nothing is erased. */
  async rewind(checkpointId: string, options: BusyOptions & CallOptions = {}): Promise<Checkpoint> {
    const to = this.connect();
    const request = { ...this.#write(options), checkpointId };
    return present((await to.ask(to.checkpoints.rewind, request, options, busyTime(to, options))).checkpoint);
  }

  /** Copies the thread to a new one that owns all it has, and gives the handle on that. */
  async copy(targetId: string, options: CopyOptions = {}): Promise<Thread> {
    const target = new Thread(this.connect, targetId, this.app, this.actor);
    const to = this.connect();
    const { checkpointId = "" } = options;
    const request = { ...named(options), threadId: this.id, targetThreadId: targetId, checkpointId };
    await to.ask(to.threads.copyThread, request, options);
    return target;
  }

  /** Deletes the thread for good; true if it existed. */
  async delete(options: WriteOptions & CallOptions = {}): Promise<boolean> {
    const to = this.connect();
    return (await to.ask(to.threads.deleteThread, { ...named(options), threadId: this.id }, options)).existed;
  }

  #write(options: BusyOptions) {
    return { ...named(options), ...busy(options), threadId: this.id, actor: this.actor };
  }
}

function changeOf(
  stateJson: Uint8Array,
  replace: boolean,
  removeKeys: readonly string[],
): MessageInitShape<typeof UpdateStateRequestSchema>["change"] & {} {
  return replace
    ? { case: "replace", value: { stateJson } }
    : { case: "merge", value: { stateJson, removeKeys: [...removeKeys] } };
}

/** What a call may take that first waits for its turn. */
function busyTime(to: Connection, options: BusyOptions): number {
  return to.settings.timeoutMs + (options.busyTimeoutMs ?? BUSY_MS);
}

interface Page<T> {
  items: T[];
  /** The token of the page after it; empty at the end. */
  next: string;
}

async function paged<T>(
  limit: number | undefined,
  most: number,
  read: (page: { pageSize: number; pageToken: string }) => Promise<Page<T>>,
): Promise<T[]> {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0)) {
    throw refusedArgument("limit", `a whole number from 1 on is due here, not ${limit}`);
  }
  const found: T[] = [];
  let pageToken = "";
  do {
    const pageSize = limit === undefined ? most : Math.min(most, limit - found.length);
    const { items, next } = await read({ pageSize, pageToken });
    found.push(...items);
    pageToken = next;
  } while (pageToken !== "" && found.length !== limit);
  return found;
}
