package dev.clew;

import com.google.protobuf.ByteString;
import dev.clew.errors.Refusal;
import dev.clew.errors.StateInvalidException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * Text that is sent: protobuf would put a question mark in the place of half a surrogate pair, and
 * say nothing.
 */
final class Text {
  private Text() {}

  /** What people say. */
  static String checked(String text, String field) {
    if (!isWhole(text)) {
      throw Refusals.argument(field, "text with half of a surrogate pair");
    }
    return text;
  }

  /** A user's JSON. Whether it is JSON is the server's to say. */
  static String json(String json, String field) {
    if (!isWhole(json)) {
      String text = field + ": text with half of a surrogate pair";
      throw new StateInvalidException(Refusal.of("state_invalid", text, Map.of("field", field)));
    }
    return json;
  }

  /** A user's JSON, where it travels as bytes. */
  static ByteString jsonBytes(String json, String field) {
    return ByteString.copyFromUtf8(json(json, field));
  }

  private static boolean isWhole(String text) {
    return StandardCharsets.UTF_8.newEncoder().canEncode(text);
  }
}
