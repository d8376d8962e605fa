package dev.clew.golden;

import com.google.gson.JsonObject;
import dev.clew.Client;
import dev.clew.ToolCall;
import dev.clew.ToolOptions;
import dev.clew.ToolOutput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.ThreadLocalRandom;

/** The worker that fault tests kill: writes down what it runs, before and after. */
record LedgerWorker(Path ledger) {
  private static final ToolOptions ANY =
      ToolOptions.DEFAULT.withParameters("{\"type\":\"object\"}");

  /** Runs `fetch` and `charge` until the process is asked to stop. */
  void run(String target) {
    try (Client client = Client.create(target)) {
      client
          .worker()
          .tool("fetch", ANY, this::enter)
          .tool("charge", ANY.withOnce(), this::enter)
          .runUntilStopped();
    }
  }

  private ToolOutput enter(ToolCall call) throws IOException, InterruptedException {
    append(call, "started", "");
    String most = System.getenv().getOrDefault("CLEW_FAULTS_WORK_S", "0.01");
    Thread.sleep(
        (long) (1000 * Double.parseDouble(most) * ThreadLocalRandom.current().nextDouble()));
    String token = String.format("%016x", ThreadLocalRandom.current().nextLong());
    append(call, "done", token);
    return ToolOutput.text(token);
  }

  private void append(ToolCall call, String phase, String token) throws IOException {
    JsonObject entry = new JsonObject();
    entry.addProperty("phase", phase);
    entry.addProperty("tool", call.tool());
    entry.addProperty("run", call.runId());
    entry.addProperty("call", call.toolCallId());
    entry.addProperty("key", call.idempotencyKey());
    entry.addProperty("pid", ProcessHandle.current().pid());
    entry.addProperty("token", token);
    byte[] line = (entry + "\n").getBytes(StandardCharsets.UTF_8);
    try (FileChannel file =
        FileChannel.open(ledger, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      file.write(ByteBuffer.wrap(line));
      file.force(true);
    }
  }
}
