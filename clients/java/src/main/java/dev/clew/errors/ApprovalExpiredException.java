package dev.clew.errors;

/** The approval's time was over; it counts as rejected. */
public final class ApprovalExpiredException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ApprovalExpiredException(Refusal refusal) {
    super(refusal);
  }
}
