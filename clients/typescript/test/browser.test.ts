/** The client of browsers: gRPC-Web over fetch, and nothing of Node in what is shipped. */

import { readdirSync, readFileSync } from "node:fs";
import { Code } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Client, ThreadBusyError, UnavailableError } from "../src/browser.js";
import { broken, refusal, ScriptedServer } from "./scripted.js";
import { BEGINNING, END } from "./telling.js";

const DIST = new URL("../dist/", import.meta.url);

let server: ScriptedServer;
let client: Client;

beforeEach(async () => {
  server = new ScriptedServer();
  await server.start("web");
  client = new Client({ baseUrl: `http://${server.target}`, connectTimeoutMs: 0 });
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

test("streams are joined, and calls are answered, over gRPC-Web", async () => {
  server.streams("send", [BEGINNING, broken()]);
  server.streams("watch", [END]);
  server.answers("getState", () => ({ stateJson: new TextEncoder().encode('{"big":9007199254740993}') }));
  const thread = client.app("support").thread("t-1");
  expect((await thread.send("hi").reply()).text).toBe("done");
  expect(await thread.state()).toEqual({ big: 9007199254740993n });
});

test("refusals have their classes, and a gateway that is not there is unavailable", async () => {
  server.streams("send", [refusal(Code.Aborted, "THREAD_BUSY")]);
  await expect(client.thread("t-1").send("hi").reply()).rejects.toBeInstanceOf(ThreadBusyError);
  const nowhere = new Client({ baseUrl: "http://127.0.0.1:1", connectTimeoutMs: 0 });
  await expect(nowhere.thread("t-1").send("hi").reply()).rejects.toBeInstanceOf(UnavailableError);
});

test.each(["browser.js", "browser.cjs"])("nothing of Node is in %s, or in what it imports", (entry) => {
  expect(reached(entry).filter((each) => each.startsWith("node:") || each === "@connectrpc/connect-node")).toEqual([]);
});

/** All that a file of the package imports, and what those of its own import. */
function reached(file: string, seen = new Set<string>()): string[] {
  const text = readFileSync(new URL(file, DIST), "utf8");
  const imports = [...text.matchAll(/(?:from|import|require\()\s*["']([^"']+)["']/g)].map((found) => found[1] ?? "");
  for (const each of imports.filter((name) => !seen.has(name))) {
    seen.add(each);
    if (each.startsWith("./") && readdirSync(DIST).includes(each.slice(2))) {
      reached(each.slice(2), seen);
    }
  }
  return [...seen];
}
