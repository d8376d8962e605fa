/** What a client shows of who it is. */

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Token } from "./settings.js";

/** Sends a bearer token with every call. */
export function bearer(token: Token): Interceptor {
  return (next) => async (request) => {
    request.header.set("authorization", `Bearer ${await given(token)}`);
    return next(request);
  };
}

async function given(token: Token): Promise<string> {
  if (typeof token === "string") {
    return token;
  }
  try {
    return await token();
  } catch (error) {
    // Not to be taken for a connection that broke, which would be tried again.
    const why = error instanceof Error ? error.message : String(error);
    throw new ConnectError(`the token's function failed: ${why}`, Code.Unauthenticated, undefined, undefined, error);
  }
}
