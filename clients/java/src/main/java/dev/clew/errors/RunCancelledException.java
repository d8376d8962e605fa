package dev.clew.errors;

/**
 * The run, or the call, was cancelled. A run that was cancelled is saved, and retry continues it;
 * its id is the metadata's {@code run_id}.
 */
public final class RunCancelledException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public RunCancelledException(Refusal refusal) {
    super(refusal);
  }
}
