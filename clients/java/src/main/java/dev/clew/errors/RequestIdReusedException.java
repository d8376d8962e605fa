package dev.clew.errors;

/** The request id was used before for a request with another content. */
public final class RequestIdReusedException extends ClewException {
  private static final long serialVersionUID = 1L;

  /** Stands for a refusal. */
  public RequestIdReusedException(Refusal refusal) {
    super(refusal);
  }
}
