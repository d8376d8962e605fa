package dev.clew.errors;

/**
 * The call's time was over. What was asked may have happened, and a run that has started goes on.
 */
public final class DeadlineExceededException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public DeadlineExceededException(Refusal refusal) {
    super(refusal);
  }
}
