package dev.clew.errors;

/** No such approval, or it belongs to another thread. */
public final class ApprovalNotFoundException extends NotFoundException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ApprovalNotFoundException(Refusal refusal) {
    super(refusal);
  }
}
