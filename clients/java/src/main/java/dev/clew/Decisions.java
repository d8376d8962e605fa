package dev.clew;

import dev.clew.v1.Decision;

/** What a person decides on an approval: each of these makes the contract's message. */
public final class Decisions {
  private Decisions() {}

  /** Lets a tool call run as asked. */
  public static Decision approve(String approvalId) {
    Decision.Builder decision = of(approvalId);
    decision.getApproveBuilder();
    return decision.build();
  }

  /** Lets a tool call run with other arguments: a JSON object that the tool's schema allows. */
  public static Decision approve(String approvalId, String argumentsJson) {
    String field = "decisions.approve.arguments_json";
    Decision.Builder decision = of(approvalId);
    decision.getApproveBuilder().setArgumentsJson(Text.json(argumentsJson, field));
    return decision.build();
  }

  /**
   * Keeps a tool call from running, or leaves a pause without an answer. The model reads the
   * reason, up to 4 KiB.
   */
  public static Decision reject(String approvalId, String reason) {
    Decision.Builder decision = of(approvalId);
    decision.getRejectBuilder().setReason(Text.checked(reason, "decisions.reject.reason"));
    return decision.build();
  }

  /** Gives a pause its value: JSON that its schema allows. */
  public static Decision answer(String approvalId, String valueJson) {
    return of(approvalId).setValueJson(Text.json(valueJson, "decisions.value_json")).build();
  }

  /** Starts a call whose outcome is not known again, knowing that it may have taken effect. */
  public static Decision runAgain(String approvalId) {
    Decision.Builder decision = of(approvalId);
    decision.getOutcomeBuilder().getRunAgainBuilder();
    return decision.build();
  }

  /**
   * Says that a call whose outcome is not known took effect, and what its result is: a JSON value.
   */
  public static Decision result(String approvalId, String resultJson) {
    String field = "decisions.outcome.result_json";
    Decision.Builder decision = of(approvalId);
    decision.getOutcomeBuilder().setResultJson(Text.json(resultJson, field));
    return decision.build();
  }

  /**
   * Says that a call whose outcome is not known failed. The model reads the reason, up to 4 KiB.
   */
  public static Decision fail(String approvalId, String reason) {
    Decision.Builder decision = of(approvalId);
    decision.getOutcomeBuilder().setFail(Text.checked(reason, "decisions.outcome.fail"));
    return decision.build();
  }

  private static Decision.Builder of(String approvalId) {
    return Decision.newBuilder().setApprovalId(approvalId);
  }
}
