package dev.clew.errors;

/** Too large, too many, or no room. */
public class ExhaustedException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ExhaustedException(Refusal refusal) {
    super(refusal);
  }
}
