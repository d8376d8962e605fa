package dev.clew.errors;

/** State, or another JSON value, is not acceptable. */
public final class StateInvalidException extends InvalidException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public StateInvalidException(Refusal refusal) {
    super(refusal);
  }
}
