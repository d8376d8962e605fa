package dev.clew.errors;

/** The thread is not as the caller expected it; read it again and decide anew. */
public final class VersionConflictException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public VersionConflictException(Refusal refusal) {
    super(refusal);
  }
}
