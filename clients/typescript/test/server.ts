/** A real server on a file of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = new URL("../../../", import.meta.url).pathname;

class Server {
  target = "";
  readonly #apps: string;
  readonly #settings: Record<string, string>;
  readonly #folder = mkdtempSync(join(tmpdir(), "clew-"));
  #process: ChildProcess | undefined;

  constructor(apps: string, settings: Record<string, string> = {}) {
    this.#apps = apps;
    this.#settings = settings;
  }

  /** Starts it, and waits until it is ready; after a kill again, where it was. CLEW names the program. */
  async start(): Promise<void> {
    const program = process.env["CLEW"] ?? join(ROOT, ".venv/bin/clew");
    const port = this.target.split(":")[1] ?? "0";
    const args = ["serve", this.#apps, "--port", port, "--json", "--storage", `sqlite://${this.#folder}/clew.db`];
    const env = { ...process.env, ...this.#settings };
    const server = spawn(program, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#process = server;
    let log = "";
    server.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
    });
    for await (const line of createInterface({ input: server.stdout })) {
      this.target = (JSON.parse(line) as { address: string }).address;
      return;
    }
    throw new Error(`${program} did not start: ${log}`);
  }

  /** Ends it at once. */
  async kill(): Promise<void> {
    const server = this.#process;
    if (server !== undefined && server.exitCode === null && server.signalCode === null) {
      const dead = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGKILL");
      await dead;
    }
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** With the agent of examples/support.py. */
export class SupportServer extends Server {
  constructor() {
    super("examples/support.py");
  }
}

/** With the agents of shop.py, whose tools workers run, for a short lease. */
export class ShopServer extends Server {
  constructor() {
    super("clients/typescript/test/shop.py", { CLEW_CALL_LEASE: "0.5" });
  }
}
