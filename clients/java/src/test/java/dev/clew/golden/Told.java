package dev.clew.golden;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** One line of what a driver is told. */
record Told(JsonObject line) {
  int id() {
    return line.get("id").getAsInt();
  }

  /** The stream that it is about. */
  int of() {
    return line.get("of").getAsInt();
  }

  String op() {
    return text("op", "");
  }

  boolean has(String name) {
    return line.has(name) && !line.get(name).isJsonNull();
  }

  String text(String name, String otherwise) {
    return has(name) ? line.get(name).getAsString() : otherwise;
  }

  long whole(String name, long otherwise) {
    return has(name) ? line.get(name).getAsLong() : otherwise;
  }

  boolean flag(String name) {
    return has(name) && line.get(name).getAsBoolean();
  }

  Duration time(String name) {
    return seconds(line.get(name));
  }

  JsonObject object(String name) {
    return has(name) ? line.getAsJsonObject(name) : new JsonObject();
  }

  List<String> texts(String name) {
    List<String> found = new ArrayList<>();
    if (has(name)) {
      line.getAsJsonArray(name).forEach(each -> found.add(each.getAsString()));
    }
    return found;
  }

  List<JsonObject> objects(String name) {
    List<JsonObject> found = new ArrayList<>();
    if (has(name)) {
      line.getAsJsonArray(name).forEach(each -> found.add(each.getAsJsonObject()));
    }
    return found;
  }

  static Duration seconds(JsonElement seconds) {
    return Duration.ofNanos(seconds.getAsBigDecimal().multiply(BigDecimal.TEN.pow(9)).longValue());
  }
}
