/** One transport, the stubs over it, and the streams that are open on it. */

import { ConnectError, createClient, type Interceptor, type Client as Stub, type Transport } from "@connectrpc/connect";
import { breakage } from "./breakage.js";
import { bearer } from "./credentials.js";
import type { ClewError } from "./errors.js";
import { ApprovalService } from "./gen/clew/v1/approval_service_pb.js";
import { CheckpointService } from "./gen/clew/v1/checkpoint_service_pb.js";
import { RunService } from "./gen/clew/v1/run_service_pb.js";
import { ThreadService } from "./gen/clew/v1/thread_service_pb.js";
import { WorkerService } from "./gen/clew/v1/worker_service_pb.js";
import serviceConfig from "./gen/service_config.json";
import { errorOf } from "./refusals.js";
import { retries } from "./retries.js";
import type { Settings } from "./settings.js";

/** What carries calls, and how it is let go. */
export interface Carrier {
  readonly transport: Transport;
  close(): void;
}

/** Makes what carries calls, with the interceptors of the client. */
export type OpenCarrier = (settings: Settings, interceptors: Interceptor[]) => Carrier;

/** How one call that answers once is treated. */
export interface CallOptions {
  /** Gives the call up, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that the call may take, instead of the client's. */
  timeoutMs?: number | undefined;
}

/** A stream that is open, or a worker that runs. */
export interface Leavable {
  /** Ends it on purpose, whoever reads it. */
  leave(): Promise<void>;
}

/** Everything of a client that is one connection. */
export class Connection {
  readonly settings: Settings;
  readonly transport: Transport;
  readonly runs: Stub<typeof RunService>;
  readonly threads: Stub<typeof ThreadService>;
  readonly checkpoints: Stub<typeof CheckpointService>;
  readonly approvals: Stub<typeof ApprovalService>;
  readonly workers: Stub<typeof WorkerService>;
  readonly open = new Set<Leavable>();
  readonly #carrier: Carrier;

  constructor(settings: Settings, openCarrier: OpenCarrier) {
    const credentials = settings.token === undefined ? [] : [bearer(settings.token)];
    this.settings = settings;
    this.#carrier = openCarrier(settings, [retries(serviceConfig), ...credentials, breakage]);
    this.transport = this.#carrier.transport;
    this.runs = createClient(RunService, this.transport);
    this.threads = createClient(ThreadService, this.transport);
    this.checkpoints = createClient(CheckpointService, this.transport);
    this.approvals = createClient(ApprovalService, this.transport);
    this.workers = createClient(WorkerService, this.transport);
  }

  /** The answer to a call that has one. Throws the error that a refusal stands for. */
  async ask<Request, Response>(
    method: (request: Request, options: { timeoutMs: number; signal?: AbortSignal }) => Promise<Response>,
    request: Request,
    options: CallOptions = {},
    unless = this.settings.timeoutMs,
  ): Promise<Response> {
    const { signal, timeoutMs = unless } = options;
    signal?.throwIfAborted();
    try {
      return await method(request, { timeoutMs, ...(signal === undefined ? {} : { signal }) });
    } catch (error) {
      signal?.throwIfAborted();
      throw this.errorOf(error);
    }
  }

  /** The error of a call on this connection. */
  errorOf(refused: unknown): ClewError {
    return errorOf(ConnectError.from(refused), this.settings.target);
  }

  /** Leaves what is open, and lets the transport go. */
  async close(): Promise<void> {
    await Promise.all([...this.open].map((stream) => stream.leave()));
    this.#carrier.close();
  }
}
