/** Streams over real connections: joined where they break, left on purpose, and what they come to. */

import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FailureCode } from "../src/gen/clew/v1/error_pb.js";
import type { Event } from "../src/gen/clew/v1/event_pb.js";
import {
  ClewError,
  Client,
  DeadlineExceededError,
  ResumeInvalidError,
  RunCancelledError,
  RunFailedError,
  type Thread,
  ThreadBusyError,
  UnavailableError,
} from "../src/node.js";
import { broken, hangs, refusal, ScriptedServer } from "./scripted.js";
import { BEGINNING, completed, END, failed, kinds, queued, started, suspended, written } from "./telling.js";

let server: ScriptedServer;
let client: Client;
let thread: Thread;

beforeEach(async () => {
  server = new ScriptedServer();
  await server.start();
  client = new Client(server.target);
  thread = client.app("support").thread("t-1");
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

async function read(stream: AsyncIterable<Event>): Promise<string[]> {
  const events: Event[] = [];
  for await (const event of stream) {
    events.push(event);
  }
  return kinds(events);
}

test("a stream that breaks is joined after its cursor, and its reply is that of the run", async () => {
  server.streams("send", [BEGINNING, broken()]);
  server.streams("watch", [END]);
  const stream = thread.send("hi", { requestId: "r-1" });
  expect(await read(stream)).toEqual([
    "runStarted",
    "checkpointWritten",
    "textDelta",
    "textDelta",
    "checkpointWritten",
    "runCompleted",
  ]);
  expect(await stream.reply()).toMatchObject({ status: "completed", text: "done", version: 2n, runId: "u.r1" });
  expect(server.asked).toMatchObject([
    { rpc: "send", requestId: "r-1", app: "support" },
    { rpc: "watch", threadId: "t-1", threadUid: "u", afterVersion: 1n, runId: "u.r1" },
  ]);
});

test("a connection that is dropped is joined as well", async () => {
  server.streams("send", [
    BEGINNING,
    async () => {
      server.drop();
    },
    hangs,
  ]);
  server.streams("watch", [END]);
  expect((await thread.send("hi").reply()).text).toBe("done");
  expect(server.names).toEqual(["send", "watch"]);
});

test("a request that has not started is sent again under its id", async () => {
  server.streams("send", [[queued()], broken()], [[...BEGINNING, ...END]]);
  await thread.send("hi").reply();
  const [first, second] = server.asked;
  expect(server.names).toEqual(["send", "send"]);
  expect(second?.["requestId"]).toBe(first?.["requestId"]);
  expect(String(first?.["requestId"])).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test("what cannot be joined in time is given up with the error of the last break", async () => {
  client = new Client({ target: server.target, rejoinTimeoutMs: 50 });
  server.streams("send", [BEGINNING, broken()]);
  await expect(client.thread("t-1").send("hi").reply()).rejects.toBeInstanceOf(UnavailableError);
});

test("a stream that ends without a last word, and stays so, is cut at its cursor", async () => {
  client = new Client({ target: server.target, rejoinTimeoutMs: 50 });
  server.streams("send", [BEGINNING]);
  const reply = client.thread("t-1").send("hi").reply();
  await expect(reply).rejects.toMatchObject({ code: "stream_cut", metadata: { version: "1" } });
});

test("a refusal is thrown by its class, and is not tried again", async () => {
  server.streams("send", [refusal(Code.Aborted, "THREAD_BUSY", "wait", { thread_id: "t-1" })]);
  const reply = thread.send("hi").reply();
  await expect(reply).rejects.toBeInstanceOf(ThreadBusyError);
  await expect(reply).rejects.toMatchObject({ code: "thread_busy", message: "wait", metadata: { thread_id: "t-1" } });
  expect(server.names).toEqual(["send"]);
});

test("breaking out of the loop cancels the run by its id, and has had that effect", async () => {
  server.streams("send", [BEGINNING, hangs]);
  server.answers("cancelRun", () => ({}));
  for await (const event of thread.send("hi")) {
    if (event.payload.case === "checkpointWritten") {
      break;
    }
  }
  expect(server.asked).toMatchObject([{ rpc: "send" }, { rpc: "cancelRun", threadId: "t-1", runId: "u.r1" }]);
});

test("a signal leaves a stream that waits, by the request's id before the run is known", async () => {
  server.streams("send", [[queued()], hangs]);
  server.answers("cancelRun", () => ({}));
  const abort = new AbortController();
  const stream = thread.send("hi", { requestId: "r-1", signal: abort.signal });
  const reading = (async () => {
    for await (const event of stream) {
      if (event.payload.case === "runQueued") {
        abort.abort(new Error("enough"));
      }
    }
  })();
  await expect(reading).rejects.toThrow("enough");
  expect(server.asked).toMatchObject([{ rpc: "send" }, { rpc: "cancelRun", startedByRequestId: "r-1", runId: "" }]);
});

test("return() of an iterator that waits for an event leaves the stream, and ends it", async () => {
  server.streams("send", [BEGINNING, hangs]);
  server.answers("cancelRun", () => ({}));
  const stream = thread.send("hi");
  const events = stream[Symbol.asyncIterator]();
  for (let read = 0; read < BEGINNING.length; read += 1) {
    await events.next();
  }
  const waiting = events.next();
  await events.return?.();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(server.names).toEqual(["send", "cancelRun"]);
  await expect(stream.reply()).rejects.toMatchObject({ code: "stream_left" });
});

test("leaving a request that has not come yet waits for its stream to say something", async () => {
  let come = (): void => undefined;
  const arrival = new Promise<void>((resolve) => {
    come = resolve;
  });
  server.streams("send", [() => arrival, [queued()], hangs]);
  server.answers(
    "cancelRun",
    () => {
      come();
      throw refusal(Code.NotFound, "RUN_NOT_FOUND");
    },
    () => ({}),
  );
  const abort = new AbortController();
  const reading = thread.send("hi", { signal: abort.signal }).reply();
  while (server.names.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  abort.abort();
  await expect(reading).rejects.toThrow();
  expect(server.names).toEqual(["send", "cancelRun", "cancelRun"]);
});

test("leaving a watch, and a stream that is over, cancels nothing", async () => {
  server.streams("watch", [BEGINNING, hangs]);
  for await (const _ of thread.watch()) {
    break;
  }
  server.streams("send", [[...BEGINNING, ...END]]);
  const stream = thread.send("hi");
  await stream.reply();
  await stream.leave();
  expect(server.names).toEqual(["watch", "send"]);
});

test("closing the client leaves what is open", async () => {
  server.streams("send", [BEGINNING, hangs]);
  server.answers("cancelRun", () => ({}));
  const stream = thread.send("hi");
  await stream[Symbol.asyncIterator]().next();
  await client.close();
  expect(server.names).toEqual(["send", "cancelRun"]);
});

test("a timeout ends the call and not the run", async () => {
  server.streams("send", [BEGINNING, hangs]);
  await expect(thread.send("hi", { timeoutMs: 200 }).reply()).rejects.toBeInstanceOf(DeadlineExceededError);
  expect(server.names).toEqual(["send"]);
});

test("nothing is sent before the first event is asked for", async () => {
  const stream = thread.send("hi");
  await stream.leave();
  expect(server.names).toEqual([]);
});

test("a stream is iterated over once", async () => {
  server.streams("send", [[...BEGINNING, ...END]]);
  const stream = thread.send("hi");
  await read(stream);
  expect(() => stream[Symbol.asyncIterator]()).toThrow("once");
});

test("a run that failed throws why, and one that was cancelled says so", async () => {
  server.streams("send", [[started(1), written(1), failed(2, FailureCode.MODEL_UNAVAILABLE)]]);
  const failure = await thread
    .send("hi")
    .reply()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RunFailedError);
  expect(failure).toMatchObject({ failureCode: "model_unavailable", retryable: true, runId: "u.r1" });
  server.streams("send", [[started(1), written(1), failed(2, FailureCode.CANCELLED)]]);
  const cancelled = await thread
    .send("hi")
    .reply()
    .catch((error: unknown) => error);
  expect(cancelled).toBeInstanceOf(RunCancelledError);
  expect(cancelled).toMatchObject({ code: "cancelled", metadata: { run_id: "u.r1" } });
});

test("approvals that a last event had no room for are listed", async () => {
  const waiting = ["a", "b", "c"].map((id) => ({ id, runId: "u.r1" }));
  server.streams("send", [[started(1), written(1), suspended(2, ["a"], 3)]]);
  server.answers("listApprovals", () => ({ approvals: waiting, version: 2n }));
  const reply = await thread.send("hi").reply();
  expect(reply.status).toBe("suspended");
  expect(reply.approvals.map((each) => each.id)).toEqual(["a", "b", "c"]);
});

test("approving without ids decides all that waits, at the version that it was read at", async () => {
  const page = (id: string, nextPageToken: string) => () => ({ approvals: [{ id }], version: 7n, nextPageToken });
  server.answers("listApprovals", page("a", "next"), page("b", ""));
  server.streams("decide", [[started(8), written(8), completed(9)]]);
  await thread.approve().reply();
  expect(server.asked[2]).toMatchObject({
    rpc: "decide",
    expectedVersion: 7n,
    decisions: [
      { approvalId: "a", decision: { case: "approve" } },
      { approvalId: "b", decision: { case: "approve" } },
    ],
  });
});

test("approving where nothing waits is refused, and so is a list of no ids", async () => {
  server.answers("listApprovals", () => ({ version: 7n }));
  server.answers("getThread", () => ({ thread: { threadId: "t-1", version: 7n } }));
  await expect(thread.approve().reply()).rejects.toBeInstanceOf(ResumeInvalidError);
  expect(() => thread.approve({ ids: [] })).toThrow("ids");
});

test("a call that answers once is tried again where nothing was received, and fails by its class", async () => {
  server.answers("getState", () => {
    throw broken();
  });
  await expect(thread.state()).rejects.toBeInstanceOf(UnavailableError);
  expect(server.names).toEqual(Array(5).fill("getState"));
});

test("state comes as it is", async () => {
  const state = '{"big":9007199254740993,"small":[1,0.1],"__proto__":{"x":1}}';
  server.answers("getState", () => ({ stateJson: new TextEncoder().encode(state) }));
  const read = await thread.state();
  expect(read["big"]).toBe(9007199254740993n);
  expect(read["small"]).toEqual([1, 0.1]);
  expect(Object.keys(read)).toEqual(["big", "small", "__proto__"]);
});

test("a signal gives up a call that answers once, with its reason", async () => {
  await expect(thread.state("", { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
});

test("a token goes with every call, and a function is asked for each", async () => {
  let asked = 0;
  client = new Client(server.target, { token: async () => `secret-${++asked}` });
  server.answers("getState", () => ({}));
  await client.thread("t-1").state();
  await client.thread("t-1").state();
  expect(server.headers.map((each) => each.get("authorization"))).toEqual(["Bearer secret-1", "Bearer secret-2"]);
});

test("a token's function that fails is no connection that broke", async () => {
  const token = () => Promise.reject(new Error("the vault is shut"));
  client = new Client(server.target, { token });
  const failure = await client
    .thread("t-1")
    .send("hi")
    .reply()
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ClewError);
  expect(failure).toMatchObject({ code: "unauthenticated" });
  expect((failure as ClewError).cause).toBeInstanceOf(ConnectError);
  expect(server.names).toEqual([]);
});

test("a server that is not there is unavailable", async () => {
  const { target } = server;
  await server.stop();
  client = new Client(target, { connectTimeoutMs: 0 });
  await expect(client.thread("t-1").send("hi").reply()).rejects.toMatchObject({ code: "unavailable" });
  await server.start();
});
