package dev.clew.errors;

/** No credential, or not a valid one. */
public final class UnauthenticatedException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public UnauthenticatedException(Refusal refusal) {
    super(refusal);
  }
}
