/** A worker and what it says to a server: what it holds, brings, brings again and drops. */

import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type WorkerCall, WorkerCallSchema } from "../src/gen/clew/v1/worker_pb.js";
import { pauseMs } from "../src/held_calls.js";
import {
  ArgumentInvalidError,
  type ClewError,
  Client,
  InvalidError,
  LeaseLostError,
  PermissionDeniedError,
  StateInvalidError,
  type ToolCall,
  ToolContent,
  ToolError,
  type ToolFunction,
  UnauthenticatedError,
  UnavailableError,
  type Worker,
} from "../src/node.js";
import { broken, hangs, refusal, ScriptedServer, type WorkStep } from "./scripted.js";

const NAME = { threadId: "t-1", idempotencyKey: "key-1" };
const READY: WorkStep = { ready: { lease: { seconds: 30n } } };
const SHORT: WorkStep = { ready: { lease: { nanos: 90_000_000 } } };

let server: ScriptedServer;
let client: Client;
let runs: Promise<unknown>[];

beforeEach(async () => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  server = new ScriptedServer();
  await server.start();
  server.answers("finishCall", () => ({}));
  server.answers("renewCalls", () => ({}));
  server.answers("drainWorker", () => ({ known: true }));
  client = new Client(server.target);
  runs = [];
});

afterEach(async () => {
  await client.close();
  await Promise.allSettled(runs);
  await server.stop();
  vi.restoreAllMocks();
});

function call(more: Partial<Omit<WorkerCall, "$typeName" | "$unknown" | "name">> = {}): WorkStep {
  const wire = { tool: "charge", argumentsJson: '{"order":"A-1"}', runId: "r-1", delivery: 1, ...more };
  return { calls: [create(WorkerCallSchema, { ...wire, name: NAME })] };
}

/** A worker that runs; what it ends with is a test's to look at. */
function running(tool: ToolFunction, options = {}): { worker: Worker; run: Promise<void> } {
  const worker = client.worker({ id: "w-1" }).tool({ name: "charge", ...options }, tool);
  const run = worker.run();
  runs.push(run);
  run.catch(() => undefined);
  return { worker, run };
}

function asked(rpc: string): Record<string, unknown>[] {
  return server.asked.filter((each) => each.rpc === rpc);
}

/** Until a server was asked so often. */
async function arrived(rpc: string, times = 1): Promise<Record<string, unknown>[]> {
  await vi.waitFor(() => expect(asked(rpc).length).toBeGreaterThanOrEqual(times), { timeout: 10_000, interval: 5 });
  return asked(rpc);
}

async function outcome(): Promise<unknown> {
  const [first] = await arrived("finishCall");
  return first?.["outcome"];
}

/** Something that a test lets go on. */
function gate(): { wait: Promise<void>; open: () => void } {
  let open = (): void => undefined;
  const wait = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { wait, open: () => open() };
}

test("a worker says what it is and what it can", async () => {
  server.works([READY, hangs]);
  const tool = { name: "charge", description: "Charges.", parameters: { type: "object" }, once: true };
  const worker = client.worker({ maxCalls: 3, threadId: "t-1" });
  worker.tool({ ...tool, timeoutMs: 1_500, maxCalls: 2, maxTries: 4 }, () => "");
  runs.push(worker.run());
  await worker.ready();
  expect(worker.id).toMatch(/^worker-[0-9a-f]{16}$/);
  expect(asked("work")).toMatchObject([
    {
      workerId: worker.id,
      maxCalls: 3,
      threadId: "t-1",
      held: [],
      tools: [
        {
          name: "charge",
          description: "Charges.",
          parametersSchemaJson: '{"type":"object"}',
          once: true,
          timeout: { seconds: 1n, nanos: 500_000_000 },
          maxCalls: 2,
          maxTries: 4,
        },
      ],
    },
  ]);
});

const text = (value: string) => ({ kind: { case: "text" as const, value: { text: value } } });
const results: [string, () => unknown, object][] = [
  ["text", () => "done", { content: [text("done")] }],
  ["parts", async () => new ToolContent([text("a"), text("b")]), { content: [text("a"), text("b")] }],
  ["an object", () => ({ large: 2n ** 53n + 1n }), { structuredJson: '{"large":9007199254740993}' }],
  ["a number", () => 40, { structuredJson: "40" }],
  ["nothing", () => undefined, { structuredJson: "null" }],
];

test.each(results)("the result of a tool that gives %s", async (_, tool, expected) => {
  server.works([READY, call(), hangs]);
  running(tool);
  expect(await outcome()).toMatchObject({ case: "result", value: expected });
});

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

const failures: [string, () => unknown, object][] = [
  ["refuses", throwing(new ToolError("no money")), { message: "no money", retryable: false }],
  [
    "is busy",
    throwing(new ToolError("busy", { retryable: true, retryAfterMs: 1_500 })),
    { message: "busy", retryable: true, retryAfter: { seconds: 1n, nanos: 500_000_000 } },
  ],
  ["says nothing", throwing(new ToolError("")), { message: "the tool failed" }],
  ["would wait for days", throwing(new ToolError("no", { retryAfterMs: 1e9 })), { retryAfter: { seconds: 3_600n } }],
  ["throws", throwing(new RangeError("too far")), { message: "RangeError: too far", retryable: true }],
  ["throws what is no error", throwing(Object.create(null)), { message: "the tool threw what has no words" }],
  [
    "meets an error of the client",
    throwing(new StateInvalidError("no JSON")),
    { message: "no JSON", retryable: false },
  ],
  ["meets a server that is away", throwing(new UnavailableError("away")), { message: "away", retryable: true }],
  ["gives what is no JSON", () => ({ at: new Map() }), { message: expect.stringMatching(/^result: /) }],
  ["gives half a character", () => "\ud800", { message: expect.stringMatching(/^result: /) }],
  ["gives too much", () => "x".repeat(8 << 20), { message: expect.stringMatching(/^result: .* 3.5 MiB/) }],
  ["gives parts that are none", () => new ToolContent("a" as never), { message: expect.stringMatching(/^result: /) }],
  [
    "gives a part that cannot be written",
    () =>
      new ToolContent([
        { kind: { case: "image", value: { mimeType: "image/png", source: { case: "data", value: 7 as never } } } },
      ]),
    { message: expect.stringMatching(/^result: .*cannot encode/), retryable: false },
  ],
];

test.each(failures)("the error of a tool that %s", async (_, tool, expected) => {
  server.works([READY, call(), hangs]);
  running(tool);
  expect(await outcome()).toMatchObject({ case: "error", value: expected });
});

test("a long error is cut to 4,096 bytes, between characters", async () => {
  server.works([READY, call(), hangs]);
  running(throwing(new ToolError(`a${"é".repeat(3_000)}`)));
  const { value } = (await outcome()) as { value: { message: string } };
  expect(value.message).toMatch(/^aé+…$/u);
  expect(new TextEncoder().encode(value.message)).toHaveLength(4_096);
});

test("a tool knows its call, and tells how far it is", async () => {
  const deadline = timestampFromMs(1_700_000_000_000);
  server.works([READY, call({ toolCallId: "call_1", actor: "ada", delivery: 2, expireTime: deadline }), hangs]);
  server.answers("reportProgress", () => {
    throw refusal(Code.FailedPrecondition, "CALL_NOT_PENDING");
  });
  let known: ToolCall | undefined;
  running(async (args, told) => {
    known = told;
    await told.report({ done: 0.5 });
    return args;
  });
  expect(await outcome()).toMatchObject({ value: { structuredJson: '{"order":"A-1"}' } });
  expect(known).toMatchObject({
    tool: "charge",
    threadId: "t-1",
    runId: "r-1",
    toolCallId: "call_1",
    idempotencyKey: "key-1",
    actor: "ada",
    delivery: 2,
    deadline: new Date(1_700_000_000_000),
  });
  expect(asked("reportProgress")).toMatchObject([{ workerId: "w-1", call: NAME, progressJson: '{"done":0.5}' }]);
});

test("an outcome that cannot be brought is kept, named when the stream is opened again, and brought", async () => {
  const drop = gate();
  server.works([READY, call(), () => drop.wait, broken()], [READY, hangs]);
  server.answers(
    "finishCall",
    () => {
      drop.open();
      throw refusal(Code.FailedPrecondition, "THREAD_INTERRUPTED");
    },
    () => ({}),
  );
  const tool = vi.fn(() => "done");
  running(tool);
  await arrived("work", 2);
  const [first, second] = await arrived("finishCall", 2);
  expect(second).toEqual(first);
  expect(tool).toHaveBeenCalledOnce();
});

test("all that is held is named when the stream is opened again", async () => {
  server.works([READY, call(), broken()], [READY, call(), hangs]);
  const go = gate();
  const tool = vi.fn(() => go.wait);
  running(tool);
  const [first, second] = await arrived("work", 2);
  expect(first).toMatchObject({ held: [] });
  expect(second).toMatchObject({ held: [NAME] });
  go.open();
  await outcome();
  expect(tool).toHaveBeenCalledOnce();
});

test("a call that comes again while its outcome is kept brings it at once, and does not run", async () => {
  const again = gate();
  server.works([READY, call(), () => again.wait, call({ delivery: 2 }), hangs]);
  const failing = () => {
    throw refusal(Code.Unknown, "SOMETHING_NEW");
  };
  server.answers("finishCall", failing, failing, failing, failing, failing, () => ({}));
  const tool = vi.fn(() => "done");
  running(tool);
  await arrived("finishCall", 5);
  const before = performance.now();
  again.open();
  await arrived("finishCall", 6);
  // The fifth pause is 0.8 s at the least.
  expect(performance.now() - before).toBeLessThan(700);
  expect(tool).toHaveBeenCalledOnce();
});

test("a call that is tried again begins when it came before the answer to its outcome", async () => {
  const [brought, again] = [gate(), gate()];
  server.works([READY, call(), () => brought.wait, call({ delivery: 2 }), hangs]);
  server.answers(
    "finishCall",
    async () => {
      brought.open();
      await again.wait;
      return { retried: true };
    },
    () => ({}),
  );
  const deliveries: number[] = [];
  running((_, { delivery }) => {
    deliveries.push(delivery);
    throw new ToolError("busy", { retryable: true });
  });
  await brought.wait;
  await new Promise((resolve) => setTimeout(resolve, 50));
  again.open();
  await arrived("finishCall", 2);
  expect(deliveries).toEqual([1, 2]);
});

test("a result that the server does not keep is told as an error, and an error that it does not take is dropped", async () => {
  server.works([READY, call(), hangs]);
  server.answers(
    "finishCall",
    () => {
      throw refusal(Code.ResourceExhausted, "STATE_TOO_LARGE", "too much");
    },
    () => {
      throw refusal(Code.InvalidArgument, "ARGUMENT_INVALID", "nor that");
    },
  );
  const { worker, run } = running(() => "done");
  const [, second] = await arrived("finishCall", 2);
  const message = "the result of charge cannot be kept: too much";
  expect(second).toMatchObject({ outcome: { case: "error", value: { message, retryable: false } } });
  await worker.drain();
  await run;
  expect(asked("finishCall")).toHaveLength(2);
  expect(console.error).toHaveBeenCalledOnce();
});

test("an outcome that nobody waits for is forgotten", async () => {
  server.works([READY, call(), hangs]);
  server.answers("finishCall", () => {
    throw refusal(Code.FailedPrecondition, "CALL_NOT_PENDING");
  });
  const { worker, run } = running(() => "done");
  await arrived("finishCall");
  await worker.drain();
  await run;
  expect(asked("finishCall")).toHaveLength(1);
});

const revoked = [{ call: NAME, reason: 1 }];

test.each(["the stream", "RenewCalls"])("what %s revokes is cancelled, and nothing of it is brought", async (by) => {
  const begun = gate();
  if (by === "RenewCalls") {
    server.works([SHORT, call(), hangs]);
    server.answers("renewCalls", () => ({ revoked }));
  } else {
    server.works([READY, call(), () => begun.wait, { revoked }, hangs]);
  }
  const { worker, run } = running(async (_, { signal }) => {
    begun.open();
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "too late";
  });
  await begun.wait;
  if (by === "RenewCalls") {
    expect(await arrived("renewCalls")).toMatchObject([{ workerId: "w-1", calls: [NAME] }]);
  }
  await worker.drain();
  await run;
  expect(asked("finishCall")).toEqual([]);
});

test("a call that comes again while a tool does not heed that it was revoked begins when that has ended", async () => {
  const [begun, go] = [gate(), gate()];
  server.works([READY, call(), () => begun.wait, { revoked }, call({ delivery: 2 }), hangs]);
  const deliveries: number[] = [];
  running(async (_, { delivery }) => {
    deliveries.push(delivery);
    begun.open();
    await go.wait;
    return String(delivery);
  });
  await begun.wait;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(deliveries).toEqual([1]);
  go.open();
  expect(await outcome()).toMatchObject({ value: { content: [text("2")] } });
  expect(deliveries).toEqual([1, 2]);
});

test("what is held is renewed each third of a lease, an outcome that is kept too", async () => {
  server.works([SHORT, call(), hangs]);
  server.answers("finishCall", () => {
    throw refusal(Code.FailedPrecondition, "THREAD_INTERRUPTED");
  });
  running(() => "done");
  expect(await arrived("renewCalls", 3)).toMatchObject(Array(3).fill({ calls: [NAME] }));
});

const refusals: [string, Code, typeof ClewError][] = [
  ["LEASE_LOST", Code.Aborted, LeaseLostError],
  ["ARGUMENT_INVALID", Code.InvalidArgument, InvalidError],
  ["PERMISSION_DENIED", Code.PermissionDenied, PermissionDeniedError],
  ["UNAUTHENTICATED", Code.Unauthenticated, UnauthenticatedError],
];

test.each(refusals)("%s ends a worker, and its calls", async (reason, code, kind) => {
  const begun = gate();
  server.works([READY, call(), () => begun.wait, refusal(code, reason)]);
  let signal: AbortSignal | undefined;
  const { run } = running((_, told) => {
    signal = told.signal;
    begun.open();
    return new Promise(() => undefined);
  });
  await expect(run).rejects.toBeInstanceOf(kind);
  expect(signal?.aborted).toBe(true);
});

test("whatever else a stream ends with, it is opened again", async () => {
  const cut = refusal(Code.Unavailable, "STREAM_CUT");
  server.works(
    [READY, cut],
    [READY, refusal(Code.Internal, "INTERNAL")],
    [READY, refusal(Code.NotFound, "NEW")],
    [READY],
  );
  await running(() => "").run;
  expect(asked("work")).toHaveLength(4);
});

test("pauses are doubled up to 5 s, a random half of each off", () => {
  expect([0, 1, 4, 8, 1_000].map((tries) => pauseMs(tries, () => 1))).toEqual([100, 200, 1_600, 5_000, 5_000]);
  expect([0, 1_000].map((tries) => pauseMs(tries, () => 0))).toEqual([50, 2_500]);
});

test("a draining worker takes no more, and ends when its calls are done", async () => {
  const [begun, go, drained] = [gate(), gate(), gate()];
  server.works([READY, call(), () => drained.wait]);
  server.answers("finishCall", () => {
    drained.open();
    return {};
  });
  const { worker, run } = running(async () => {
    begun.open();
    await go.wait;
    return "done";
  });
  await begun.wait;
  const drain = worker.drain();
  expect(await arrived("drainWorker")).toMatchObject([{ workerId: "w-1" }]);
  expect(asked("finishCall")).toEqual([]);
  go.open();
  await Promise.all([drain, run]);
  expect(server.names).toEqual(["work", "drainWorker", "finishCall"]);
});

test("a stream that does not end when all is done is left, also where draining is refused", async () => {
  server.works([READY, hangs]);
  server.answers("drainWorker", () => {
    throw refusal(Code.Internal, "INTERNAL");
  });
  const { worker, run } = running(() => "");
  await worker.ready();
  await Promise.all([worker.drain(), run]);
  expect(server.names).toEqual(["work", "drainWorker"]);
});

test("what is not done in time is cancelled, and left to its lease", async () => {
  const begun = gate();
  server.works([READY, call(), hangs]);
  let signal: AbortSignal | undefined;
  const { worker, run } = running((_, told) => {
    signal = told.signal;
    begun.open();
    return new Promise(() => undefined);
  });
  await begun.wait;
  await worker.drain({ timeoutMs: 20 });
  await run;
  expect(signal?.aborted).toBe(true);
  expect(asked("finishCall")).toEqual([]);
});

test("a worker that was drained before it ran takes nothing", async () => {
  const worker = client.worker().tool({ name: "charge" }, () => "");
  await worker.drain();
  await worker.run();
  expect(server.names).toEqual([]);
});

test("a signal ends a worker with its reason, and closing the client ends it too", async () => {
  server.works([READY, call(), hangs]);
  const signals: AbortSignal[] = [];
  const worker = client.worker().tool({ name: "charge" }, (_, { signal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  const abort = new AbortController();
  const run = worker.run({ signal: abort.signal });
  await vi.waitFor(() => expect(signals).toHaveLength(1));
  await expect(worker.run()).rejects.toThrow("runs already");
  abort.abort(new Error("enough"));
  await expect(run).rejects.toThrow("enough");
  const second = worker.run();
  await vi.waitFor(() => expect(signals).toHaveLength(2));
  await client.close();
  await second;
  expect(signals.map((each) => each.aborted)).toEqual([true, true]);
});

test("what is no tool is refused by its field", () => {
  const refused = (options: object, tool: unknown = () => "", error: unknown = ArgumentInvalidError) => {
    expect(() => client.worker().tool({ name: "charge", ...options }, tool as ToolFunction)).toThrow(error as Error);
  };
  refused({}, 3, "tool: ");
  refused({ name: undefined }, undefined, "name: ");
  refused({ timeoutMs: 0 });
  refused({ timeoutMs: Number.NaN });
  refused({ maxCalls: 1.5 }, undefined, "max_calls: ");
  refused({ maxTries: 2 ** 40 }, undefined, "max_tries: ");
  refused({ parameters: { type: () => 1 } }, undefined, StateInvalidError);
  expect(() => client.worker({ maxCalls: -1 })).toThrow("max_calls: ");
  const worker = client.worker().tool({ name: "charge" }, () => "");
  expect(() => worker.tool({ name: "charge" }, () => "")).toThrow("already has a tool");
});
