/** How a client reaches its server, and how long it tries. */

import { refusedArgument } from "./refused_argument.js";
import { checkMs } from "./times.js";

/** A bearer token, or what gives one for each call. */
export type Token = string | (() => string | Promise<string>);

/** Encryption. Everything is PEM. */
export interface Tls {
  /** The authorities to trust; the system's unless given. */
  rootCertificates?: string | Uint8Array | undefined;
  /** The key of the client's certificate. */
  clientKey?: string | Uint8Array | undefined;
  /** A certificate of the client's own, which comes with its key. */
  clientCertificate?: string | Uint8Array | undefined;
}

/** How a client reaches its server. Times are milliseconds. */
export interface ClientOptions {
  /** Node: `HOST:PORT` of the server; what CLEW_TARGET names, or `localhost:50051`, unless given. A browser has `baseUrl`. */
  target?: string | undefined;
  /** The browser: the address of the gateway, which speaks gRPC-Web, such as `https://clew.example.org`. Node has `target`. */
  baseUrl?: string | undefined;
  /** Sent as a bearer token with every call; a function is asked for each call anew. */
  token?: Token | undefined;
  /** Node: encryption; true for the system's root certificates. In a browser the address says it. */
  tls?: boolean | Tls | undefined;
  /** Send the token without encryption, also beyond this machine, where anyone on the way can read it. */
  insecureToken?: boolean | undefined;
  /** What a call that answers once may take; 30 s unless given. Streams have a limit only where they are given one. */
  timeoutMs?: number | undefined;
  /** How long to try before a server that was never heard is given up; 5 s unless given. */
  connectTimeoutMs?: number | undefined;
  /** How long to try before a stream that broke is given up; 60 s unless given. */
  rejoinTimeoutMs?: number | undefined;
  /** How long to wait for a run to be cancelled when its stream is left; 15 s unless given. */
  leaveTimeoutMs?: number | undefined;
}

/** The same, whole and checked. */
export interface Settings {
  /** Where the server is, as it is told in errors: `HOST:PORT`, or an address. */
  readonly target: string;
  readonly token: Token | undefined;
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly rejoinTimeoutMs: number;
  readonly leaveTimeoutMs: number;
  /** How long a run that is under way may say nothing: heartbeats come every 15 s. */
  readonly silenceMs: number;
  /** The first pause between two tries, and the longest. */
  readonly backoffMs: readonly [number, number];
}

/** The settings of a client of a server. Throws ArgumentInvalidError, by the option's name, for what no safe connection can be made with. */
export function settingsOf(target: string, host: string, encrypted: boolean, options: ClientOptions): Settings {
  const { token } = options;
  if (token !== undefined && typeof token !== "string" && typeof token !== "function") {
    throw refusedArgument("token", `text or a function is due here, not ${typeof token}`);
  }
  if (token !== undefined && !encrypted && options.insecureToken !== true && !isLoopback(host)) {
    const how = "encrypt (`tls`, or an https address), or give `insecureToken: true` to send it all the same";
    throw refusedArgument("token", `without encryption anyone on the way to ${target} can read it: ${how}`);
  }
  return {
    target,
    token,
    timeoutMs: time(options, "timeoutMs", 30_000),
    connectTimeoutMs: time(options, "connectTimeoutMs", 5_000),
    rejoinTimeoutMs: time(options, "rejoinTimeoutMs", 60_000),
    leaveTimeoutMs: time(options, "leaveTimeoutMs", 15_000),
    silenceMs: 60_000,
    backoffMs: [100, 2_000],
  };
}

/** Whether nothing leaves this machine on the way to a host. */
function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}

type Time = "timeoutMs" | "connectTimeoutMs" | "rejoinTimeoutMs" | "leaveTimeoutMs";

function time(options: ClientOptions, name: Time, unless: number): number {
  const given = options[name];
  if (given === undefined) {
    return unless;
  }
  checkMs(given, name);
  return given;
}
