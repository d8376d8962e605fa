package dev.clew.errors;

/** Another server took the thread over; what had been acknowledged is kept. */
public final class LeaseLostException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public LeaseLostException(Refusal refusal) {
    super(refusal);
  }
}
