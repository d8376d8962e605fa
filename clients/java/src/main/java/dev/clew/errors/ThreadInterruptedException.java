package dev.clew.errors;

/** The thread's last run ended without a word, as in a crash: retry continues it. */
public final class ThreadInterruptedException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ThreadInterruptedException(Refusal refusal) {
    super(refusal);
  }
}
