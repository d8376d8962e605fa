package dev.clew.golden;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import com.google.protobuf.Message;
import dev.clew.Reply;
import dev.clew.errors.ClewException;
import dev.clew.errors.RunFailedException;
import dev.clew.v1.Usage;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/** What the client gives, as a driver tells it. */
final class Values {
  private Values() {}

  /** A message of the contract. */
  static JsonElement bytes(Message message) {
    return new JsonPrimitive(Base64.getEncoder().encodeToString(message.toByteArray()));
  }

  static JsonElement bytes(List<? extends Message> messages) {
    JsonArray told = new JsonArray();
    messages.forEach(message -> told.add(bytes(message)));
    return told;
  }

  static JsonElement reply(Reply reply) {
    JsonObject told = new JsonObject();
    told.addProperty("status", reply.status().name().toLowerCase(Locale.ROOT));
    told.addProperty("text", reply.text());
    told.addProperty("thread_id", reply.threadId());
    told.addProperty("thread_uid", reply.threadUid());
    told.addProperty("run_id", reply.runId());
    told.addProperty("version", reply.version());
    told.addProperty("message_id", reply.messageId());
    told.add("message", reply.message().map(Values::bytes).orElse(JsonNull.INSTANCE));
    told.add("approvals", bytes(reply.approvals()));
    told.add("usage", usage(reply.usage()));
    told.addProperty("steps", reply.steps());
    return told;
  }

  static JsonElement error(ClewException error) {
    JsonObject told = new JsonObject();
    told.addProperty("code", error.code());
    told.addProperty("message", error.getMessage());
    JsonObject metadata = new JsonObject();
    error.metadata().forEach(metadata::addProperty);
    told.add("metadata", metadata);
    error.retryAfter().ifPresent(wait -> told.addProperty("retry_after", wait.toNanos() / 1e9));
    if (error instanceof RunFailedException failed) {
      told.addProperty("failure_code", failed.failureCode());
      told.addProperty("retryable", failed.retryable());
    }
    return told;
  }

  private static JsonElement usage(Usage usage) {
    JsonObject told = new JsonObject();
    told.addProperty("input_tokens", usage.getInputTokens());
    told.addProperty("output_tokens", usage.getOutputTokens());
    told.addProperty("cached_input_tokens", usage.getCachedInputTokens());
    told.addProperty("cache_write_tokens", usage.getCacheWriteTokens());
    told.addProperty("reasoning_tokens", usage.getReasoningTokens());
    return told;
  }
}
