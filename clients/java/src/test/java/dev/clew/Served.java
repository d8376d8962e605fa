package dev.clew;

import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** A server of its own process: the one that {@code clew.program} names. */
final class Served implements AutoCloseable {
  private final Process process;
  private final String address;

  private Served(Process process, String address) {
    this.process = process;
    this.address = address;
  }

  /** Serves the agents of a file on any port. */
  static Served of(Path agents, Path database) throws IOException {
    return of(agents, database, 0);
  }

  /** Serves the agents of a file, with short leases of calls. */
  static Served of(Path agents, Path database, int port) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
            System.getProperty("clew.program", "../../.venv/bin/clew"),
            "serve",
            agents.toAbsolutePath().normalize().toString(),
            "--json",
            "--port",
            Integer.toString(port),
            "--storage",
            "sqlite://" + database);
    builder.environment().put("CLEW_CALL_LEASE", "0.5");
    Process process = builder.redirectError(new File("target/server.log")).start();
    BufferedReader said =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    return new Served(
        process,
        JsonParser.parseString(said.readLine()).getAsJsonObject().get("address").getAsString());
  }

  String address() {
    return address;
  }

  int port() {
    return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
  }

  /** Kills it. */
  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
