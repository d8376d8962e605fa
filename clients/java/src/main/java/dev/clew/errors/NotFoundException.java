package dev.clew.errors;

/** What was named is not there, or not the caller's. */
public class NotFoundException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public NotFoundException(Refusal refusal) {
    super(refusal);
  }
}
