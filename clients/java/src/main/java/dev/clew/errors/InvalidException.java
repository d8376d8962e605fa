package dev.clew.errors;

/**
 * The request breaks a rule, and never succeeds as it is. {@link #field()} names what breaks it.
 */
public class InvalidException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public InvalidException(Refusal refusal) {
    super(refusal);
  }

  /** The field that breaks the rule, as the contract names it; empty where that is not known. */
  public String field() {
    return metadata().getOrDefault("field", "");
  }
}
