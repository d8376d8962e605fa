package dev.clew;

/** What a tool does. */
@FunctionalInterface
public interface ToolFunction {
  /**
   * Runs one call. Its thread is interrupted when the result is not wanted any more.
   *
   * @return what the model reads; null is the JSON value {@code null}
   * @throws ToolException to say, for the model to read, what was wrong
   * @throws Exception whatever else went wrong: the model reads its class and message, and the call
   *     is tried again while the tool has tries left
   */
  ToolOutput run(ToolCall call) throws Exception;
}
