package dev.clew;

import dev.clew.errors.IdInvalidException;
import dev.clew.errors.Refusal;
import dev.clew.v1.Approval;
import dev.clew.v1.CancelRunRequest;
import dev.clew.v1.Checkpoint;
import dev.clew.v1.CopyThreadRequest;
import dev.clew.v1.DecideRequest;
import dev.clew.v1.Decision;
import dev.clew.v1.DeleteThreadRequest;
import dev.clew.v1.GetStateRequest;
import dev.clew.v1.GetThreadRequest;
import dev.clew.v1.ListCheckpointsRequest;
import dev.clew.v1.ListCheckpointsResponse;
import dev.clew.v1.ListMessagesRequest;
import dev.clew.v1.ListMessagesResponse;
import dev.clew.v1.Message;
import dev.clew.v1.ResumeRequest;
import dev.clew.v1.RetryRequest;
import dev.clew.v1.RewindRequest;
import dev.clew.v1.Thread;
import dev.clew.v1.UpdateStateRequest;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * A thread by its id. It holds names only: make one per request, anywhere; two on one id are the
 * same thread. The thread itself is made by its first send or run.
 *
 * <p>Verbs that run give a stream: of its events one after the other, or with {@link
 * EventStream#reply()} of the reply alone. The others wait for their answer. All of them throw a
 * {@link dev.clew.errors.ClewException} for what is refused.
 */
public final class ThreadHandle {
  private static final Duration BUSY = Duration.ofSeconds(60);
  private static final int CHECKPOINT_PAGE = 200;
  private static final int MESSAGE_PAGE = 500;

  private final Connection connection;
  private final String id;
  private final String app;
  private final String actor;

  ThreadHandle(Connection connection, String id, String app, String actor) {
    if (id.isEmpty()) {
      // Said here, since a request without one is a run without a thread: the server would take it,
      // and keep nothing.
      String text = "thread_id: an id is needed: 1 to 128 characters";
      throw new IdInvalidException(Refusal.of("id_invalid", text, Map.of("field", "thread_id")));
    }
    this.connection = connection;
    this.id = Text.checked(id, "thread_id");
    this.app = app;
    this.actor = actor;
  }

  /** The thread's id. */
  public String id() {
    return id;
  }

  /**
   * The same thread, used on someone's behalf: what is done is recorded under this name, of up to
   * 256 bytes.
   */
  public ThreadHandle actingFor(String actor) {
    return new ThreadHandle(connection, id, app, actor);
  }

  /** Sends a user's text, and runs the turn. */
  public EventStream send(String text) {
    return send(text, AttemptOptions.DEFAULT);
  }

  /** Sends a user's text, and runs the turn. */
  public EventStream send(String text, AttemptOptions options) {
    return send(Input.text(text), options);
  }

  /** Sends a message of several parts, or with state, and runs the turn. */
  public EventStream send(Input input) {
    return send(input, AttemptOptions.DEFAULT);
  }

  /** Sends a message of several parts, or with state, and runs the turn. */
  public EventStream send(Input input, AttemptOptions options) {
    Frame frame = Frame.of(id, actor, options);
    return attempt(frame, Request.of(Sending.request(frame, app, input)));
  }

  /** Starts a workflow with a JSON object of state keys. */
  public EventStream run(String valuesJson) {
    return run(valuesJson, AttemptOptions.DEFAULT);
  }

  /** Starts a workflow with a JSON object of state keys. */
  public EventStream run(String valuesJson, AttemptOptions options) {
    return send(Input.values(valuesJson), options);
  }

  /**
   * Decides approvals, all or none, and goes on when nothing is left to decide. {@link Decisions}
   * makes them.
   */
  public EventStream decide(Collection<Decision> decisions) {
    return decide(decisions, AttemptOptions.DEFAULT);
  }

  /**
   * Decides approvals, all or none, and goes on when nothing is left to decide. {@link Decisions}
   * makes them.
   */
  public EventStream decide(Collection<Decision> decisions, AttemptOptions options) {
    Frame frame = Frame.of(id, actor, options);
    return attempt(frame, Request.of(deciding(frame, decisions, frame.expectedVersion())));
  }

  /** Approves tool calls; without ids all that the thread waits for. */
  public EventStream approve(String... approvalIds) {
    return approve(List.of(approvalIds), AttemptOptions.DEFAULT);
  }

  /** Approves tool calls; without ids all that the thread waits for. */
  public EventStream approve(Collection<String> approvalIds, AttemptOptions options) {
    return decideEach(approvalIds, Decisions::approve, options);
  }

  /**
   * Approves tool calls with other arguments, a JSON object; without ids all that the thread waits
   * for.
   */
  public EventStream approve(
      Collection<String> approvalIds, String argumentsJson, AttemptOptions options) {
    return decideEach(approvalIds, each -> Decisions.approve(each, argumentsJson), options);
  }

  /**
   * Rejects tool calls and pauses; without ids all that the thread waits for. The model reads the
   * reason.
   */
  public EventStream reject(String reason, String... approvalIds) {
    return reject(reason, List.of(approvalIds), AttemptOptions.DEFAULT);
  }

  /**
   * Rejects tool calls and pauses; without ids all that the thread waits for. The model reads the
   * reason.
   */
  public EventStream reject(String reason, Collection<String> approvalIds, AttemptOptions options) {
    return decideEach(approvalIds, each -> Decisions.reject(each, reason), options);
  }

  /** Answers the one pause that the thread waits with: a JSON value that its schema allows. */
  public EventStream resume(String valueJson) {
    return resume(valueJson, AttemptOptions.DEFAULT);
  }

  /** Answers the one pause that the thread waits with: a JSON value that its schema allows. */
  public EventStream resume(String valueJson, AttemptOptions options) {
    Frame frame = Frame.of(id, actor, options);
    ResumeRequest.Builder request =
        ResumeRequest.newBuilder()
            .setThreadId(id)
            .setValueJson(Text.json(valueJson, "value_json"))
            .setRequestId(frame.requestId())
            .setOptions(frame.options());
    frame.expectedVersion().ifPresent(request::setExpectedVersion);
    return attempt(frame, Request.of(request.build()));
  }

  /**
   * Continues a failed, cancelled or interrupted run where it stopped. Tool calls that were
   * finished are not run again.
   */
  public EventStream retry() {
    return retry(AttemptOptions.DEFAULT);
  }

  /**
   * Continues a failed, cancelled or interrupted run where it stopped. Tool calls that were
   * finished are not run again.
   */
  public EventStream retry(AttemptOptions options) {
    Frame frame = Frame.of(id, actor, options);
    RetryRequest.Builder request =
        RetryRequest.newBuilder()
            .setThreadId(id)
            .setRequestId(frame.requestId())
            .setOptions(frame.options());
    frame.expectedVersion().ifPresent(request::setExpectedVersion);
    return attempt(frame, Request.of(request.build()));
  }

  /**
   * What is in the thread's log, from its beginning, and what happens until the thread is at rest.
   */
  public EventStream watch() {
    return watch(WatchOptions.DEFAULT);
  }

  /** What is in the thread's log, and what happens. */
  public EventStream watch(WatchOptions options) {
    return new EventStream(new Watch(connection, id, options));
  }

  /** The conversation, from its beginning. */
  public List<Message> messages() {
    return messages(MessageQuery.ALL);
  }

  /** Messages of the conversation. */
  public List<Message> messages(MessageQuery query) {
    return Paging.all(
        query.limit(),
        MESSAGE_PAGE,
        (size, token) -> {
          ListMessagesRequest request =
              query.request().toBuilder()
                  .setThreadId(id)
                  .setPageSize(size)
                  .setPageToken(token)
                  .build();
          ListMessagesResponse page =
              connection.ask(() -> connection.threads().listMessages(request));
          return new Paging.Page<>(page.getMessagesList(), page.getNextPageToken());
        });
  }

  /**
   * The state as it stands: a JSON object, without the conversation and the engine's own values.
   */
  public String state() {
    return state("");
  }

  /** The state as of a checkpoint. */
  public String state(String checkpointId) {
    GetStateRequest request =
        GetStateRequest.newBuilder().setThreadId(id).setCheckpointId(checkpointId).build();
    String json =
        connection.ask(() -> connection.threads().getState(request)).getStateJson().toStringUtf8();
    return json.isEmpty() ? "{}" : json;
  }

  /** The newest checkpoints of the present line, newest first: at most so many, and at least 1. */
  public List<Checkpoint> history(int limit) {
    return Paging.all(
        Paging.checked(limit),
        CHECKPOINT_PAGE,
        (size, token) -> {
          ListCheckpointsRequest request =
              ListCheckpointsRequest.newBuilder()
                  .setThreadId(id)
                  .setPageSize(size)
                  .setPageToken(token)
                  .build();
          ListCheckpointsResponse page =
              connection.ask(() -> connection.checkpoints().listCheckpoints(request));
          return new Paging.Page<>(page.getCheckpointsList(), page.getNextPageToken());
        });
  }

  /** How the thread stands, and whether anyone works on it. */
  public Thread info() {
    GetThreadRequest request = GetThreadRequest.newBuilder().setThreadId(id).build();
    return connection.ask(() -> connection.threads().getThread(request)).getThread();
  }

  /** What the thread waits for. */
  public List<Approval> approvals() {
    return Inbox.waiting(connection, id);
  }

  /**
   * Puts the top-level values of a JSON object into the state, and gives the new head. Makes the
   * thread where there is none.
   */
  public Checkpoint updateState(String valuesJson) {
    return updateState(StateChange.merge(valuesJson), WriteOptions.DEFAULT);
  }

  /** Changes the state, and gives the new head. Makes the thread where there is none. */
  public Checkpoint updateState(StateChange change, WriteOptions options) {
    UpdateStateRequest.Builder request =
        change.request().toBuilder()
            .setThreadId(id)
            .setApp(app)
            .setRequestId(options.requestId())
            .setOnBusy(options.onBusy())
            .setForce(options.force())
            .setActor(actor);
    options.expectedVersion().ifPresent(request::setExpectedVersion);
    options.busyTimeout().map(Times::wire).ifPresent(request::setBusyTimeout);
    return connection
        .ask(
            () ->
                connection
                    .threads()
                    .withDeadlineAfter(patience(options), TimeUnit.NANOSECONDS)
                    .updateState(request.build()))
        .getCheckpoint();
  }

  /**
   * Makes an older checkpoint the head again, and gives the checkpoint that says so. Nothing is
   * erased.
   */
  public Checkpoint rewind(String checkpointId) {
    return rewind(checkpointId, WriteOptions.DEFAULT);
  }

  /**
   * Makes an older checkpoint the head again, and gives the checkpoint that says so. Nothing is
   * erased.
   */
  public Checkpoint rewind(String checkpointId, WriteOptions options) {
    RewindRequest.Builder request =
        RewindRequest.newBuilder()
            .setThreadId(id)
            .setCheckpointId(checkpointId)
            .setRequestId(options.requestId())
            .setOnBusy(options.onBusy())
            .setActor(actor);
    options.expectedVersion().ifPresent(request::setExpectedVersion);
    options.busyTimeout().map(Times::wire).ifPresent(request::setBusyTimeout);
    return connection
        .ask(
            () ->
                connection
                    .checkpoints()
                    .withDeadlineAfter(patience(options), TimeUnit.NANOSECONDS)
                    .rewind(request.build()))
        .getCheckpoint();
  }

  /** Copies the thread to a new one that owns all it has, and gives the handle on that. */
  public ThreadHandle copy(String targetId) {
    return copy(targetId, "", WriteOptions.DEFAULT);
  }

  /**
   * Copies the thread, up to a checkpoint, to a new one that owns all it has.
   *
   * @param checkpointId the last checkpoint to take; empty for the head
   * @param options the expected version and the request id; a copy waits for nobody
   * @return the handle on the copy
   */
  public ThreadHandle copy(String targetId, String checkpointId, WriteOptions options) {
    CopyThreadRequest.Builder request =
        CopyThreadRequest.newBuilder()
            .setThreadId(id)
            .setTargetThreadId(targetId)
            .setCheckpointId(checkpointId)
            .setRequestId(options.requestId());
    options.expectedVersion().ifPresent(request::setExpectedVersion);
    connection.ask(() -> connection.threads().copyThread(request.build()));
    return new ThreadHandle(connection, targetId, app, actor);
  }

  /**
   * Cancels the newest run, and gives the head when that is written. Retry continues what was
   * cancelled.
   */
  public Checkpoint cancel() {
    return cancel("", WriteOptions.DEFAULT);
  }

  /**
   * Cancels a run, and gives the head when that is written.
   *
   * @param runId the run; where the newest is another one, nothing happens and the call is refused.
   *     Empty: the newest
   * @param options the expected version and the request id; a cancel waits for nobody
   */
  public Checkpoint cancel(String runId, WriteOptions options) {
    CancelRunRequest.Builder request =
        CancelRunRequest.newBuilder()
            .setThreadId(id)
            .setRunId(runId)
            .setRequestId(options.requestId())
            .setActor(actor);
    options.expectedVersion().ifPresent(request::setExpectedVersion);
    return connection.ask(() -> connection.runs().cancelRun(request.build())).getCheckpoint();
  }

  /** Deletes the thread and all that belongs to it, for good; whether it existed. */
  public boolean delete() {
    return delete(WriteOptions.DEFAULT);
  }

  /**
   * Deletes the thread and all that belongs to it, for good; whether it existed.
   *
   * @param options the expected version and the request id; a delete waits for nobody
   */
  public boolean delete(WriteOptions options) {
    DeleteThreadRequest.Builder request =
        DeleteThreadRequest.newBuilder().setThreadId(id).setRequestId(options.requestId());
    options.expectedVersion().ifPresent(request::setExpectedVersion);
    return connection.ask(() -> connection.threads().deleteThread(request.build())).getExisted();
  }

  @Override
  public String toString() {
    return "ThreadHandle(" + id + ", app=" + app + ")";
  }

  private EventStream attempt(Frame frame, Request<?, ?> request) {
    return new EventStream(new Attempt(connection, frame, () -> request));
  }

  private EventStream decideEach(
      Collection<String> approvalIds, Function<String, Decision> decide, AttemptOptions options) {
    Frame frame = Frame.of(id, actor, options);
    Supplier<Request<?, ?>> asked =
        () -> {
          if (!approvalIds.isEmpty()) {
            List<Decision> decisions = approvalIds.stream().map(decide).toList();
            return Request.of(deciding(frame, decisions, frame.expectedVersion()));
          }
          Inbox.Pending pending = Inbox.pending(connection, id);
          List<Decision> decisions = pending.ids().stream().map(decide).toList();
          OptionalLong readAt = OptionalLong.of(pending.version());
          boolean given = frame.expectedVersion().isPresent();
          return Request.of(deciding(frame, decisions, given ? frame.expectedVersion() : readAt));
        };
    return new EventStream(new Attempt(connection, frame, asked));
  }

  private static DecideRequest deciding(
      Frame frame, Collection<Decision> decisions, OptionalLong expectedVersion) {
    DecideRequest.Builder request =
        DecideRequest.newBuilder()
            .setThreadId(frame.threadId())
            .addAllDecisions(decisions)
            .setRequestId(frame.requestId())
            .setOptions(frame.options());
    expectedVersion.ifPresent(request::setExpectedVersion);
    return request.build();
  }

  /** How long a write that waits for its turn may take, in nanoseconds. */
  private long patience(WriteOptions options) {
    return Nanos.of(connection.settings().timeout().plus(options.busyTimeout().orElse(BUSY)));
  }
}
