package dev.clew;

import dev.clew.errors.Refusal;
import dev.clew.errors.ResumeInvalidException;
import dev.clew.errors.ThreadNotFoundException;
import dev.clew.v1.Approval;
import dev.clew.v1.ListApprovalsRequest;
import dev.clew.v1.ListApprovalsResponse;
import java.util.List;
import java.util.Map;

/** What threads wait for. */
final class Inbox {
  private static final int PAGE = 200;

  /** All that a thread waits for, and the version that it was read at. */
  record Pending(List<String> ids, long version) {}

  private Inbox() {}

  /** What a thread waits for now. */
  static List<Approval> waiting(Connection connection, String threadId) {
    return Paging.all(
        Integer.MAX_VALUE,
        PAGE,
        (size, token) -> {
          ListApprovalsResponse page = page(connection, threadId, size, token);
          return new Paging.Page<>(page.getApprovalsList(), page.getNextPageToken());
        });
  }

  /** What there is to decide on a thread at once. Throws what deciding nothing is refused with. */
  static Pending pending(Connection connection, String threadId) {
    long[] version = {0};
    List<String> ids;
    try {
      ids =
          Paging.all(
              Integer.MAX_VALUE,
              PAGE,
              (size, token) -> {
                ListApprovalsResponse page = page(connection, threadId, size, token);
                // Of the first page: what was read before something changed cannot be decided as if
                // it had been read after.
                version[0] = token.isEmpty() ? page.getVersion() : version[0];
                List<String> some = page.getApprovalsList().stream().map(Approval::getId).toList();
                return new Paging.Page<>(some, page.getNextPageToken());
              });
    } catch (ThreadNotFoundException nobody) {
      throw nothing(threadId);
    }
    if (ids.isEmpty()) {
      throw nothing(threadId);
    }
    return new Pending(ids, version[0]);
  }

  private static ListApprovalsResponse page(
      Connection connection, String threadId, int size, String token) {
    ListApprovalsRequest request =
        ListApprovalsRequest.newBuilder()
            .setThreadId(threadId)
            .setPageSize(size)
            .setPageToken(token)
            .build();
    return connection.ask(() -> connection.approvals().listApprovals(request));
  }

  private static ResumeInvalidException nothing(String threadId) {
    String text = "thread " + threadId + " waits for no decision";
    return new ResumeInvalidException(
        Refusal.of("resume_invalid", text, Map.of("thread_id", threadId)));
  }
}
