package dev.clew.errors;

/** A field is missing or out of range. */
public final class ArgumentInvalidException extends InvalidException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ArgumentInvalidException(Refusal refusal) {
    super(refusal);
  }
}
