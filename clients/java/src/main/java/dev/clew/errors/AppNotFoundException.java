package dev.clew.errors;

/** The server serves no such app. */
public final class AppNotFoundException extends NotFoundException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public AppNotFoundException(Refusal refusal) {
    super(refusal);
  }
}
