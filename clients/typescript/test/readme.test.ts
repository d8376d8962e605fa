/** The programs of the README run. */

import { execFile, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { transformWithEsbuild } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Client } from "../src/node.js";
import { ShopServer, SupportServer } from "./server.js";

const PACKAGE = new URL("../", import.meta.url);
// Below the package, so that it imports itself by its name, as users do.
const FOLDER = new URL("build/readme/", PACKAGE);
const examples = [...readFileSync(new URL("README.md", PACKAGE), "utf8").matchAll(/```ts\n(.*?)```/gs)]
  .map((found) => found[1] ?? "")
  .filter((program) => program.includes("client.close()"));
const workers = examples.filter((program) => program.includes("runUntilStopped"));
const programs = examples.filter((program) => !workers.includes(program));
const server = new SupportServer();
const shop = new ShopServer();

beforeAll(() => Promise.all([server.start(), shop.start()]));
afterAll(async () => {
  await Promise.all([server.stop(), shop.stop()]);
  rmSync(FOLDER, { recursive: true, force: true });
});

const expected = [/waiting for: \[ 'refund' \]\nDone: 49.90/, /kettle/, /1\.08/];

test("there are as many programs as answers", () => {
  expect(programs).toHaveLength(expected.length);
});

test.each(expected.map((answer, at) => ({ at, answer })))("program $at says $answer", async ({ at, answer }) => {
  const file = await written(programs[at]?.replace("localhost:50051", server.target) ?? "", `program-${at}`);
  const env = { ...process.env, CLEW_TARGET: server.target };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  expect(stdout).toMatch(answer);
});

test("the worker charges until it is asked to stop, and ends well", async () => {
  expect(workers).toHaveLength(1);
  const file = await written(workers[0] ?? "", "worker");
  const worker = spawn(process.execPath, [file], {
    env: { ...process.env, CLEW_TARGET: shop.target },
    stdio: "inherit",
  });
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  await using client = new Client(shop.target);
  expect((await client.app("shop").thread("readme").send("go").reply()).text).toContain("charged 40 EUR for A-1");
  worker.kill("SIGTERM");
  expect(await ended).toBe(0);
});

/** The file of a program. */
async function written(program: string, name: string): Promise<string> {
  const { code } = await transformWithEsbuild(program, `${name}.ts`);
  mkdirSync(FOLDER, { recursive: true });
  const file = new URL(`${name}.mjs`, FOLDER);
  writeFileSync(file, code);
  return file.pathname;
}
