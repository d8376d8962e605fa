package dev.clew.errors;

/**
 * The thread waits for people: approve, reject or decide first. {@link #approvalIds()} has what it
 * waits for.
 */
public final class ThreadSuspendedException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ThreadSuspendedException(Refusal refusal) {
    super(refusal);
  }
}
