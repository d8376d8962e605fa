package dev.clew.errors;

/** A quota of the caller is used up. */
public final class QuotaExceededException extends ExhaustedException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public QuotaExceededException(Refusal refusal) {
    super(refusal);
  }
}
