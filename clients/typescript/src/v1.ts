/**
 * The contract, as it is: its messages, enums and services, to be called over a client's connection (`client.stub(CacheService)`).
 *
 * @packageDocumentation
 */

export * from "./gen/clew/v1/app_pb.js";
export * from "./gen/clew/v1/app_service_pb.js";
export * from "./gen/clew/v1/approval_pb.js";
export * from "./gen/clew/v1/approval_service_pb.js";
export * from "./gen/clew/v1/cache_service_pb.js";
export * from "./gen/clew/v1/checkpoint_pb.js";
export * from "./gen/clew/v1/checkpoint_service_pb.js";
export * from "./gen/clew/v1/error_pb.js";
export * from "./gen/clew/v1/event_pb.js";
export * from "./gen/clew/v1/message_pb.js";
export * from "./gen/clew/v1/run_pb.js";
export * from "./gen/clew/v1/run_service_pb.js";
export * from "./gen/clew/v1/thread_pb.js";
export * from "./gen/clew/v1/thread_service_pb.js";
export * from "./gen/clew/v1/worker_pb.js";
export * from "./gen/clew/v1/worker_service_pb.js";
