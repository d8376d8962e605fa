/** All that a thread waits for, to be decided at once. */

import type { CallOptions, Connection } from "./connection.js";
import {
  type ClewError,
  ResumeInvalidError,
  ThreadInterruptedError,
  ThreadNotFoundError,
  VersionConflictError,
} from "./errors.js";
import type { Approval } from "./gen/clew/v1/approval_pb.js";
import { RunState } from "./gen/clew/v1/thread_pb.js";

/** The approvals that a thread waits for. */
export async function waitingApprovals(
  connection: Connection,
  threadId: string,
  options?: CallOptions,
): Promise<Approval[]> {
  return (await listed(connection, threadId, options)).approvals;
}

/**
 * The ids of the approvals that a thread waits for, and the version that they were read at. Throws what deciding nothing would be refused with.
 *
 * A thread without any that is not at the expected version is refused for that, as the server does where there are some.
 */
export async function pendingIds(
  connection: Connection,
  threadId: string,
  expected: bigint | undefined,
): Promise<{ ids: string[]; version: bigint }> {
  try {
    const { approvals, version } = await listed(connection, threadId);
    if (approvals.length === 0) {
      throw await whyNothingWaits(connection, threadId, expected);
    }
    return { ids: approvals.map((each) => each.id), version };
  } catch (error) {
    if (error instanceof ThreadNotFoundError) {
      throw elsewhere(threadId, expected, 0n) ?? nothing(threadId);
    }
    throw error;
  }
}

async function listed(
  connection: Connection,
  threadId: string,
  options?: CallOptions,
): Promise<{ approvals: Approval[]; version: bigint }> {
  const approvals: Approval[] = [];
  let version = 0n;
  let pageToken = "";
  do {
    const page = await connection.ask(connection.approvals.listApprovals, { threadId, pageToken }, options);
    approvals.push(...page.approvals);
    version ||= page.version;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return { approvals, version };
}

async function whyNothingWaits(
  connection: Connection,
  threadId: string,
  expected: bigint | undefined,
): Promise<ClewError> {
  const { thread } = await connection.ask(connection.threads.getThread, { threadId });
  const conflict = elsewhere(threadId, expected, thread?.version ?? 0n);
  if (conflict !== undefined) {
    return conflict;
  }
  if (thread?.run?.state === RunState.INTERRUPTED) {
    const { runId } = thread.run;
    return new ThreadInterruptedError(`run ${runId} of thread ${threadId} was interrupted; retry continues it`, {
      metadata: { run_id: runId },
    });
  }
  return nothing(threadId);
}

function elsewhere(threadId: string, expected: bigint | undefined, version: bigint): ClewError | undefined {
  if (expected === undefined || expected === version) {
    return undefined;
  }
  return new VersionConflictError(
    `thread ${threadId} is at version ${version}, not at ${expected}; read it again and decide anew`,
    { metadata: { thread_id: threadId, expected_version: String(expected), version: String(version) } },
  );
}

function nothing(threadId: string): ClewError {
  return new ResumeInvalidError(`thread ${threadId} waits for no decision`, { metadata: { thread_id: threadId } });
}
