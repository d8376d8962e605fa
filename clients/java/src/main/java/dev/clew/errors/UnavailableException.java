package dev.clew.errors;

/**
 * The server cannot be reached, or not just now. What was asked may have happened: repeat it with
 * the same request id.
 */
public class UnavailableException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public UnavailableException(Refusal refusal) {
    super(refusal);
  }
}
