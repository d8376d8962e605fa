package dev.clew.golden;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import dev.clew.AttemptOptions;
import dev.clew.Client;
import dev.clew.Decisions;
import dev.clew.EventStream;
import dev.clew.Input;
import dev.clew.MessageQuery;
import dev.clew.StateChange;
import dev.clew.ThreadHandle;
import dev.clew.WatchOptions;
import dev.clew.WriteOptions;
import dev.clew.v1.BusyPolicy;
import dev.clew.v1.Decision;
import java.util.Locale;

/** From what a line says to the client's method. */
final class Verbs {
  private Verbs() {}

  /** The stream that is asked for; null where the line asks for another call. */
  static EventStream stream(Client client, Told told) {
    return switch (told.op()) {
      case "send" -> thread(client, told).send(input(told), options(told));
      case "run" -> thread(client, told).run(told.text("values", "{}"), options(told));
      case "decide" ->
          thread(client, told)
              .decide(
                  told.objects("decisions").stream().map(Verbs::decision).toList(), options(told));
      case "approve" -> approve(thread(client, told), told);
      case "reject" ->
          thread(client, told).reject(told.text("reason", ""), told.texts("ids"), options(told));
      case "resume" -> thread(client, told).resume(told.text("value", "null"), options(told));
      case "retry" -> thread(client, told).retry(options(told));
      case "watch" -> thread(client, told).watch(watching(told));
      default -> null;
    };
  }

  /** What another call gives. */
  static JsonElement result(Client client, Told told) {
    ThreadHandle thread = thread(client, told);
    return switch (told.op()) {
      case "messages" -> Values.bytes(thread.messages(query(told)));
      case "state" -> new JsonPrimitive(thread.state(told.text("checkpoint", "")));
      case "history" -> Values.bytes(thread.history((int) told.whole("limit", Integer.MAX_VALUE)));
      case "rewind" -> Values.bytes(thread.rewind(told.text("checkpoint", "")));
      case "copy" -> new JsonPrimitive(thread.copy(told.text("to", "")).id());
      case "cancel" -> Values.bytes(thread.cancel(told.text("run_id", ""), WriteOptions.DEFAULT));
      case "info" -> Values.bytes(thread.info());
      case "approvals" -> Values.bytes(thread.approvals());
      case "update_state" ->
          Values.bytes(
              thread.updateState(
                  StateChange.merge(told.text("values", "{}"))
                      .withoutKeys(told.texts("remove_keys")),
                  WriteOptions.DEFAULT));
      case "delete" -> new JsonPrimitive(thread.delete());
      default -> throw new IllegalArgumentException(told.op());
    };
  }

  private static ThreadHandle thread(Client client, Told told) {
    return client.app(told.text("app", "")).thread(told.text("thread", ""));
  }

  private static EventStream approve(ThreadHandle thread, Told told) {
    return told.has("arguments")
        ? thread.approve(told.texts("ids"), told.text("arguments", ""), options(told))
        : thread.approve(told.texts("ids"), options(told));
  }

  private static Input input(Told told) {
    Input input = Input.text(told.text("text", ""));
    input = told.has("state") ? input.withState(told.text("state", "")) : input;
    return told.has("user_id") ? input.withUserId(told.text("user_id", "")) : input;
  }

  private static AttemptOptions options(Told told) {
    AttemptOptions options = AttemptOptions.DEFAULT.withRequestId(told.text("request_id", ""));
    if (told.has("on_busy")) {
      String policy = "BUSY_POLICY_" + told.text("on_busy", "").toUpperCase(Locale.ROOT);
      options = options.withOnBusy(BusyPolicy.valueOf(policy));
    }
    if (told.has("busy_timeout")) {
      options = options.withBusyTimeout(told.time("busy_timeout"));
    }
    if (told.has("expected_version")) {
      options = options.withExpectedVersion(told.whole("expected_version", 0));
    }
    if (told.has("timeout")) {
      options = options.withTimeout(told.time("timeout"));
    }
    JsonObject limits = told.object("limits");
    for (String name : limits.keySet()) {
      JsonElement limit = limits.get(name);
      options =
          switch (name) {
            case "steps" -> options.withMaxSteps(limit.getAsInt());
            case "tokens" -> options.withMaxTokens(limit.getAsLong());
            case "seconds" -> options.withMaxDuration(Told.seconds(limit));
            case "tool_seconds" -> options.withToolTimeout(Told.seconds(limit));
            default -> throw new IllegalArgumentException(name);
          };
    }
    return options;
  }

  private static WatchOptions watching(Told told) {
    WatchOptions options =
        WatchOptions.DEFAULT
            .withAfterVersion(told.whole("after_version", 0))
            .withRunId(told.text("run_id", ""));
    options = told.flag("follow") ? options.withFollow() : options;
    return told.has("timeout") ? options.withTimeout(told.time("timeout")) : options;
  }

  private static MessageQuery query(Told told) {
    MessageQuery query = MessageQuery.ALL.withSearch(told.text("search", ""));
    query = told.text("order", "").equals("newest_first") ? query.newestFirst() : query;
    return told.has("limit") ? query.withLimit((int) told.whole("limit", 1)) : query;
  }

  private static Decision decision(JsonObject told) {
    String id = told.get("id").getAsString();
    String choice =
        told.keySet().stream().filter(name -> !name.equals("id")).findFirst().orElseThrow();
    String value = told.get(choice).getAsString();
    return switch (choice) {
      case "approve" -> Decisions.approve(id);
      case "arguments" -> Decisions.approve(id, value);
      case "reject" -> Decisions.reject(id, value);
      case "value" -> Decisions.answer(id, value);
      case "run_again" -> Decisions.runAgain(id);
      case "result" -> Decisions.result(id, value);
      case "fail" -> Decisions.fail(id, value);
      default -> throw new IllegalArgumentException(choice);
    };
  }
}
