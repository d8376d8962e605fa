package dev.clew.errors;

/**
 * The server ended a stream that was in good order, and it could not be joined again. The
 * metadata's {@code version} is the cursor to watch from.
 */
public final class StreamCutException extends UnavailableException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public StreamCutException(Refusal refusal) {
    super(refusal);
  }
}
