package dev.clew;

import dev.clew.v1.WorkRequest;
import java.util.function.Consumer;

/** Which calls a worker takes. Immutable: each method gives another one. */
public final class WorkerOptions {
  /** Ten calls at a time, of all threads, under a name that is left to chance. */
  public static final WorkerOptions DEFAULT = new WorkerOptions(WorkRequest.getDefaultInstance());

  private final WorkRequest request;

  private WorkerOptions(WorkRequest request) {
    this.request = request;
  }

  /** The worker's name for itself: another one for each process. */
  public WorkerOptions withId(String id) {
    String checked = Text.checked(id, "worker_id");
    return asking(work -> work.setWorkerId(checked));
  }

  /** How many calls it takes at a time over all its tools, 1 to 1,000; 0 for 10. */
  public WorkerOptions withMaxCalls(int calls) {
    return asking(work -> work.setMaxCalls(calls));
  }

  /** Takes the calls of this thread alone. */
  public WorkerOptions withThreadId(String id) {
    String checked = Text.checked(id, "thread_id");
    return asking(work -> work.setThreadId(checked));
  }

  WorkRequest request() {
    return request;
  }

  private WorkerOptions asking(Consumer<WorkRequest.Builder> change) {
    WorkRequest.Builder changed = request.toBuilder();
    change.accept(changed);
    return new WorkerOptions(changed.build());
  }
}
