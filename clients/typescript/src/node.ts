/**
 * Durable threads for agents and workflows, called over gRPC.
 *
 * @packageDocumentation
 */

import { BaseClient } from "./client.js";
import { nodeCarrier } from "./node_carrier.js";
import { refusedArgument } from "./refused_argument.js";
import { type ClientOptions, settingsOf, type Tls } from "./settings.js";

export * from "./exports.js";
export { runUntilStopped } from "./stopping.js";

const DEFAULT_TARGET = "localhost:50051";
const TARGET_VARIABLE = "CLEW_TARGET";

/** A server, reached over gRPC. `await using client = new Client()` closes it, or `close` does. */
export class Client extends BaseClient {
  /** A client of a `HOST:PORT`, or of what the options name. Throws ArgumentInvalidError for what no safe connection can be made with. */
  constructor(target?: string | ClientOptions, options: ClientOptions = {}) {
    const given = typeof target === "object" ? target : { ...options, ...(target === undefined ? {} : { target }) };
    if (given.baseUrl !== undefined) {
      throw refusedArgument(
        "baseUrl",
        "in a browser it is the gateway's address; here give `target`, the server's HOST:PORT",
      );
    }
    const where = given.target || process.env[TARGET_VARIABLE] || DEFAULT_TARGET;
    const encryption = tlsOf(given.tls);
    const authority = authorityOf(where, encryption !== undefined);
    super(settingsOf(where, authority.hostname, encryption !== undefined, given), (_, interceptors) =>
      nodeCarrier(authority, encryption, interceptors),
    );
  }
}

function tlsOf(given: boolean | Tls | undefined): Tls | undefined {
  if (given === undefined || given === false) {
    return undefined;
  }
  const tls = given === true ? {} : given;
  if ((tls.clientKey === undefined) !== (tls.clientCertificate === undefined)) {
    throw refusedArgument("tls", "a client certificate and its key come together");
  }
  return tls;
}

function authorityOf(target: string, encrypted: boolean): URL {
  const scheme = encrypted ? "https" : "http";
  const address = `${scheme}://${target}`;
  if (/[/?#@\s]/.test(target) || !URL.canParse(address)) {
    throw refusedArgument("target", `HOST:PORT is due here, not ${target.slice(0, 200)}`);
  }
  return new URL(address);
}
