/** What a program sees of the client, whatever it runs on. */

export { App, type OnceOptions } from "./app.js";
export { BaseClient } from "./client.js";
export type { CallOptions } from "./connection.js";
export type { Decision } from "./decisions.js";
export * from "./errors.js";
export type { EventKind } from "./event_kinds.js";
export { isLogged, isTerminal } from "./event_kinds.js";
export { type Approval, ApprovalKind, ApprovalState } from "./gen/clew/v1/approval_pb.js";
export { type Checkpoint, CheckpointSource, CheckpointStatus } from "./gen/clew/v1/checkpoint_pb.js";
export { FailureCode } from "./gen/clew/v1/error_pb.js";
export type { Event } from "./gen/clew/v1/event_pb.js";
export { type Message, type Part, Role, ToolOutcome, type Usage } from "./gen/clew/v1/message_pb.js";
export { RunState, type Thread as ThreadInfo } from "./gen/clew/v1/thread_pb.js";
export type { JsonObject, JsonValue } from "./json_text.js";
export type { ToolFunction, ToolOptions } from "./offered_tools.js";
export type { BusyOptions, Limits, OnBusy, RunOptions, WriteOptions } from "./options.js";
export type { Reply } from "./replies.js";
export type { Input, SendOptions } from "./requests.js";
export { type ApprovalOptions, type ApproveOptions, type CancelOptions, Runs, type WatchOptions } from "./runs.js";
export type { ClientOptions, Tls, Token } from "./settings.js";
export { EventStream } from "./streams.js";
export { type CopyOptions, type MessagesOptions, Thread, type UpdateStateOptions } from "./thread.js";
export { type ToolCall, ToolContent, ToolError, type ToolErrorOptions } from "./tool_calls.js";
export { type DrainOptions, Worker, type WorkerOptions } from "./worker.js";
