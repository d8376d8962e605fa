/** What is tried again by itself, and how long. */

import { Code, ConnectError, type ConnectRouter, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { RunService } from "../src/gen/clew/v1/run_service_pb.js";
import { ThreadService } from "../src/gen/clew/v1/thread_service_pb.js";
import { Patience } from "../src/patience.js";
import { retries } from "../src/retries.js";
import { settingsOf } from "../src/settings.js";

function configFor(service: string, codes: string[], attempts = 3) {
  const backoff = { initialBackoff: "0.001s", maxBackoff: "0.002s", backoffMultiplier: 2 };
  const retryPolicy = { maxAttempts: attempts, ...backoff, retryableStatusCodes: codes };
  return { methodConfig: [{ name: [{ service }], retryPolicy }] };
}

function over(config: Parameters<typeof retries>[0], routes: (router: ConnectRouter) => void) {
  return createRouterTransport(routes, { transport: { interceptors: [retries(config)] } });
}

test("a call is tried as often as the config says, where its status is one of those", async () => {
  for (const [code, times] of [
    [Code.Unavailable, 3],
    [Code.Internal, 1],
  ] as const) {
    let asked = 0;
    const transport = over(configFor("clew.v1.ThreadService", ["UNAVAILABLE"]), (router) =>
      router.service(ThreadService, {
        getThread: () => {
          asked += 1;
          throw new ConnectError("no", code);
        },
      }),
    );
    await expect(createClient(ThreadService, transport).getThread({})).rejects.toMatchObject({ code });
    expect(asked).toBe(times);
  }
});

test("a service that the config does not name is not tried again", async () => {
  let asked = 0;
  const transport = over(configFor("clew.v1.RunService", ["UNAVAILABLE"]), (router) =>
    router.service(ThreadService, {
      getThread: () => {
        asked += 1;
        throw new ConnectError("no", Code.Unavailable);
      },
    }),
  );
  await expect(createClient(ThreadService, transport).getThread({})).rejects.toThrow();
  expect(asked).toBe(1);
});

test("a stream that has begun is not tried again", async () => {
  let asked = 0;
  const transport = over(configFor("clew.v1.RunService", ["UNAVAILABLE"]), (router) =>
    router.service(RunService, {
      async *watch() {
        asked += 1;
        yield { events: [] };
        throw new ConnectError("no", Code.Unavailable);
      },
    }),
  );
  const read = async () => {
    for await (const _ of createClient(RunService, transport).watch({}));
  };
  await expect(read()).rejects.toMatchObject({ code: Code.Unavailable });
  expect(asked).toBe(1);
});

test("a status that there is not is a mistake of the config", () => {
  expect(() => retries(configFor("clew.v1.RunService", ["NOTHING"]))).toThrow("NOTHING");
});

test("a broken stream is tried with pauses that double, until there was no word for too long", () => {
  let now = 0;
  const settings = settingsOf("there", "localhost", false, { connectTimeoutMs: 1_000, rejoinTimeoutMs: 10_000 });
  const patience = new Patience(settings, () => now);
  const pauses = (): number[] => {
    const found: number[] = [];
    for (let pause = patience.pause(); pause !== undefined; pause = patience.pause()) {
      found.push(pause);
      now += pause;
    }
    return found;
  };
  expect(pauses()).toEqual([100, 200, 400]);
  patience.heard();
  expect(pauses()).toEqual([100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
});
