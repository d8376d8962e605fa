/** The programs of the README run. */

import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import { transformWithEsbuild } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SupportServer } from "./server.js";

const PACKAGE = new URL("../", import.meta.url);
// Below the package, so that it imports itself by its name, as users do.
const FOLDER = new URL("build/readme/", PACKAGE);
const programs = [...readFileSync(new URL("README.md", PACKAGE), "utf8").matchAll(/```ts\n(.*?)```/gs)]
  .map((found) => found[1] ?? "")
  .filter((program) => program.includes("client.close()"));
const server = new SupportServer();

beforeAll(() => server.start());
afterAll(() => {
  server.stop();
  rmSync(FOLDER, { recursive: true, force: true });
});

const expected = [/waiting for: \[ 'refund' \]\nDone: 49.90/, /kettle/, /1\.08/];

test("there are as many programs as answers", () => {
  expect(programs).toHaveLength(expected.length);
});

test.each(expected.map((answer, at) => ({ at, answer })))("program $at says $answer", async ({ at, answer }) => {
  const { code } = await transformWithEsbuild(
    programs[at]?.replace("localhost:50051", server.target) ?? "",
    "program.ts",
  );
  mkdirSync(FOLDER, { recursive: true });
  const file = new URL(`program-${at}.mjs`, FOLDER);
  writeFileSync(file, code);
  const env = { ...process.env, CLEW_TARGET: server.target };
  const { stdout } = await promisify(execFile)(process.execPath, [file.pathname], { env });
  expect(stdout).toMatch(answer);
});
