/** A real server of the contract that says what a test tells it to, to gRPC and to gRPC-Web. */

import * as http from "node:http";
import * as http2 from "node:http2";
import type { AddressInfo } from "node:net";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ApprovalService } from "../src/gen/clew/v1/approval_service_pb.js";
import type { Event } from "../src/gen/clew/v1/event_pb.js";
import { RunService } from "../src/gen/clew/v1/run_service_pb.js";
import { ThreadService } from "../src/gen/clew/v1/thread_service_pb.js";
import { WorkerService, type WorkResponseSchema } from "../src/gen/clew/v1/worker_service_pb.js";
import { ErrorInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";

/** What a stream says, one after the other: events of one response, or what it is then ended or held up with. */
export type Step = Event[] | ConnectError | ((context: HandlerContext) => Promise<void>);

/** The same of a stream of calls for a worker. */
export type WorkStep =
  | MessageInitShape<typeof WorkResponseSchema>
  | ConnectError
  | ((context: HandlerContext) => Promise<void>);

/** Until the client leaves. */
export function hangs(context: HandlerContext): Promise<void> {
  return new Promise((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));
}

/** A status with a reason, as the contract says it. */
export function refusal(
  code: Code,
  reason: string,
  message = "no",
  metadata: Record<string, string> = {},
): ConnectError {
  const value = { reason, domain: "clew", metadata };
  return new ConnectError(message, code, undefined, [{ desc: ErrorInfoSchema, value }]);
}

export const broken = (): ConnectError => new ConnectError("broken", Code.Unavailable);

/** What a call that answers once is answered with. */
export type Answer = () => object | Promise<object>;

type StreamName = "send" | "decide" | "resume" | "retry" | "watch";

export class ScriptedServer {
  /** What was asked, in order, with the call's name. */
  readonly asked: ({ rpc: string } & Record<string, unknown>)[] = [];
  /** The headers of each call. */
  readonly headers: Headers[] = [];
  readonly #streams = new Map<StreamName, Step[][]>();
  #work: WorkStep[][] = [];
  readonly #answers = new Map<string, Answer[]>();
  #server: http.Server | http2.Http2Server | undefined;
  #sessions = new Set<http2.ServerHttp2Session>();

  /** The next answers of a stream; the last one stays. */
  streams(rpc: StreamName, ...answers: Step[][]): void {
    this.#streams.set(rpc, answers);
  }

  /** The next streams of calls; the last one stays. */
  works(...answers: WorkStep[][]): void {
    this.#work = answers;
  }

  /** The next answers of a call that has one; the last one stays. */
  answers(rpc: string, ...answers: Answer[]): void {
    this.#answers.set(rpc, answers);
  }

  get names(): string[] {
    return this.asked.map((each) => each.rpc);
  }

  get port(): number {
    const address = this.#server?.address() as AddressInfo | null | undefined;
    return address?.port ?? 0;
  }

  get target(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Starts it: for gRPC, or for what browsers speak. */
  async start(kind: "grpc" | "web" = "grpc"): Promise<void> {
    const adapter = connectNodeAdapter({
      routes: (router) => {
        router.service(RunService, {
          send: (request, context) => this.#stream("send", request, context),
          decide: (request, context) => this.#stream("decide", request, context),
          resume: (request, context) => this.#stream("resume", request, context),
          retry: (request, context) => this.#stream("retry", request, context),
          watch: (request, context) => this.#stream("watch", request, context),
          cancelRun: (request, context) => this.#answer("cancelRun", request, context),
        });
        router.service(ApprovalService, {
          listApprovals: (request, context) => this.#answer("listApprovals", request, context),
        });
        router.service(WorkerService, {
          work: (request, context) => this.#calls(request, context),
          renewCalls: (request, context) => this.#answer("renewCalls", request, context),
          reportProgress: (request, context) => this.#answer("reportProgress", request, context),
          finishCall: (request, context) => this.#answer("finishCall", request, context),
          drainWorker: (request, context) => this.#answer("drainWorker", request, context),
        });
        router.service(ThreadService, {
          getThread: (request, context) => this.#answer("getThread", request, context),
          getState: (request, context) => this.#answer("getState", request, context),
        });
      },
    });
    const server = kind === "grpc" ? http2.createServer(adapter) : http.createServer(adapter);
    if (kind === "grpc") {
      (server as http2.Http2Server).on("session", (session) => {
        this.#sessions.add(session);
        session.once("close", () => this.#sessions.delete(session));
      });
    }
    this.#server = server;
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  }

  /** Drops every connection without a word, and listens on. */
  drop(): void {
    for (const session of this.#sessions) {
      session.destroy();
    }
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.drop();
    if (server instanceof http.Server) {
      server.closeAllConnections();
    }
    await new Promise<void>((resolve) => server?.close(() => resolve()));
  }

  async *#stream(rpc: StreamName, request: object, context: HandlerContext): AsyncGenerator<{ events: Event[] }> {
    this.#take(rpc, request, context);
    for (const step of nextOf(rpc, this.#streams.get(rpc))) {
      if (Array.isArray(step)) {
        yield { events: step };
      } else if (step instanceof ConnectError) {
        throw step;
      } else {
        await step(context);
      }
    }
  }

  async *#calls(request: object, context: HandlerContext): AsyncGenerator<MessageInitShape<typeof WorkResponseSchema>> {
    this.#take("work", request, context);
    for (const step of nextOf("work", this.#work)) {
      if (step instanceof ConnectError) {
        throw step;
      }
      if (typeof step === "function") {
        await step(context);
      } else {
        yield step;
      }
    }
  }

  #answer(rpc: string, request: object, context: HandlerContext): object | Promise<object> {
    this.#take(rpc, request, context);
    return nextOf(rpc, this.#answers.get(rpc))();
  }

  #take(rpc: string, request: object, context: HandlerContext): void {
    this.asked.push({ rpc, ...request });
    this.headers.push(context.requestHeader);
  }
}

function nextOf<T>(rpc: string, waiting: T[] | undefined): T {
  const next = waiting !== undefined && waiting.length > 1 ? waiting.shift() : waiting?.[0];
  if (next === undefined) {
    throw new Error(`${rpc} was not expected`);
  }
  return next;
}
