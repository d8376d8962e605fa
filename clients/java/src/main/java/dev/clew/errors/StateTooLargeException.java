package dev.clew.errors;

/** State or a message over its limit. */
public final class StateTooLargeException extends ExhaustedException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public StateTooLargeException(Refusal refusal) {
    super(refusal);
  }
}
