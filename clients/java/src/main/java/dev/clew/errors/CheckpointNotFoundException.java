package dev.clew.errors;

/** The thread has no such checkpoint. */
public final class CheckpointNotFoundException extends NotFoundException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public CheckpointNotFoundException(Refusal refusal) {
    super(refusal);
  }
}
