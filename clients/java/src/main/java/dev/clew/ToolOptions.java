package dev.clew;

import dev.clew.v1.WorkerTool;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * What a worker says of a tool; what the app says of it holds. Immutable: each method gives another
 * one.
 */
public final class ToolOptions {
  /** Any object as arguments, as many calls as the worker takes, and one try. */
  public static final ToolOptions DEFAULT = new ToolOptions(WorkerTool.getDefaultInstance());

  private final WorkerTool offer;

  private ToolOptions(WorkerTool offer) {
    this.offer = offer;
  }

  /** What the model is told of it; up to 4 KiB. */
  public ToolOptions withDescription(String description) {
    String checked = Text.checked(description, "description");
    return offering(tool -> tool.setDescription(checked));
  }

  /**
   * The JSON schema of its arguments, as text; up to 64 KiB. The server checks arguments against
   * it.
   */
  public ToolOptions withParameters(String schemaJson) {
    String checked = Text.checked(schemaJson, "parameters");
    return offering(tool -> tool.setParametersSchemaJson(checked));
  }

  /**
   * A call runs at most once: it is never started again by itself when its result is not known, nor
   * tried again.
   */
  public ToolOptions withOnce() {
    return offering(tool -> tool.setOnce(true));
  }

  /**
   * How long a call may take, over all its tries.
   *
   * @throws dev.clew.errors.ArgumentInvalidException for a time that is not over 0
   */
  public ToolOptions withTimeout(Duration time) {
    if (time.isNegative() || time.isZero()) {
      throw Refusals.argument("timeout", "a time over 0 is due here; leave it out for none");
    }
    return offering(tool -> tool.setTimeout(Times.wire(time)));
  }

  /** How many of its calls run at a time; 0 for as many as the worker takes at all. */
  public ToolOptions withMaxCalls(int calls) {
    return offering(tool -> tool.setMaxCalls(calls));
  }

  /** How often a call is tried that fails with an error that is retryable: 1 to 100. */
  public ToolOptions withMaxTries(int tries) {
    return offering(tool -> tool.setMaxTries(tries));
  }

  WorkerTool offer(String name) {
    return offer.toBuilder().setName(name).build();
  }

  private ToolOptions offering(Consumer<WorkerTool.Builder> change) {
    WorkerTool.Builder changed = offer.toBuilder();
    change.accept(changed);
    return new ToolOptions(changed.build());
  }
}
