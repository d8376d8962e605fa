package dev.clew.errors;

/** An id breaks the rule for ids. */
public final class IdInvalidException extends InvalidException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public IdInvalidException(Refusal refusal) {
    super(refusal);
  }
}
