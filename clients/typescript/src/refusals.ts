/** From a status of the transport to the error that it stands for. */

import { type Any, anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, type ConnectError } from "@connectrpc/connect";
import { ERROR_CLASSES, type ErrorClass } from "./error_classes.js";
import { ClewError } from "./errors.js";
import { type ErrorInfo, ErrorInfoSchema, type RetryInfo, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";
import { millisOf } from "./times.js";

const DOMAIN = "clew";
const BY_CODE = new Map<string, ErrorClass>(ERROR_CLASSES.map((each) => [each.CODE, each]));
// Statuses whose class is called by another code.
const CLASS_OF_STATUS: Partial<Record<Code, string>> = { [Code.DataLoss]: "data_corrupt" };
// The statuses that a broken connection, a proxy or a server that stops ends a stream with.
const BREAKS: ReadonlySet<Code> = new Set([Code.Canceled, Code.Internal, Code.Unavailable, Code.Unknown]);

const REPEAT = "what was asked may have happened: repeat it with the same request id";
const TLS = "see that the target is right, and that both sides speak TLS (`tls` of the client) or neither";
// What the transport's own words stand for, where no reason of the server's comes with the status: what happened, and what to do next.
const WORDS: Partial<Record<Code, (target: string) => string>> = {
  [Code.Canceled]: (target) => `the call to ${target} was cancelled before it ended; ${REPEAT}`,
  [Code.DeadlineExceeded]: (target) =>
    `${target} did not finish the call within its timeout: it is not reached, or busy, or stopping. A run that has started goes on; ${REPEAT}, or give the call more time`,
  [Code.Unavailable]: (target) =>
    `no server answers at ${target}, or the connection broke; ${REPEAT}. Where it stays so, ${TLS}`,
  [Code.Unknown]: (target) => `the connection to ${target} broke in the middle of the call; ${REPEAT}`,
  [Code.Internal]: (target) => `the connection to ${target} broke in the middle of the call; ${REPEAT}`,
  [Code.ResourceExhausted]: (target) =>
    `a message to or from ${target} is larger than the transport takes, or something on the way has no room for it; send less at once`,
  [Code.Unimplemented]: (target) =>
    `${target} does not know this call: it is a server of an older version, or none of Clew's`,
  [Code.Unauthenticated]: (target) =>
    `${target} asks for a credential, or does not accept this one; give the client a \`token\``,
  [Code.PermissionDenied]: (target) => `${target} does not allow this with the credential that was given`,
};

/** The error of a call to a target that ended with a status. What only the transport said of it is in the metadata, under `transport`. */
export function errorOf(refused: ConnectError, target: string): ClewError {
  const [info] = refused.findDetails(ErrorInfoSchema).filter((each) => each.domain === DOMAIN);
  const retryAfterMs = waitOf(refused.findDetails(RetryInfoSchema)[0]);
  const status = wordOf(refused.code);
  const ofStatus = BY_CODE.get(CLASS_OF_STATUS[refused.code] ?? status);
  if (info === undefined) {
    const words = WORDS[refused.code]?.(target) ?? `${target} refused the call with ${status}`;
    const metadata = { target, status, transport: refused.rawMessage };
    return new (ofStatus ?? ClewError)(words, { code: status, metadata, retryAfterMs, cause: refused });
  }
  const code = info.reason.toLowerCase();
  const kind = BY_CODE.get(code) ?? ofStatus ?? ClewError;
  const text = refused.rawMessage || status;
  return new kind(text, { code, metadata: info.metadata, retryAfterMs, cause: refused });
}

/** Whether a stream that ended so was broken or cut, and not refused: it may be joined again. */
export function isBreak(refused: ConnectError): boolean {
  const [info] = refused.findDetails(ErrorInfoSchema).filter((each) => each.domain === DOMAIN);
  if (info === undefined) {
    return BREAKS.has(refused.code);
  }
  if (info.metadata["access"] === "read_only") {
    // The server only reads its file, now and later.
    return false;
  }
  return refused.code === Code.Unavailable || info.reason === "LEASE_LOST";
}

/** What the details of a status inside an event say. */
export interface Details {
  /** The reason and its metadata. */
  info: ErrorInfo | undefined;
  /** Milliseconds to wait, where they are known. */
  retryAfterMs: number | undefined;
}

/** Reads the details of a status inside an event. */
export function detailsOf(details: readonly Any[]): Details {
  const infos = details.map((each) => anyUnpack(each, ErrorInfoSchema));
  const waits = details.map((each) => anyUnpack(each, RetryInfoSchema));
  return {
    info: infos.find((each) => each?.domain === DOMAIN),
    retryAfterMs: waitOf(waits.find((each) => each !== undefined)),
  };
}

/** DeadlineExceeded is `deadline_exceeded`. */
function wordOf(status: Code): string {
  return status === Code.Canceled ? "cancelled" : Code[status].replace(/(?!^)[A-Z]/g, "_$&").toLowerCase();
}

function waitOf(retry: RetryInfo | undefined): number | undefined {
  return retry?.retryDelay === undefined ? undefined : millisOf(retry.retryDelay);
}
