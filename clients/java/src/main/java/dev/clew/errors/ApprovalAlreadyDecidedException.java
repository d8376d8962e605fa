package dev.clew.errors;

/** Someone else decided first. */
public final class ApprovalAlreadyDecidedException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ApprovalAlreadyDecidedException(Refusal refusal) {
    super(refusal);
  }
}
