package dev.clew.errors;

/** The server's database cannot be reached, or does not accept writes. */
public final class StorageUnavailableException extends UnavailableException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public StorageUnavailableException(Refusal refusal) {
    super(refusal);
  }
}
