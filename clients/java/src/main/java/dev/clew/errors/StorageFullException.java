package dev.clew.errors;

/** The database has no room; reading still works. */
public final class StorageFullException extends ExhaustedException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public StorageFullException(Refusal refusal) {
    super(refusal);
  }
}
