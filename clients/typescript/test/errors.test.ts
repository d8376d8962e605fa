/** Every code of the contract is an error of its own. */

import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { ERROR_CLASSES } from "../src/error_classes.js";
import { NotFoundError } from "../src/errors.js";
import { ErrorReason } from "../src/gen/clew/v1/error_pb.js";
import { RetryInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import { ClewError, RunCancelledError, UnavailableError } from "../src/node.js";
import { errorOf, isBreak } from "../src/refusals.js";
import { refusal } from "./scripted.js";

const reasons = Object.values(ErrorReason).filter((each): each is string => typeof each === "string");

test.each(reasons.filter((each) => each !== "UNSPECIFIED"))("%s has a class of its own", (reason) => {
  const error = errorOf(refusal(Code.Unknown, reason, "so it is", { thread_id: "t-1" }), "there");
  expect(error).toMatchObject({ code: reason.toLowerCase(), message: "so it is", metadata: { thread_id: "t-1" } });
  expect(error.constructor).not.toBe(ClewError);
  expect((error.constructor as typeof ClewError).CODE).toBe(reason.toLowerCase());
});

test("no two classes have the same code", () => {
  expect(new Set(ERROR_CLASSES.map((each) => each.CODE)).size).toBe(ERROR_CLASSES.length);
});

test("a reason that is not known keeps its code and is treated by its status", () => {
  const error = errorOf(refusal(Code.NotFound, "SOMETHING_NEW", "new"), "there");
  expect(error).toBeInstanceOf(NotFoundError);
  expect(error.code).toBe("something_new");
});

test("without a reason the code is the status", () => {
  const codeOf = (code: Code) => errorOf(new ConnectError("words", code), "there").code;
  expect(codeOf(Code.Unavailable)).toBe("unavailable");
  expect(codeOf(Code.DeadlineExceeded)).toBe("deadline_exceeded");
  expect(codeOf(Code.Canceled)).toBe("cancelled");
  expect(codeOf(Code.DataLoss)).toBe("data_loss");
  expect(codeOf(Code.FailedPrecondition)).toBe("failed_precondition");
  const error = errorOf(new ConnectError("words", Code.Unavailable), "there");
  expect(error).toBeInstanceOf(UnavailableError);
  expect(error.message).toContain("there");
  expect(error.metadata["transport"]).toBe("words");
  expect(errorOf(new ConnectError("", Code.Canceled), "there")).toBeInstanceOf(RunCancelledError);
});

test("a refusal says how long to wait, where the server knows it", () => {
  const refused = refusal(Code.Aborted, "THREAD_BUSY");
  refused.details.push({ desc: RetryInfoSchema, value: { retryDelay: { seconds: 1n, nanos: 500_000_000 } } });
  expect(errorOf(refused, "there").retryAfterMs).toBe(1_500);
});

test("a break is what no server decided, or what passes", () => {
  expect(isBreak(new ConnectError("", Code.Internal))).toBe(true);
  expect(isBreak(new ConnectError("", Code.DeadlineExceeded))).toBe(false);
  expect(isBreak(refusal(Code.Unavailable, "STORAGE_UNAVAILABLE"))).toBe(true);
  expect(isBreak(refusal(Code.Unavailable, "STORAGE_UNAVAILABLE", "no", { access: "read_only" }))).toBe(false);
  expect(isBreak(refusal(Code.Aborted, "LEASE_LOST"))).toBe(true);
  expect(isBreak(refusal(Code.Internal, "INTERNAL"))).toBe(false);
});

test("an error about approvals has their ids", () => {
  const error = errorOf(refusal(Code.FailedPrecondition, "THREAD_SUSPENDED", "no", { approval_ids: "a,b" }), "there");
  expect(error.approvalIds).toEqual(["a", "b"]);
});
