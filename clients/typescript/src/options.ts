/** How a call wants to be treated: busy threads, limits, and who asks. */

import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { BusyPolicy, DisconnectPolicy, type RunOptionsSchema } from "./gen/clew/v1/run_pb.js";
import { refusedArgument } from "./refused_argument.js";
import { durationOf } from "./times.js";

/** What to do while another run or write holds the thread. */
export type OnBusy = "wait" | "reject" | "interrupt";

/** What one attempt may use; undefined is the app's own limit. */
export interface Limits {
  /** How many steps of the model or the workflow. */
  steps?: number | undefined;
  /** How many tokens models may read and write. */
  tokens?: number | bigint | undefined;
  /** How long the attempt may take, in milliseconds. */
  durationMs?: number | undefined;
  /** How long one call of a tool may take, in milliseconds. */
  toolTimeoutMs?: number | undefined;
}

/** What every verb that changes something takes. */
export interface WriteOptions {
  /** The version that the thread must have; 0 for one that there is not yet. */
  expectedVersion?: number | bigint | undefined;
  /** Made up unless given; repeat one to get the same outcome. */
  requestId?: string | undefined;
}

/** What every verb takes that has to have the thread to itself. */
export interface BusyOptions extends WriteOptions {
  /** What to do while another run or write holds the thread; the server's default, which is to wait, unless given. */
  onBusy?: OnBusy | undefined;
  /** How long to wait for it, in milliseconds. */
  busyTimeoutMs?: number | undefined;
}

/** What every verb that starts an attempt takes. */
export interface RunOptions extends BusyOptions {
  /** What the attempt may use. */
  limits?: Limits | undefined;
  /** For the whole call, in milliseconds; a run that has started goes on when it is over. No limit unless given. */
  timeoutMs?: number | undefined;
  /** Leaves the stream, which cancels the run; reading it rejects with the signal's reason then. */
  signal?: AbortSignal | undefined;
}

const BUSY: Record<OnBusy, BusyPolicy> = {
  wait: BusyPolicy.WAIT,
  reject: BusyPolicy.REJECT,
  interrupt: BusyPolicy.INTERRUPT,
};

/** What requests that start an attempt have in common. */
export interface Frame {
  requestId: string;
  expectedVersion?: bigint;
  options: MessageInitShape<typeof RunOptionsSchema>;
}

/** The frame of one request, however often it has to be sent. The run goes on when its stream breaks: who leaves on purpose cancels it by name. */
export function frameOf(given: RunOptions, actor: string): Frame {
  const { limits } = given;
  return {
    ...named(given),
    options: {
      ...busy(given, "options."),
      onDisconnect: DisconnectPolicy.CONTINUE,
      actor,
      ...(limits === undefined ? {} : { limits: limitsOf(limits) }),
    },
  };
}

/** The request id of a write, and the version that it expects. */
export function named(given: WriteOptions): { requestId: string; expectedVersion?: bigint } {
  const requestId = given.requestId === undefined || given.requestId === "" ? newRequestId() : given.requestId;
  const { expectedVersion } = given;
  return expectedVersion === undefined
    ? { requestId }
    : { requestId, expectedVersion: whole(expectedVersion, "expectedVersion") };
}

/** The part of a request that says what to do with a busy thread. */
export interface Busy {
  onBusy: BusyPolicy;
  busyTimeout?: Duration;
}

/** What to do with a busy thread, as it travels. Throws ArgumentInvalidError, naming the field after the prefix. */
export function busy(given: BusyOptions, prefix = ""): Busy {
  const { onBusy, busyTimeoutMs } = given;
  if (onBusy !== undefined && !Object.hasOwn(BUSY, onBusy)) {
    throw refusedArgument(`${prefix}on_busy`, `one of ${Object.keys(BUSY).join(", ")} is due here, not ${onBusy}`);
  }
  return {
    onBusy: onBusy === undefined ? BusyPolicy.UNSPECIFIED : BUSY[onBusy],
    ...(busyTimeoutMs === undefined ? {} : { busyTimeout: durationOf(busyTimeoutMs, `${prefix}busy_timeout`) }),
  };
}

/** A version, position or count as it travels. Throws ArgumentInvalidError, naming the field, for what is no whole number from 0 on. */
export function whole(value: number | bigint, field: string): bigint {
  const fits = typeof value === "bigint" ? value < 1n << 63n : Number.isSafeInteger(value);
  if (!fits || value < 0) {
    throw refusedArgument(field, `a whole number from 0 on is due here, not ${value}`);
  }
  return BigInt(value);
}

/** Names one request, however often it has to be sent. */
export function newRequestId(): string {
  // A UUID of version 4. `crypto.randomUUID` is in secure contexts alone, and a page may be served without TLS.
  const bytes = [...crypto.getRandomValues(new Uint8Array(16))].map((byte, at) =>
    at === 6 ? (byte & 0x0f) | 0x40 : at === 8 ? (byte & 0x3f) | 0x80 : byte,
  );
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function limitsOf(limits: Limits): MessageInitShape<typeof RunOptionsSchema>["limits"] {
  const { steps, tokens, durationMs, toolTimeoutMs } = limits;
  const field = "options.limits";
  return {
    ...(steps === undefined ? {} : { maxSteps: Number(whole(steps, `${field}.max_steps`)) }),
    ...(tokens === undefined ? {} : { maxTokens: whole(tokens, `${field}.max_tokens`) }),
    ...(durationMs === undefined ? {} : { maxDuration: durationOf(durationMs, `${field}.max_duration`) }),
    ...(toolTimeoutMs === undefined ? {} : { toolTimeout: durationOf(toolTimeoutMs, `${field}.tool_timeout`) }),
  };
}
