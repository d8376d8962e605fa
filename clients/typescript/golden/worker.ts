/** The worker that fault tests kill: tests/golden/README.md says what it writes. */

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { Client, runUntilStopped, type ToolCall } from "../src/node.js";

/** Runs `fetch` and `charge` until the process is asked to stop. */
export async function work(target: string, ledger: string): Promise<void> {
  const mostMs = Number(process.env["CLEW_FAULTS_WORK_S"] ?? "0.01") * 1_000;
  await using client = new Client(target);
  const worker = client.worker();

  async function enter(_: unknown, call: ToolCall): Promise<string> {
    const { tool, runId: run, toolCallId, idempotencyKey: key } = call;
    const entry = { phase: "started", tool, run, call: toolCallId, key, pid: process.pid, token: "" };
    append(ledger, entry);
    await setTimeout(Math.random() * mostMs);
    const token = randomBytes(8).toString("hex");
    append(ledger, { ...entry, phase: "done", token });
    return token;
  }

  worker.tool({ name: "fetch", parameters: { type: "object" } }, enter);
  worker.tool({ name: "charge", parameters: { type: "object" }, once: true }, enter);
  await runUntilStopped(worker);
}

/** A line, on the disk before the tool goes on. */
function append(ledger: string, entry: object): void {
  const file = openSync(ledger, "a");
  writeSync(file, `${JSON.stringify(entry)}\n`);
  fsyncSync(file);
  closeSync(file);
}
