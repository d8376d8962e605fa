package dev.clew.errors;

/** There is nothing here that the call could continue. */
public final class ResumeInvalidException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ResumeInvalidException(Refusal refusal) {
    super(refusal);
  }
}
