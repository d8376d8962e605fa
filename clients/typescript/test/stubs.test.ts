/** The stubs alone drive a real server: send, decide, retry and watch, without the layer over them. */

import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Event, RunService } from "../src/v1.js";
import { SupportServer } from "./server.js";

const server = new SupportServer();

beforeAll(() => server.start());
afterAll(() => server.stop());

async function read(stream: AsyncIterable<{ events: Event[] }>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const response of stream) {
    events.push(...response.events);
  }
  return events;
}

test("send, decide, watch and retry", async () => {
  const runs = createClient(RunService, createGrpcTransport({ baseUrl: `http://${server.target}` }));
  const threadId = "stubs-1";
  const input = { case: "text", value: "Please refund order A-1001" } as const;

  const asked = (await read(runs.send({ threadId, app: "support", input, requestId: "r-1" }))).at(-1);
  const approvals = asked?.payload.case === "runSuspended" ? asked.payload.value.approvals : [];
  expect(approvals.map((each) => each.tool)).toEqual(["refund"]);

  const approve = { approvalId: approvals[0]?.id ?? "", decision: { case: "approve", value: {} } } as const;
  const decided = (await read(runs.decide({ threadId, decisions: [approve], requestId: "r-2" }))).at(-1);
  expect(decided?.payload.case === "runCompleted" && decided.payload.value.reply?.text).toContain("49.9");

  const watched = await read(runs.watch({ threadId }));
  expect(watched.map((each) => each.payload.case)).toContain("approvalRequested");
  expect(watched.at(-1)?.payload.case).toBe("runCompleted");

  await expect(read(runs.retry({ threadId, requestId: "r-3" }))).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });

  await read(runs.send({ threadId, input, requestId: "r-4" }));
  await runs.cancelRun({ threadId, requestId: "r-5" });
  const retried = (await read(runs.retry({ threadId, requestId: "r-6" }))).at(-1);
  expect(retried?.payload.case).toBe("runSuspended");
});
