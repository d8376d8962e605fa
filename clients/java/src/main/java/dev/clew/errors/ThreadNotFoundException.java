package dev.clew.errors;

/** No such thread, or it was deleted meanwhile. */
public final class ThreadNotFoundException extends NotFoundException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public ThreadNotFoundException(Refusal refusal) {
    super(refusal);
  }
}
