package dev.clew.errors;

import dev.clew.v1.RunFailed;

/** The run ended as failed, and is saved. */
public final class RunFailedException extends ClewException {
  private static final long serialVersionUID = 1L;

  private final String failureCode;
  private final String runId;
  private final RunFailed failed;

  /** Stands for the failure of a run, as its last event told it. */
  public RunFailedException(Refusal refusal, String failureCode, String runId, RunFailed failed) {
    super(refusal);
    this.failureCode = failureCode;
    this.runId = runId;
    this.failed = failed;
  }

  /**
   * Why it failed: {@code model_unavailable}, {@code limit_exceeded}, …; empty for a code that this
   * version does not know.
   */
  public String failureCode() {
    return failureCode;
  }

  /** Whether retry may succeed without anything else being changed. */
  public boolean retryable() {
    return failed.getRetryable();
  }

  /** The run. */
  public String runId() {
    return runId;
  }

  /**
   * All that was told of the failure: what the models used so far, and for a run without a thread
   * its snapshot.
   */
  public RunFailed failed() {
    return failed;
  }
}
