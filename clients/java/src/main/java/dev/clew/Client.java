package dev.clew;

import dev.clew.errors.ClewException;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannelBuilder;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A server, reached over gRPC; where a program begins. One client serves any number of threads. It
 * connects when it is first used, and is closed when it is needed no more.
 */
public final class Client implements AutoCloseable {
  private final Connection connection;
  private final Optional<ExecutorService> own;

  private Client(Builder builder) {
    Settings settings = builder.settings();
    own = builder.executor == null ? Optional.of(ownThreads()) : Optional.empty();
    connection = new Connection(settings, own.map(Executor.class::cast).orElse(builder.executor));
  }

  /**
   * A client of the server that the environment's {@code CLEW_TARGET} names, or of {@code
   * localhost:50051}, with the defaults of {@link Builder}.
   */
  public static Client create() {
    return builder().build();
  }

  /** A client of the server at {@code HOST:PORT}, with the defaults of {@link Builder}. */
  public static Client create(String target) {
    return builder().target(target).build();
  }

  /** Begins a client that is set up in other ways. */
  public static Builder builder() {
    return new Builder();
  }

  /** A handle on an agent or workflow. */
  public AppHandle app(String name) {
    return new AppHandle(connection, name);
  }

  /** A handle on a thread, whatever its app is. */
  public ThreadHandle thread(String id) {
    return new ThreadHandle(connection, id, "", "");
  }

  /** A worker that runs tools for agents, ten calls at a time. */
  public Worker worker() {
    return worker(WorkerOptions.DEFAULT);
  }

  /** A worker that runs tools for agents. */
  public Worker worker(WorkerOptions options) {
    return new Worker(connection, options.request());
  }

  /**
   * What the stubs of {@code dev.clew.v1} are made with, for all that the handles do not do: with
   * the client's token and retries, and its timeout for calls that answer once and have no
   * deadline. {@link #exceptionOf} says what these calls throw in the client's words.
   */
  public Channel channel() {
    return connection.channel();
  }

  /** What a stub over {@link #channel()} threw, as the exception that a handle throws for it. */
  public ClewException exceptionOf(StatusRuntimeException thrown) {
    return connection.errorOf(thrown);
  }

  /**
   * Leaves the streams that are open, as each of them does when it is closed, ends the workers,
   * whose calls are left to their leases, and lets the connection go.
   */
  @Override
  public void close() {
    connection.close();
    own.ifPresent(ExecutorService::shutdown);
  }

  @Override
  public String toString() {
    return "Client(" + connection.settings().target() + ")";
  }

  private static ExecutorService ownThreads() {
    ThreadFactory factory =
        work -> {
          Thread thread = new Thread(work, "clew-client");
          thread.setDaemon(true);
          return thread;
        };
    return Executors.newCachedThreadPool(factory);
  }

  /** How a client reaches its server, and how long it tries. */
  public static final class Builder {
    private static final Duration SILENCE = Duration.ofSeconds(60);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);

    private String target = Target.ofEnvironment();
    private ChannelCredentials credentials = InsecureChannelCredentials.create();
    private Supplier<String> token;
    private boolean insecureToken;
    private Duration timeout = Duration.ofSeconds(30);
    private Duration connectTimeout = Duration.ofSeconds(5);
    private Duration rejoinTimeout = Duration.ofSeconds(60);
    private Duration leaveTimeout = Duration.ofSeconds(15);
    private Executor executor;
    private Consumer<ManagedChannelBuilder<?>> more = channel -> {};

    private Builder() {}

    /**
     * Where the server is: {@code HOST:PORT}. By default what {@code CLEW_TARGET} names, or {@code
     * localhost:50051}.
     */
    public Builder target(String target) {
      this.target = target;
      return this;
    }

    /** Encrypts, and trusts the system's root certificates. */
    public Builder tls() {
      return tls(TlsChannelCredentials.create());
    }

    /**
     * Encrypts, with roots and a client's certificate of one's own: {@link
     * TlsChannelCredentials#newBuilder()} makes them.
     */
    public Builder tls(ChannelCredentials credentials) {
      this.credentials = credentials;
      return this;
    }

    /** Sent as a bearer token with every call. Without TLS it is refused but to this machine. */
    public Builder token(String token) {
      return token(() -> token);
    }

    /** Asked for a bearer token for each call. Without TLS it is refused but to this machine. */
    public Builder token(Supplier<String> token) {
      this.token = token;
      return this;
    }

    /**
     * Sends the token without encryption, also beyond this machine, where anyone on the way can
     * read it.
     */
    public Builder insecureToken() {
      this.insecureToken = true;
      return this;
    }

    /**
     * How long a call that answers once may take: 30 s by default. Streams have a limit only where
     * they are given one.
     */
    public Builder timeout(Duration time) {
      this.timeout = checked("timeout", time);
      return this;
    }

    /** How long to try for before a server that was never heard is given up: 5 s by default. */
    public Builder connectTimeout(Duration time) {
      this.connectTimeout = checked("connect_timeout", time);
      return this;
    }

    /** How long to try for before a stream that broke is given up: 60 s by default. */
    public Builder rejoinTimeout(Duration time) {
      this.rejoinTimeout = checked("rejoin_timeout", time);
      return this;
    }

    /** How long to wait for a run to be cancelled when its stream is left: 15 s by default. */
    public Builder leaveTimeout(Duration time) {
      this.leaveTimeout = checked("leave_timeout", time);
      return this;
    }

    /**
     * Whose threads read for {@link EventStream#replyAsync()}, and run the tools of workers, one
     * for each call: they block, so virtual ones do well. By default as many of the client's own as
     * are needed.
     */
    public Builder executor(Executor executor) {
      this.executor = executor;
      return this;
    }

    /** Sets what else gRPC lets be set: a proxy, interceptors, a user agent. */
    public Builder channel(Consumer<ManagedChannelBuilder<?>> more) {
      this.more = more;
      return this;
    }

    /**
     * The client. It does not connect yet.
     *
     * @throws dev.clew.errors.ArgumentInvalidException for a token that anyone on the way could
     *     read
     */
    public Client build() {
      boolean plain = credentials instanceof InsecureChannelCredentials;
      if (token != null && plain && !insecureToken && !Target.isLocal(target)) {
        throw Refusals.argument(
            "token",
            "without encryption anyone on the way to "
                + target
                + " can read it: give tls(), or insecureToken() to send it all the same");
      }
      return new Client(this);
    }

    private Settings settings() {
      return new Settings(
          target,
          credentials,
          token,
          timeout,
          connectTimeout,
          rejoinTimeout,
          leaveTimeout,
          SILENCE,
          FIRST_PAUSE,
          LONGEST_PAUSE,
          more);
    }

    private static Duration checked(String name, Duration time) {
      if (time.isNegative()) {
        throw Refusals.argument(name, "a time is not negative");
      }
      return time;
    }
  }
}
