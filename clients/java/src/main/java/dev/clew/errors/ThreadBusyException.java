package dev.clew.errors;

/**
 * Another run or write holds the thread; nothing happened. {@link #retryAfter()} says when to try
 * again, where the server knows it.
 */
public final class ThreadBusyException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ThreadBusyException(Refusal refusal) {
    super(refusal);
  }
}
