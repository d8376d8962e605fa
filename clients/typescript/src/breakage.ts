/** A connection that broke is UNAVAILABLE, as gRPC has it; Connect tells some of it by other codes. */

import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

const TOLD_AS: ReadonlySet<Code> = new Set([Code.Aborted, Code.Internal, Code.Unknown]);

/** Tells breakage of connections as UNAVAILABLE. The innermost interceptor, so that all others see it so. */
export const breakage: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    return response.stream ? { ...response, message: told(response.message, request.signal) } : response;
  } catch (error) {
    throw asUnavailable(error, request.signal);
  }
};

async function* told<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (error) {
    throw asUnavailable(error, signal);
  }
}

function asUnavailable(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) {
    return error;
  }
  if (!(error instanceof ConnectError)) {
    return isOfTheConnection(error) ? unavailable(error as Error, error) : error;
  }
  // A socket that closes resets its streams as cancelled; what the server says itself comes with trailers.
  const isReset = error.code === Code.Canceled && [...error.metadata.keys()].length === 0;
  const isBroken = isReset || (TOLD_AS.has(error.code) && isOfTheConnection(error.cause));
  return isBroken ? unavailable({ message: error.rawMessage }, error.cause) : error;
}

function unavailable({ message }: { message: string }, cause: unknown): ConnectError {
  return new ConnectError(message, Code.Unavailable, undefined, undefined, cause);
}

/** Node's errors of sockets and streams have a code (`ECONNRESET`); fetch throws a TypeError in every browser. */
function isOfTheConnection(cause: unknown): boolean {
  if (cause instanceof ConnectError || !(cause instanceof Error)) {
    return false;
  }
  const { code } = cause as { code?: unknown };
  return cause instanceof TypeError || typeof code === "string" || isOfTheConnection(cause.cause);
}
