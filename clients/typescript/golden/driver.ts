/** The driver of the golden cases: tests/golden/README.md says what its lines mean. */

import { type DescMessage, type MessageShape, toBinary } from "@bufbuild/protobuf";
import { parse, stringify } from "lossless-json";
import { ApprovalSchema } from "../src/gen/clew/v1/approval_pb.js";
import { CheckpointSchema } from "../src/gen/clew/v1/checkpoint_pb.js";
import { EventSchema } from "../src/gen/clew/v1/event_pb.js";
import { MessageSchema } from "../src/gen/clew/v1/message_pb.js";
import { ThreadSchema } from "../src/gen/clew/v1/thread_pb.js";
import {
  ClewError,
  Client,
  type ClientOptions,
  type Decision,
  type EventStream,
  type JsonObject,
  type JsonValue,
  type Limits,
  type OnBusy,
  type Reply,
  RunFailedError,
  type RunOptions,
  type Thread,
} from "../src/node.js";
import { work } from "./worker.js";

/** A line of the driver's input; each op has those that it takes. */
interface Told {
  id: number;
  op: string;
  of: number;
  app: string;
  thread: string;
  text: string;
  state?: string;
  user_id?: string;
  values?: string;
  decisions: Record<string, unknown>[];
  ids?: string[];
  arguments?: string;
  reason?: string;
  value: string;
  on_busy?: OnBusy;
  busy_timeout?: number;
  expected_version?: number;
  request_id?: string;
  timeout?: number;
  limits?: { steps?: number; tokens?: number; seconds?: number; tool_seconds?: number };
  after_version?: number;
  run_id?: string;
  follow?: boolean;
  search?: string;
  order?: "oldest_first" | "newest_first";
  limit?: number;
  checkpoint: string;
  to: string;
  remove_keys?: string[];
  target: string;
  times?: Record<string, number>;
}

/** A stream that is being told of. */
class Telling {
  readonly abort = new AbortController();
  ended: Promise<void> = Promise.resolve();
  #held: Promise<void> = Promise.resolve();
  #readOn: () => void = () => undefined;

  hold(): void {
    this.#held = new Promise((resolve) => {
      this.#readOn = resolve;
    });
  }

  readOn(): void {
    this.#readOn();
  }

  /** When the next event may be asked for. */
  get free(): Promise<void> {
    return this.#held;
  }
}

const [, , where = "", ...others] = process.argv;
if (where === "worker") {
  const [target = "", ledger = ""] = others;
  await work(target, ledger);
  process.exit(0);
}

let client = new Client(where);
const tellings = new Map<number, Telling>();

function say(told: Told, what: Record<string, unknown>): void {
  process.stdout.write(`${stringify({ id: told.id, ...what })}\n`);
}

async function act(told: Told, telling: Telling): Promise<void> {
  try {
    say(told, await outcome(told, telling));
  } catch (error) {
    if (error instanceof ClewError) {
      say(told, { error: errorOf(error) });
    } else if (telling.abort.signal.aborted) {
      say(told, { left: true });
    } else {
      throw error;
    }
  }
}

async function outcome(told: Told, telling: Telling): Promise<Record<string, unknown>> {
  switch (told.op) {
    case "leave": {
      const other = tellings.get(told.of);
      other?.abort.abort();
      await other?.ended;
      return { result: null };
    }
    case "hold":
      tellings.get(told.of)?.hold();
      return { result: null };
    case "read_on":
      tellings.get(told.of)?.readOn();
      return { result: null };
    case "connect":
      client = new Client({ target: told.target, ...timesOf(told.times ?? {}) });
      return { result: null };
  }
  const thread = client.app(told.app).thread(told.thread);
  const stream = attemptOf(told, thread, optionsOf(told, telling));
  if (stream !== undefined) {
    await tell(told, telling, stream);
    return { reply: replyOf(await stream.reply()) };
  }
  if (told.op === "watch") {
    const { after_version: afterVersion, run_id: runId, follow } = told;
    const { timeoutMs, signal } = optionsOf(told, telling);
    await tell(told, telling, thread.watch({ afterVersion, runId, follow, timeoutMs, signal }));
    return { result: null };
  }
  return { result: await resultOf(told, thread) };
}

async function tell(told: Told, telling: Telling, stream: EventStream): Promise<void> {
  for await (const event of stream) {
    say(told, { event: base64(EventSchema, event) });
    await telling.free;
  }
}

function attemptOf(told: Told, thread: Thread, options: RunOptions): EventStream | undefined {
  switch (told.op) {
    case "send":
      return thread.send(told.text, { ...options, state: objectOf(told.state), userId: told.user_id });
    case "run":
      return thread.run(objectOf(told.values) ?? {}, options);
    case "decide":
      return thread.decide(told.decisions.map(decisionOf), options);
    case "approve":
      return thread.approve({ ...options, ids: told.ids, arguments: objectOf(told.arguments) });
    case "reject":
      return thread.reject(told.reason, { ...options, ids: told.ids });
    case "resume":
      return thread.resume(jsonOf(told.value), options);
    case "retry":
      return thread.retry(options);
    default:
      return undefined;
  }
}

async function resultOf(told: Told, thread: Thread): Promise<unknown> {
  switch (told.op) {
    case "messages": {
      const { search, order, limit } = told;
      return (await thread.messages({ search, order, limit })).map((each) => base64(MessageSchema, each));
    }
    case "state":
      return stringify(await thread.state(told.checkpoint));
    case "history":
      return (await thread.history(told.limit ?? Number.POSITIVE_INFINITY)).map((each) =>
        base64(CheckpointSchema, each),
      );
    case "rewind":
      return base64(CheckpointSchema, await thread.rewind(told.checkpoint));
    case "copy":
      return (await thread.copy(told.to)).id;
    case "cancel":
      return base64(CheckpointSchema, await thread.cancel({ runId: told.run_id }));
    case "info":
      return base64(ThreadSchema, await thread.info());
    case "approvals":
      return (await thread.approvals()).map((each) => base64(ApprovalSchema, each));
    case "update_state":
      return base64(
        CheckpointSchema,
        await thread.updateState(objectOf(told.values), { removeKeys: told.remove_keys }),
      );
    case "delete":
      return thread.delete();
    default:
      throw new Error(`no op: ${told.op}`);
  }
}

function optionsOf(told: Told, telling: Telling): RunOptions {
  const { on_busy: onBusy, expected_version: expectedVersion, request_id: requestId, limits } = told;
  const given = {
    onBusy,
    expectedVersion,
    requestId,
    busyTimeoutMs: ms(told.busy_timeout),
    timeoutMs: ms(told.timeout),
  };
  return { ...given, limits: limits === undefined ? undefined : limitsOf(limits), signal: telling.abort.signal };
}

function limitsOf(given: Told["limits"] & {}): Limits {
  const { steps, tokens } = given;
  return { steps, tokens, durationMs: ms(given.seconds), toolTimeoutMs: ms(given.tool_seconds) };
}

function timesOf(times: Record<string, number>): ClientOptions {
  return {
    timeoutMs: ms(times["timeout"]),
    connectTimeoutMs: ms(times["connect_timeout"]),
    rejoinTimeoutMs: ms(times["rejoin_timeout"]),
    leaveTimeoutMs: ms(times["leave_timeout"]),
  };
}

function decisionOf(told: Record<string, unknown>): Decision {
  const given = Object.entries(told).map(([name, value]) => {
    const isJson = name === "arguments" || name === "value" || name === "result";
    return [name === "run_again" ? "runAgain" : name, isJson ? jsonOf(String(value)) : value];
  });
  return Object.fromEntries(given) as Decision;
}

function replyOf(reply: Reply): Record<string, unknown> {
  const { status, text, steps, version, message, usage } = reply;
  return {
    status,
    text,
    thread_id: reply.threadId,
    thread_uid: reply.threadUid,
    run_id: reply.runId,
    version,
    message_id: reply.messageId,
    message: message === undefined ? null : base64(MessageSchema, message),
    approvals: reply.approvals.map((each) => base64(ApprovalSchema, each)),
    usage: {
      input_tokens: usage?.inputTokens ?? 0n,
      output_tokens: usage?.outputTokens ?? 0n,
      cached_input_tokens: usage?.cachedInputTokens ?? 0n,
      cache_write_tokens: usage?.cacheWriteTokens ?? 0n,
      reasoning_tokens: usage?.reasoningTokens ?? 0n,
    },
    steps,
  };
}

function errorOf(error: ClewError): Record<string, unknown> {
  const { code, message, metadata, retryAfterMs } = error;
  return {
    code,
    message,
    metadata,
    retry_after: retryAfterMs === undefined ? undefined : retryAfterMs / 1_000,
    ...(error instanceof RunFailedError ? { failure_code: error.failureCode, retryable: error.retryable } : {}),
  };
}

function base64<Schema extends DescMessage>(schema: Schema, message: MessageShape<Schema>): string {
  return Buffer.from(toBinary(schema, message)).toString("base64");
}

function ms(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** A user's JSON as the values that the client gives: a whole number that a number cannot hold is a bigint. */
function jsonOf(text: string): JsonValue {
  return parse(text, null, (number) => {
    const isWhole = /^-?\d+$/.test(number);
    return isWhole && !Number.isSafeInteger(Number(number)) ? BigInt(number) : Number(number);
  }) as JsonValue;
}

function objectOf(text: string | undefined): JsonObject | undefined {
  return text === undefined ? undefined : (jsonOf(text) as JsonObject);
}

/** The lines of the input. Node's readline takes other characters than a line feed for the end of one, too. */
async function* linesOf(input: AsyncIterable<string>): AsyncGenerator<string> {
  let begun: string[] = [];
  for await (const chunk of input) {
    const [first = "", ...others] = chunk.split("\n");
    begun.push(first);
    for (const other of others) {
      yield begun.join("");
      begun = [other];
    }
  }
}

for await (const line of linesOf(process.stdin.setEncoding("utf8"))) {
  const told = JSON.parse(line) as Told;
  const telling = new Telling();
  tellings.set(told.id, telling);
  telling.ended = act(told, telling);
}
// Its input has ended: what is under way is given up.
process.exit(0);
