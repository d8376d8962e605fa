package dev.clew;

/** An agent or workflow that the server runs, by its name. */
public final class AppHandle {
  private final Connection connection;
  private final String name;

  AppHandle(Connection connection, String name) {
    this.connection = connection;
    this.name = Text.checked(name, "app");
  }

  /** Its name. */
  public String name() {
    return name;
  }

  /**
   * A handle on a thread of this app. The id has 1 to 128 characters: letters, digits and {@code
   * -._~!$&'()*+,;=:@}.
   */
  public ThreadHandle thread(String id) {
    return new ThreadHandle(connection, id, name, "");
  }

  /**
   * Runs the app once without a thread: nothing is kept, and leaving the stream, or its breaking,
   * cancels the run.
   */
  public EventStream runOnce(Input input, AttemptOptions options) {
    Frame frame = Frame.of("", "", options);
    Request<?, ?> request = Request.of(Sending.request(frame, name, input));
    return new EventStream(new Attempt(connection, frame, () -> request));
  }

  @Override
  public String toString() {
    return "AppHandle(" + name + ")";
  }
}
