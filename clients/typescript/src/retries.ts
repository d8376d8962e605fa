/** Calls that are tried again by themselves, as the shared service config says: gRPC does so elsewhere, and Connect leaves it to its users. */

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { pause } from "./times.js";

/** What is read of a service config (gRPC's own JSON form). */
export interface ServiceConfig {
  methodConfig: {
    name: { service: string; method?: string }[];
    retryPolicy?: {
      maxAttempts: number;
      /** Seconds, as in `0.1s`. */
      initialBackoff: string;
      maxBackoff: string;
      backoffMultiplier: number;
      /** As in `UNAVAILABLE`. */
      retryableStatusCodes: string[];
    };
  }[];
}

interface Policy {
  attempts: number;
  firstMs: number;
  mostMs: number;
  multiplier: number;
  codes: ReadonlySet<Code>;
}

/** Tries a call again that ended with a status of the config before the server had begun to answer. */
export function retries(config: ServiceConfig, random: () => number = Math.random): Interceptor {
  const policies = policiesOf(config);
  return (next) => async (request) => {
    const { service, method } = request;
    const policy = policies.get(`${service.typeName}/${method.name}`) ?? policies.get(`${service.typeName}/`);
    if (policy === undefined || method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming") {
      return next(request);
    }
    if (!request.stream) {
      return tried(policy, random, request.signal, () => next(request));
    }
    // The one message of the request can be read once, and has to be sent as often as there are tries.
    const messages: (typeof request.message extends AsyncIterable<infer M> ? M : never)[] = [];
    for await (const message of request.message) {
      messages.push(message);
    }
    return tried(policy, random, request.signal, () => next({ ...request, message: again(messages) }));
  };
}

async function tried<T>(policy: Policy, random: () => number, signal: AbortSignal, call: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt >= policy.attempts || signal.aborted || !policy.codes.has(ConnectError.from(error).code)) {
        throw error;
      }
      // Spread by a fifth, so that clients of a server that comes back do not all come at once.
      const wait =
        Math.min(policy.mostMs, policy.firstMs * policy.multiplier ** (attempt - 1)) * (0.8 + 0.4 * random());
      await pause(wait, signal);
      if (signal.aborted) {
        throw signal.reason;
      }
    }
  }
}

async function* again<T>(messages: readonly T[]): AsyncGenerator<T> {
  yield* messages;
}

function policiesOf(config: ServiceConfig): Map<string, Policy> {
  const found = new Map<string, Policy>();
  for (const { name, retryPolicy } of config.methodConfig) {
    if (retryPolicy === undefined) {
      continue;
    }
    const policy = {
      attempts: retryPolicy.maxAttempts,
      firstMs: millis(retryPolicy.initialBackoff),
      mostMs: millis(retryPolicy.maxBackoff),
      multiplier: retryPolicy.backoffMultiplier,
      codes: new Set(retryPolicy.retryableStatusCodes.map(codeOf)),
    };
    for (const { service, method } of name) {
      found.set(`${service}/${method ?? ""}`, policy);
    }
  }
  return found;
}

function millis(seconds: string): number {
  return Number(seconds.replace(/s$/, "")) * 1_000;
}

/** `DEADLINE_EXCEEDED` is DeadlineExceeded in Connect. */
function codeOf(status: string): Code {
  const name = status.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const code = Code[name as keyof typeof Code];
  if (code === undefined) {
    throw new Error(`the service config names a status that there is not: ${status}`);
  }
  return code;
}
