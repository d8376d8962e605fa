package dev.clew.errors;

/** A result came for a call that does not wait for one. */
public final class CallNotPendingException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public CallNotPendingException(Refusal refusal) {
    super(refusal);
  }
}
