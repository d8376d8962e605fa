package dev.clew.errors;

/** What was read is not what was written. */
public final class DataCorruptException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public DataCorruptException(Refusal refusal) {
    super(refusal);
  }
}
