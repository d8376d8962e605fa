/** What a client may be made with. */

import { afterEach, expect, test, vi } from "vitest";
import { Client as BrowserClient } from "../src/browser.js";
import { ArgumentInvalidError, Client, IdInvalidError } from "../src/node.js";

afterEach(() => vi.unstubAllEnvs());

test("a token goes without encryption to this machine alone, unless that is asked for by name", () => {
  const token = "secret";
  expect(() => new Client("clew.example.org:443", { token })).toThrow(ArgumentInvalidError);
  expect(() => new BrowserClient("http://clew.example.org", { token })).toThrow("token");
  for (const target of ["localhost:1", "127.0.0.1:1", "[::1]:1"]) {
    new Client(target, { token });
  }
  new Client("clew.example.org:443", { token, tls: true });
  new Client("clew.example.org:80", { token, insecureToken: true });
  new BrowserClient("https://clew.example.org", { token });
});

test("what is no target, address or time is refused by its name", () => {
  expect(() => new Client("http://localhost:50051")).toThrow("target");
  expect(() => new Client("localhost:99999")).toThrow("target");
  expect(() => new Client({ baseUrl: "https://clew.example.org" })).toThrow("baseUrl");
  expect(() => new BrowserClient()).toThrow("baseUrl");
  expect(() => new BrowserClient({ baseUrl: "https://clew.example.org", tls: true })).toThrow("target");
  expect(() => new Client({ timeoutMs: -1 })).toThrow("timeoutMs");
  expect(() => new Client({ rejoinTimeoutMs: Number.NaN })).toThrow("rejoinTimeoutMs");
  expect(() => new Client({ tls: { clientKey: "key" } })).toThrow("tls");
});

test("the environment names the target where the program does not", () => {
  vi.stubEnv("CLEW_TARGET", "not a target");
  expect(() => new Client()).toThrow("not a target");
  new Client("localhost:50051");
});

test("handles hold names, and a thread needs one", () => {
  const client = new Client();
  const thread = client.app("support").thread("t-1", { actor: "ada" });
  expect([thread.id, thread.app, thread.actor]).toEqual(["t-1", "support", "ada"]);
  expect(client.thread("t-1").app).toBe("");
  expect(() => client.thread("")).toThrow(IdInvalidError);
});

test("arguments that no server would take are refused before anything is sent", () => {
  const thread = new Client().thread("t-1");
  expect(() => thread.send("hi", { onBusy: "hurry" as "wait" })).toThrow("on_busy");
  expect(() => thread.send("hi", { expectedVersion: -1 })).toThrow("expectedVersion");
  expect(() => thread.send("hi", { expectedVersion: 2 ** 53 })).toThrow("expectedVersion");
  expect(() => thread.send("hi", { limits: { steps: 0.5 } })).toThrow("max_steps");
  expect(() => thread.send("\ud800")).toThrow("surrogate");
  expect(() => thread.send(1 as unknown as string)).toThrow("input");
  expect(() => thread.send("hi", { timeoutMs: 2 ** 40 })).toThrow("timeoutMs");
});

test("a decision is an id and one choice", () => {
  const thread = new Client().thread("t-1");
  expect(() => thread.decide([{ id: "a", approve: false as true }])).toThrow("decisions");
  expect(() => thread.decide([{ id: "a", approve: true, reject: "no" } as never])).toThrow("decisions");
  expect(() => thread.decide([{ id: "a" } as never])).toThrow("decisions");
  thread.decide([
    { id: "a", arguments: { amount: 1 } },
    { id: "b", runAgain: true },
    { id: "c", result: null },
    { id: "d", fail: "no" },
    { id: "e", value: 1n },
  ]);
});
