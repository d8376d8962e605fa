package dev.clew;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a server is. */
final class Target {
  private static final String VARIABLE = "CLEW_TARGET";
  private static final String DEFAULT = "localhost:50051";
  // `dns:///host:port`, `[::1]:50051`, `127.0.0.1`
  private static final Pattern HOST =
      Pattern.compile("(?:dns:)?/*(?:\\[([^\\]]*)\\].*|([^:]*)(?::[^:]*)?)");
  // What is read as an address, and not asked of a name server.
  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

  private Target() {}

  /** What the environment names, or the server on this machine. */
  static String ofEnvironment() {
    return Optional.ofNullable(System.getenv(VARIABLE))
        .filter(named -> !named.isEmpty())
        .orElse(DEFAULT);
  }

  /** Whether nothing leaves this machine on the way there. */
  static boolean isLocal(String target) {
    if (target.startsWith("unix:")) {
      return true;
    }
    Matcher found = HOST.matcher(target);
    if (!found.matches()) {
      return false;
    }
    String host = Optional.ofNullable(found.group(1)).orElse(found.group(2));
    return host.equals("localhost") || isLoopback(host);
  }

  private static boolean isLoopback(String host) {
    try {
      return ADDRESS.matcher(host).matches() && InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException nonsense) {
      return false;
    }
  }
}
