/** The client: where a program begins. */

import type { DescService } from "@bufbuild/protobuf";
import { createClient, type Client as Stub } from "@connectrpc/connect";
import { App } from "./app.js";
import { Connection, type OpenCarrier } from "./connection.js";
import type { Settings } from "./settings.js";
import { Thread } from "./thread.js";
import { Worker, type WorkerOptions } from "./worker.js";

/** What the clients of all platforms have in common. Nothing is sent before the first call. */
export abstract class BaseClient implements AsyncDisposable {
  readonly #settings: Settings;
  readonly #openCarrier: OpenCarrier;
  #connection: Connection | undefined;

  /** @internal */
  protected constructor(settings: Settings, openCarrier: OpenCarrier) {
    this.#settings = settings;
    this.#openCarrier = openCarrier;
  }

  /** A handle on an agent or workflow. */
  app(name: string): App {
    return new App(this.#connect, name);
  }

  /** A handle on a thread, whatever its app is. `actor` is on whose behalf it is used. */
  thread(id: string, options: { actor?: string | undefined } = {}): Thread {
    return new Thread(this.#connect, id, "", options.actor ?? "");
  }

  /** A worker, which runs tools for agents and workflows. Throws ArgumentInvalidError for a `maxCalls` that is no count. */
  worker(options: WorkerOptions = {}): Worker {
    return new Worker(this.#connect, options);
  }

  /**
   * The stub of a service of the contract (`@clew/client/v1` has them), over this client's connection: its token and retries. A call fails with
   * Connect's own error, and takes `timeoutMs` where it is given one.
   */
  stub<Service extends DescService>(service: Service): Stub<Service> {
    return createClient(service, this.#connect().transport);
  }

  /** Leaves the streams that are open, ends workers that were not drained, and lets the connection go. The client may be used again. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #connect = (): Connection => {
    this.#connection ??= new Connection(this.#settings, this.#openCarrier);
    return this.#connection;
  };
}
