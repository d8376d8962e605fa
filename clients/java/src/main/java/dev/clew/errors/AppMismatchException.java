package dev.clew.errors;

/** The thread belongs to another app, that of its first send. */
public final class AppMismatchException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public AppMismatchException(Refusal refusal) {
    super(refusal);
  }
}
