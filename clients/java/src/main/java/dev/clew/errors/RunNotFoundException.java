package dev.clew.errors;

/** The thread has no such run, or a newer one. */
public final class RunNotFoundException extends NotFoundException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public RunNotFoundException(Refusal refusal) {
    super(refusal);
  }
}
