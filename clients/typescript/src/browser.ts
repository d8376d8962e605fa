/**
 * Durable threads for agents and workflows, called over gRPC-Web.
 *
 * @packageDocumentation
 */

import { createGrpcWebTransport } from "@connectrpc/connect-web";
import { BaseClient } from "./client.js";
import { refusedArgument } from "./refused_argument.js";
import { type ClientOptions, settingsOf } from "./settings.js";

export * from "./exports.js";

/** A gateway, reached over gRPC-Web. */
export class Client extends BaseClient {
  /** A client of the gateway at an address, or of what the options name. Throws ArgumentInvalidError for what no safe connection can be made with. */
  constructor(baseUrl?: string | ClientOptions, options: ClientOptions = {}) {
    const given = typeof baseUrl === "object" ? baseUrl : { ...options, ...(baseUrl === undefined ? {} : { baseUrl }) };
    const where = given.baseUrl ?? "";
    if (!URL.canParse(where) || !/^https?:$/.test(new URL(where).protocol)) {
      throw refusedArgument("baseUrl", "the gateway's address is due here, such as https://clew.example.org");
    }
    if (given.target !== undefined || given.tls !== undefined) {
      throw refusedArgument(
        "target",
        "a browser reaches a server by its gateway: give `baseUrl`, and no `target` or `tls`",
      );
    }
    const { hostname, protocol } = new URL(where);
    super(settingsOf(where, hostname, protocol === "https:", given), (_, interceptors) => ({
      transport: createGrpcWebTransport({ baseUrl: where, interceptors }),
      close: () => undefined,
    }));
  }
}
