package dev.clew.errors;

/** The credential does not allow this. */
public final class PermissionDeniedException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public PermissionDeniedException(Refusal refusal) {
    super(refusal);
  }
}
