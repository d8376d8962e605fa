package dev.clew.golden;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import dev.clew.Client;
import dev.clew.EventStream;
import dev.clew.errors.ClewException;
import dev.clew.errors.StreamLeftException;
import dev.clew.v1.Event;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Does with the client what lines say, side by side, and tells what came of it. */
public final class GoldenDriver {
  private static final Gson GSON =
      new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

  private final PrintStream out;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<Integer, EventStream> streams = new ConcurrentHashMap<>();
  private final Map<Integer, Gate> gates = new ConcurrentHashMap<>();
  private volatile Client client;

  private GoldenDriver(String target, PrintStream out) {
    this.client = Client.create(target);
    this.out = out;
  }

  /** The target is the argument; or {@code worker}, a target and a ledger. */
  public static void main(String[] args) throws IOException {
    if (args[0].equals("worker")) {
      // A signal may come before the worker runs: the JVM waits for the end of this method, too.
      Thread program = Thread.currentThread();
      Runtime.getRuntime().addShutdownHook(new Thread(() -> awaitEnd(program)));
      new LedgerWorker(Path.of(args[2])).run(args[1]);
    } else {
      PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
      new GoldenDriver(args[0], out).run();
    }
    // What is under way is given up, as by a program that dies.
    Runtime.getRuntime().halt(0);
  }

  private static void awaitEnd(Thread program) {
    try {
      program.join();
    } catch (InterruptedException hurry) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Told told = new Told(JsonParser.parseString(line).getAsJsonObject());
      if (told.op().equals("connect")) {
        connect(told);
      } else {
        begin(told);
      }
    }
  }

  /** What can be left or held is there before the next line is read. */
  private void begin(Told told) {
    try {
      EventStream stream = Verbs.stream(client, told);
      if (stream != null) {
        streams.put(told.id(), stream);
        gates.put(told.id(), new Gate());
      }
      threads.execute(() -> outcome(told, stream));
    } catch (ClewException refused) {
      say(told, "error", Values.error(refused));
    }
  }

  private void outcome(Told told, EventStream stream) {
    try {
      if (stream != null) {
        tell(told, stream);
      } else {
        say(told, "result", result(told));
      }
    } catch (StreamLeftException left) {
      say(told, "left", new JsonPrimitive(true));
    } catch (ClewException failed) {
      say(told, "error", Values.error(failed));
    }
  }

  private void tell(Told told, EventStream stream) {
    for (Event event : stream) {
      say(told, "event", Values.bytes(event));
      gates.get(told.id()).pass();
    }
    if (told.op().equals("watch")) {
      say(told, "result", JsonNull.INSTANCE);
    } else {
      say(told, "reply", Values.reply(stream.reply()));
    }
  }

  private JsonElement result(Told told) {
    switch (told.op()) {
      case "leave" -> streams.get(told.of()).close();
      case "hold" -> gates.get(told.of()).close();
      case "read_on" -> gates.get(told.of()).open();
      default -> {
        return Verbs.result(client, told);
      }
    }
    return JsonNull.INSTANCE;
  }

  private void connect(Told told) {
    Client.Builder builder = Client.builder().target(told.text("target", ""));
    JsonObject times = told.object("times");
    for (String name : times.keySet()) {
      Duration time = Told.seconds(times.get(name));
      switch (name) {
        case "timeout" -> builder.timeout(time);
        case "connect_timeout" -> builder.connectTimeout(time);
        case "rejoin_timeout" -> builder.rejoinTimeout(time);
        case "leave_timeout" -> builder.leaveTimeout(time);
        default -> throw new IllegalArgumentException(name);
      }
    }
    client = builder.build();
    say(told, "result", JsonNull.INSTANCE);
  }

  private void say(Told told, String what, JsonElement value) {
    JsonObject line = new JsonObject();
    line.addProperty("id", told.id());
    line.add(what, value);
    String text = GSON.toJson(line);
    synchronized (out) {
      out.print(text + "\n");
      out.flush();
    }
  }
}
