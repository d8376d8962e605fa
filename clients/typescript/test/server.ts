/** A real server, with the agent of examples/support.py, on a file of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROOT = new URL("../../../", import.meta.url).pathname;

export class SupportServer {
  target = "";
  readonly #folder = mkdtempSync(join(tmpdir(), "clew-"));
  #process: ChildProcess | undefined;

  /** Starts it, and waits until it is ready. CLEW names the program. */
  async start(): Promise<void> {
    const program = process.env["CLEW"] ?? join(ROOT, ".venv/bin/clew");
    const args = [
      "serve",
      "examples/support.py",
      "--port",
      "0",
      "--json",
      "--storage",
      `sqlite://${this.#folder}/clew.db`,
    ];
    const server = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
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

  stop(): void {
    this.#process?.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
