package dev.clew.errors;

/**
 * Something that was not foreseen; the metadata's {@code incident_id} finds its cause in the
 * server's log.
 */
public final class InternalException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public InternalException(Refusal refusal) {
    super(refusal);
  }
}
