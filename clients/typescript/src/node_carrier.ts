/** gRPC over HTTP/2, as Node has it. */

import * as net from "node:net";
import * as tls from "node:tls";
import type { Interceptor } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import type { Carrier } from "./connection.js";
import type { Tls } from "./settings.js";

const MOST_RECEIVED = 4 << 20;
// More than any field may have, so that the server refuses what is too large by the field's name.
const MOST_SENT = 8 << 20;
// A connection that died without a word is noticed while a call waits on it.
const KEEPALIVE = { pingIntervalMs: 30_000, pingTimeoutMs: 10_000, pingIdleConnection: false };
// An address that swallows packets is tried anew after that, where the system would wait for minutes.
const CONNECTING_MS = 5_000;

/** A connection to a server, which is made by the first call and made again where it broke. */
export function nodeCarrier(authority: URL, encryption: Tls | undefined, interceptors: Interceptor[]): Carrier {
  const baseUrl = authority.origin;
  const sessionManager = new Http2SessionManager(baseUrl, KEEPALIVE, {
    createConnection: (to) => dial(to, encryption),
  });
  const transport = createGrpcTransport({
    baseUrl,
    sessionManager,
    interceptors,
    readMaxBytes: MOST_RECEIVED,
    writeMaxBytes: MOST_SENT,
  });
  return { transport, close: () => sessionManager.abort() };
}

function dial(to: URL, encryption: Tls | undefined): net.Socket {
  const host = to.hostname.replace(/^\[(.*)\]$/, "$1");
  const encrypted = encryption !== undefined;
  const port = Number(to.port || (encrypted ? 443 : 80));
  const socket = encrypted ? tls.connect({ host, port, ...secured(host, encryption) }) : net.connect({ host, port });
  const timer = setTimeout(() => {
    socket.destroy(
      Object.assign(new Error(`no connection to ${to.host} within ${CONNECTING_MS} ms`), { code: "ETIMEDOUT" }),
    );
  }, CONNECTING_MS);
  socket.once(encrypted ? "secureConnect" : "connect", () => clearTimeout(timer));
  socket.once("close", () => clearTimeout(timer));
  return socket;
}

function secured(host: string, encryption: Tls): tls.ConnectionOptions {
  const { rootCertificates, clientKey, clientCertificate } = encryption;
  return {
    ALPNProtocols: ["h2"],
    ...(net.isIP(host) === 0 ? { servername: host } : {}),
    ...(rootCertificates === undefined ? {} : { ca: pem(rootCertificates) }),
    ...(clientKey === undefined ? {} : { key: pem(clientKey) }),
    ...(clientCertificate === undefined ? {} : { cert: pem(clientCertificate) }),
  };
}

function pem(given: string | Uint8Array): string | Buffer {
  return typeof given === "string" ? given : Buffer.from(given);
}
