package dev.clew;

import dev.clew.v1.CheckpointSource;
import dev.clew.v1.CheckpointWritten;
import dev.clew.v1.Event;
import dev.clew.v1.Message;
import dev.clew.v1.MessageDiscarded;
import dev.clew.v1.NodeMessage;
import dev.clew.v1.ReasoningDelta;
import dev.clew.v1.Role;
import dev.clew.v1.TextDelta;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The streamed text that a reader was shown and no checkpoint has confirmed, in bytes of UTF-8:
 * nothing of it is shown twice, and none is left out.
 */
final class ShownText {
  private enum Kind {
    TEXT,
    REASONING
  }

  private record Place(Kind kind, String messageId, int index) {}

  /** Either sort of delta. */
  private record Delta(Place place, long offset, String text) {
    static Delta of(Event event) {
      if (event.hasTextDelta()) {
        TextDelta delta = event.getTextDelta();
        Place place = new Place(Kind.TEXT, delta.getMessageId(), delta.getPartIndex());
        return new Delta(place, delta.getOffset(), delta.getText());
      }
      ReasoningDelta delta = event.getReasoningDelta();
      Place place = new Place(Kind.REASONING, delta.getMessageId(), delta.getPartIndex());
      return new Delta(place, delta.getOffset(), delta.getText());
    }
  }

  private final boolean complete;
  private final Map<Place, Long> shown = new HashMap<>();
  private final Set<String> settled = new HashSet<>();
  private final Set<String> doubtful = new TreeSet<>();
  private boolean joined;

  /**
   * @param complete whether the reader is owed the text of every message, also of one that it saw
   *     nothing of
   */
  ShownText(boolean complete) {
    this.complete = complete;
  }

  /**
   * Another connection carries the stream from here on: what was shown is in doubt until it comes
   * again, or is written.
   */
  void join() {
    joined = true;
    doubtful.clear();
    shown.keySet().forEach(place -> doubtful.add(place.messageId()));
  }

  /** The event as the reader needs it: less what it has, and after what it missed. */
  List<Event> show(Event event) {
    List<Event> given = new ArrayList<>();
    switch (event.getPayloadCase()) {
      case TEXT_DELTA, REASONING_DELTA -> {
        grow(event, given);
        return given;
      }
      case CHECKPOINT_WRITTEN -> settle(event, given);
      case RUN_SUSPENDED, RUN_COMPLETED, RUN_FAILED -> voidDoubtful(event, null, given);
      case RUN_STARTED -> forgetAll();
      case MESSAGE_DISCARDED -> forget(event.getMessageDiscarded().getMessageId());
      default -> {}
    }
    given.add(event);
    return given;
  }

  private void grow(Event event, List<Event> given) {
    Delta delta = Delta.of(event);
    Place place = delta.place();
    if (settled.contains(place.messageId())) {
      return;
    }
    doubtful.remove(place.messageId());
    if (indexes(place.kind(), place.messageId()).isEmpty()) {
      // Agents inside nodes talk side by side: a new message says nothing of those of other nodes.
      voidDoubtful(event, path(place.messageId()), given);
    }
    byte[] text = delta.text().getBytes(StandardCharsets.UTF_8);
    long known = Math.max(0, shown.getOrDefault(place, 0L) - delta.offset());
    if (known > 0 && known >= text.length) {
      return;
    }
    shown.put(place, delta.offset() + text.length);
    given.add(known == 0 ? event : less(event, text, (int) known));
  }

  private static Event less(Event event, byte[] text, int known) {
    String rest = from(text, known);
    Event.Builder cut = event.toBuilder();
    if (event.hasTextDelta()) {
      TextDelta delta = event.getTextDelta();
      cut.getTextDeltaBuilder().setOffset(delta.getOffset() + known).setText(rest);
    } else {
      ReasoningDelta delta = event.getReasoningDelta();
      cut.getReasoningDeltaBuilder().setOffset(delta.getOffset() + known).setText(rest);
    }
    return cut.build();
  }

  private void settle(Event event, List<Event> given) {
    CheckpointWritten written = event.getCheckpointWritten();
    CheckpointSource source = written.getCheckpoint().getSource();
    if (source == CheckpointSource.CHECKPOINT_SOURCE_FORK) {
      forgetAll();
      return;
    }
    if (source == CheckpointSource.CHECKPOINT_SOURCE_UPDATE) {
      // Nobody says what was added or edited from outside: it is no text of a stream.
      return;
    }
    List<Message> messages = new ArrayList<>(written.getMessagesList());
    written.getNodeMessagesList().stream().map(NodeMessage::getMessage).forEach(messages::add);
    for (Message message : messages) {
      // A watch through another server than the run's may have had no more than a beginning.
      boolean begun = !indexes(Kind.TEXT, message.getId()).isEmpty();
      if ((joined || begun) && message.getRole() == Role.ROLE_ASSISTANT) {
        restOf(event, message, given);
      }
      forget(message.getId());
    }
  }

  private void restOf(Event event, Message message, List<Event> given) {
    List<Integer> places = indexes(Kind.TEXT, message.getId());
    if (settled.contains(message.getId()) || (places.isEmpty() && !complete)) {
      return;
    }
    int order = 0;
    for (int index = 0; index < message.getContentCount(); index++) {
      if (!message.getContent(index).hasText()) {
        continue;
      }
      // A message that is read back may lack parts (thoughts), so the order of text parts tells
      // which is which, and not their index.
      int place = order < places.size() ? places.get(order) : index;
      order++;
      long offset = shown.getOrDefault(new Place(Kind.TEXT, message.getId(), place), 0L);
      byte[] text = message.getContent(index).getText().getText().getBytes(StandardCharsets.UTF_8);
      if (offset < text.length) {
        TextDelta missed =
            TextDelta.newBuilder()
                .setMessageId(message.getId())
                .setPartIndex(place)
                .setOffset(offset)
                .setText(from(text, (int) offset))
                .build();
        Event told =
            event.toBuilder()
                .setVersion(event.getVersion() - 1)
                .setLastOfVersion(false)
                .setTextDelta(missed)
                .build();
        grow(told, given);
      }
    }
  }

  /**
   * Gives up what is in doubt.
   *
   * @param path the node whose messages are given up, empty for the thread's own agent; null for
   *     all
   */
  private void voidDoubtful(Event event, String path, List<Event> given) {
    for (String messageId : List.copyOf(doubtful)) {
      if (path == null || path.equals(path(messageId))) {
        forget(messageId);
        MessageDiscarded discarded = MessageDiscarded.newBuilder().setMessageId(messageId).build();
        given.add(event.toBuilder().setLastOfVersion(false).setMessageDiscarded(discarded).build());
      }
    }
  }

  private List<Integer> indexes(Kind kind, String messageId) {
    return shown.keySet().stream()
        .filter(place -> place.kind() == kind && place.messageId().equals(messageId))
        .map(Place::index)
        .sorted()
        .toList();
  }

  private void forget(String messageId) {
    settled.add(messageId);
    doubtful.remove(messageId);
    shown.keySet().removeIf(place -> place.messageId().equals(messageId));
  }

  private void forgetAll() {
    shown.clear();
    settled.clear();
    doubtful.clear();
  }

  private static String from(byte[] text, int offset) {
    return new String(text, offset, text.length - offset, StandardCharsets.UTF_8);
  }

  /** The path of the node that a message is of, or empty. */
  private static String path(String messageId) {
    return messageId.substring(0, Math.max(0, messageId.lastIndexOf('/')));
  }
}
