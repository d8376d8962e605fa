/** What the kinds of events mean to a reader. */

import type { Event } from "./gen/clew/v1/event_pb.js";

/** The name of a kind of event: `textDelta`, `runCompleted`, … */
export type EventKind = Exclude<Event["payload"]["case"], undefined>;

const TERMINAL: ReadonlySet<string> = new Set<EventKind>(["runSuspended", "runCompleted", "runFailed"]);
const LOGGED: ReadonlySet<string> = new Set<EventKind>([
  "runStarted",
  "toolCallStarted",
  "toolCallFinished",
  "approvalRequested",
  "checkpointWritten",
  "runSuspended",
  "runCompleted",
  "runFailed",
]);

/** Whether an event is in the thread's log, and moves a reader's cursor. */
export function isLogged(event: Event): boolean {
  return LOGGED.has(event.payload.case ?? "");
}

/** Whether an event ends an attempt. */
export function isTerminal(event: Event): boolean {
  return TERMINAL.has(event.payload.case ?? "");
}
