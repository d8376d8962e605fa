package dev.clew;

import dev.clew.v1.WorkerCall;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Consumer;

/** The call that a tool is being run for. */
public final class ToolCall {
  private final WorkerCall wire;
  private final Consumer<String> report;

  ToolCall(WorkerCall wire, Consumer<String> report) {
    this.wire = wire;
    this.report = report;
  }

  /** A JSON object that the tool's schema allows, as text. */
  public String argumentsJson() {
    return wire.getArgumentsJson().isEmpty() ? "{}" : wire.getArgumentsJson();
  }

  /** The tool's name. */
  public String tool() {
    return wire.getTool();
  }

  /** The thread that asked for it. */
  public String threadId() {
    return wire.getName().getThreadId();
  }

  /** The run that asked for it. */
  public String runId() {
    return wire.getRunId();
  }

  /** The call's id in the transcript. */
  public String toolCallId() {
    return wire.getToolCallId();
  }

  /** The same for every try of this call: hand it to whatever has the effect. */
  public String idempotencyKey() {
    return wire.getName().getIdempotencyKey();
  }

  /** On whose behalf the run was started. */
  public String actor() {
    return wire.getActor();
  }

  /** How often the call was given to a worker, from 1. */
  public int delivery() {
    return wire.getDelivery();
  }

  /** When its time is over; empty where it has no limit. */
  public Optional<Instant> deadline() {
    return wire.hasExpireTime()
        ? Optional.of(
            Instant.ofEpochSecond(
                wire.getExpireTime().getSeconds(), wire.getExpireTime().getNanos()))
        : Optional.empty();
  }

  /**
   * Tells those who watch the thread how far the call is: any JSON value, as text, up to 64 KiB.
   * What cannot be told just now is dropped.
   */
  public void report(String progressJson) {
    report.accept(Text.json(progressJson, "progress"));
  }

  @Override
  public String toString() {
    return "ToolCall(" + tool() + ", " + idempotencyKey() + ")";
  }
}
