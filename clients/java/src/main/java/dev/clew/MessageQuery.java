package dev.clew;

import dev.clew.v1.ListMessagesRequest;
import dev.clew.v1.MessageOrder;

/** Which messages of a thread to read. Immutable: each method gives another one. */
public final class MessageQuery {
  /** All of them, from the beginning, without what models thought. */
  public static final MessageQuery ALL =
      new MessageQuery(ListMessagesRequest.getDefaultInstance(), Integer.MAX_VALUE);

  private final ListMessagesRequest request;
  private final int limit;

  private MessageQuery(ListMessagesRequest request, int limit) {
    this.request = request;
    this.limit = limit;
  }

  /** Only messages that have all of these words, whatever their case and accents. */
  public MessageQuery withSearch(String words) {
    return new MessageQuery(request.toBuilder().setSearch(words).build(), limit);
  }

  /** From the end of the conversation. */
  public MessageQuery newestFirst() {
    MessageOrder order = MessageOrder.MESSAGE_ORDER_NEWEST_FIRST;
    return new MessageQuery(request.toBuilder().setOrder(order).build(), limit);
  }

  /** At most so many, and at least 1. */
  public MessageQuery withLimit(int most) {
    return new MessageQuery(request, Paging.checked(most));
  }

  /** What models thought as well. */
  public MessageQuery withReasoning() {
    return new MessageQuery(request.toBuilder().setIncludeReasoning(true).build(), limit);
  }

  ListMessagesRequest request() {
    return request;
  }

  int limit() {
    return limit;
  }
}
