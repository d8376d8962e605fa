package dev.clew.errors;

/** The thread has no such message on its present line. */
public final class MessageNotFoundException extends NotFoundException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public MessageNotFoundException(Refusal refusal) {
    super(refusal);
  }
}
