package dev.clew.errors;

/**
 * The stream was left while it was read: closed by another thread, or its reader was interrupted
 * (the thread is so still).
 */
public final class StreamLeftException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public StreamLeftException(Refusal refusal) {
    super(refusal);
  }
}
