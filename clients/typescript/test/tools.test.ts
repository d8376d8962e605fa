/** Tools of a worker against a real server: what the model reads of them, and that nothing is lost or done twice. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import {
  Client,
  InvalidError,
  LeaseLostError,
  type ToolCall,
  ToolContent,
  ToolError,
  type ToolFunction,
  type ToolOptions,
  type Worker,
} from "../src/node.js";
import { ShopServer } from "./server.js";

const LEASE_MS = 500;
const server = new ShopServer();
let client: Client;
let threads = 0;

beforeAll(() => server.start());
afterAll(() => server.stop());

beforeEach(() => {
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  client = new Client(server.target, { rejoinTimeoutMs: 100 });
});

afterEach(async () => {
  await client.close();
  vi.restoreAllMocks();
});

function thread(app = "shop") {
  threads += 1;
  return client.app(app).thread(`tools-${threads}`);
}

/** A worker with one tool, ready. */
async function working<Arguments>(tool: ToolFunction<Arguments>, options: Partial<ToolOptions> = {}): Promise<Worker> {
  const worker = client.worker().tool({ name: "charge", ...options }, tool);
  worker.run().catch(() => undefined);
  await worker.ready();
  return worker;
}

/** A tool that waits until a test lets it end. */
class Charges {
  readonly calls: ToolCall[] = [];
  open = (): void => undefined;
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });

  readonly charge = async ({ order, amount }: { order: string; amount: number }, call: ToolCall): Promise<string> => {
    this.calls.push(call);
    const cancelled = new Promise((_, reject) =>
      call.signal.addEventListener("abort", () => reject(call.signal.reason)),
    );
    await Promise.race([this.#opened, cancelled]);
    return `${amount} for ${order}`;
  };

  async begun(times = 1): Promise<void> {
    await vi.waitFor(() => expect(this.calls).toHaveLength(times), { timeout: 10_000, interval: 5 });
  }
}

interface Order {
  order: string;
  amount: number;
}

test.each<[string, ToolFunction<Order>, string]>([
  ["text", ({ order, amount }) => `${amount} for ${order}`, "It is 40 for A-1."],
  ["JSON", (args) => ({ ...args, n: 2n ** 53n + 1n }), 'It is {"order": "A-1", "amount": 40, "n": 9007199254740993}.'],
  ["parts", async () => new ToolContent([{ kind: { case: "text", value: { text: "A-1: 40" } } }]), "It is A-1: 40."],
  ["nothing", () => undefined, "It is null."],
  ["a failure", () => Promise.reject(new RangeError("too far")), "It is RangeError: too far."],
  ["an error", () => Promise.reject(new ToolError("no money")), "It is no money."],
])("a tool that gives %s is what the model reads", async (_, tool, said) => {
  await working(tool);
  expect((await thread().send("go").reply()).text.replaceAll(/\n */g, "")).toBe(said);
});

test("the schema is heeded", async () => {
  await working(() => "", { parameters: { type: "object", properties: { order: { type: "integer" } } } });
  expect((await thread().send("go").reply()).text).toContain("invalid arguments for charge");
});

test("an error that is retryable is tried again", async () => {
  const tries: number[] = [];
  const tool: ToolFunction = (_, { delivery }) => {
    tries.push(delivery);
    if (tries.length < 3) {
      throw new ToolError("busy", { retryable: true, retryAfterMs: 1 });
    }
    return "charged";
  };
  await working(tool, { maxTries: 5 });
  expect((await thread().send("go").reply()).text).toBe("It is charged.");
  expect(tries).toEqual([1, 2, 3]);
});

test("progress is told to who watches", async () => {
  let seen = (): void => undefined;
  const told = new Promise<void>((resolve) => {
    seen = resolve;
  });
  await working(async (_, call) => {
    await call.report({ half: true });
    await told;
    return "charged";
  });
  const heard: string[] = [];
  for await (const { payload } of thread().send("go")) {
    if (payload.case === "toolCallProgress") {
      heard.push(`${payload.value.name} ${payload.value.progressJson.replaceAll(" ", "")}`);
      seen();
    }
  }
  expect(new Set(heard)).toEqual(new Set(['charge {"half":true}']));
});

test("a long call keeps its lease", async () => {
  const charges = new Charges();
  await working(charges.charge);
  await working(charges.charge);
  const reply = thread().send("go").reply();
  await charges.begun();
  await new Promise((resolve) => setTimeout(resolve, 3 * LEASE_MS));
  charges.open();
  expect((await reply).text).toBe("It is 40 for A-1.");
  expect(charges.calls).toHaveLength(1);
});

test("a run that is cancelled cancels its tool", async () => {
  const charges = new Charges();
  await working(charges.charge);
  const shop = thread();
  const reply = shop.send("go").reply();
  await charges.begun();
  await Promise.all([shop.cancel(), expect(reply).rejects.toMatchObject({ code: "cancelled" })]);
  await vi.waitFor(() => expect(charges.calls[0]?.signal.aborted).toBe(true), { timeout: 5_000 });
});

test("a call of a worker that is gone is made by another, under the same key", async () => {
  const [lost, charges] = [new Charges(), new Charges()];
  const gone = new Client(server.target);
  const worker = gone.worker().tool({ name: "charge" }, lost.charge);
  worker.run().catch(() => undefined);
  await worker.ready();
  const reply = thread().send("go").reply();
  await lost.begun();
  await gone.close();
  charges.open();
  await working(charges.charge);
  expect((await reply).text).toBe("It is 40 for A-1.");
  expect(charges.calls[0]?.idempotencyKey).toBe(lost.calls[0]?.idempotencyKey);
});

test("a draining worker ends when its calls are done", async () => {
  const charges = new Charges();
  const worker = client.worker().tool({ name: "charge" }, charges.charge);
  const run = worker.run();
  await worker.ready();
  const reply = thread().send("go").reply();
  await charges.begun();
  const drain = worker.drain();
  charges.open();
  await Promise.all([drain, run]);
  expect((await reply).text).toBe("It is 40 for A-1.");
});

test("a tool that the server refuses ends a worker, and so does another of its name", async () => {
  await expect(
    client
      .worker()
      .tool({ name: "no name" }, () => "")
      .run(),
  ).rejects.toBeInstanceOf(InvalidError);
  const one = client.worker({ id: "same" }).tool({ name: "charge" }, () => "");
  const run = one.run();
  await one.ready();
  const other = client.worker({ id: "same" }).tool({ name: "charge" }, () => "");
  other.run().catch(() => undefined);
  await expect(run).rejects.toBeInstanceOf(LeaseLostError);
});

test.each(["shop", "careful"])("a result of %s outlives the server that asked for it", async (app) => {
  const charges = new Charges();
  await working(charges.charge);
  const shop = thread(app);
  const reply = shop.send("go").reply();
  const cut = expect(reply).rejects.toMatchObject({ code: "unavailable" });
  await charges.begun();
  await server.kill();
  await cut;
  charges.open();
  await server.start();
  let last = await shop.retry().reply();
  if (app === "careful") {
    // People were asked before the worker was back, whose answer is theirs.
    for await (const { payload } of last.status === "suspended"
      ? shop.watch({ afterVersion: last.version, follow: true })
      : []) {
      if (payload.case === "runCompleted" && payload.value.reply !== undefined) {
        expect(payload.value.reply.text).toBe("It is 40 for A-1.");
        last = { ...last, text: payload.value.reply.text };
        break;
      }
    }
  }
  expect(last.text).toBe("It is 40 for A-1.");
  expect(charges.calls).toHaveLength(1);
});
