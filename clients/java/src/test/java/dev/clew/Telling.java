package dev.clew;

import dev.clew.v1.Checkpoint;
import dev.clew.v1.CheckpointSource;
import dev.clew.v1.CheckpointWritten;
import dev.clew.v1.Event;
import dev.clew.v1.FailureCode;
import dev.clew.v1.Heartbeat;
import dev.clew.v1.Message;
import dev.clew.v1.MessageDiscarded;
import dev.clew.v1.Part;
import dev.clew.v1.ReasoningDelta;
import dev.clew.v1.Role;
import dev.clew.v1.RunCompleted;
import dev.clew.v1.RunQueued;
import dev.clew.v1.RunStarted;
import dev.clew.v1.TextDelta;
import dev.clew.v1.TextPart;
import dev.clew.v1.ToolCall;
import dev.clew.v1.ToolCallFinished;
import dev.clew.v1.ToolCallProgress;
import dev.clew.v1.ToolCallStarted;
import java.util.List;

/** Events as a server tells them: one run of thread {@code t-1}, whose incarnation is {@code u}. */
final class Telling {
  private Telling() {}

  /** One without a payload, as a kind of a later version of the contract is. */
  static Event unknown(long version, boolean last) {
    return event(version).setLastOfVersion(last).build();
  }

  static Event queued() {
    return event(0).setRunId("").setRunQueued(RunQueued.getDefaultInstance()).build();
  }

  static Event started(long version) {
    return started(version, 1);
  }

  static Event started(long version, int attempt) {
    return event(version).setRunStarted(RunStarted.newBuilder().setAttempt(attempt)).build();
  }

  static Event heartbeat(long version) {
    return event(version).setHeartbeat(Heartbeat.getDefaultInstance()).build();
  }

  static Event delta(long version, String messageId, long offset, String text) {
    return delta(version, messageId, offset, text, 0);
  }

  static Event delta(long version, String messageId, long offset, String text, int part) {
    TextDelta.Builder delta =
        TextDelta.newBuilder()
            .setMessageId(messageId)
            .setPartIndex(part)
            .setOffset(offset)
            .setText(text);
    return event(version).setTextDelta(delta).build();
  }

  static Event thought(long version, String messageId, String text) {
    ReasoningDelta.Builder delta =
        ReasoningDelta.newBuilder().setMessageId(messageId).setText(text);
    return event(version).setReasoningDelta(delta).build();
  }

  static Event discarded(long version, String messageId) {
    MessageDiscarded.Builder discarded =
        MessageDiscarded.newBuilder()
            .setMessageId(messageId)
            .setCode(FailureCode.FAILURE_CODE_MODEL_INCOMPLETE);
    return event(version).setMessageDiscarded(discarded).build();
  }

  static Event toolStarted(long version, String callId, boolean last) {
    ToolCall.Builder call = ToolCall.newBuilder().setId(callId).setName("look_up");
    ToolCallStarted.Builder started = ToolCallStarted.newBuilder().setToolCall(call);
    return event(version).setLastOfVersion(last).setToolCallStarted(started).build();
  }

  static Event toolFinished(long version, String callId) {
    ToolCallFinished.Builder finished = ToolCallFinished.newBuilder().setToolCallId(callId);
    return event(version).setToolCallFinished(finished).build();
  }

  static Event progress(long version, String callId) {
    ToolCallProgress.Builder progress =
        ToolCallProgress.newBuilder().setToolCallId(callId).setProgressJson("0.5");
    return event(version).setToolCallProgress(progress).build();
  }

  static Event written(long version, Message... messages) {
    return written(version, true, messages);
  }

  static Event written(long version, boolean last, Message... messages) {
    return written(version, last, CheckpointSource.CHECKPOINT_SOURCE_STEP, messages);
  }

  static Event written(long version, boolean last, CheckpointSource source, Message... messages) {
    Checkpoint.Builder checkpoint =
        Checkpoint.newBuilder().setId("u." + version).setVersion(version).setSource(source);
    CheckpointWritten.Builder written =
        CheckpointWritten.newBuilder()
            .setCheckpoint(checkpoint)
            .setParentVersion(version - 1)
            .addAllMessages(List.of(messages));
    return event(version).setLastOfVersion(last).setCheckpointWritten(written).build();
  }

  static Event completed(long version) {
    return event(version)
        .setLastOfVersion(true)
        .setRunCompleted(RunCompleted.getDefaultInstance())
        .build();
  }

  static Message said(String messageId, String text) {
    return message(Role.ROLE_ASSISTANT, messageId, text);
  }

  static Message asked(String messageId, String text) {
    return message(Role.ROLE_USER, messageId, text);
  }

  static Event.Builder event(long version) {
    return Event.newBuilder()
        .setThreadId("t-1")
        .setThreadUid("u")
        .setRunId("u.r1")
        .setVersion(version);
  }

  private static Message message(Role role, String messageId, String text) {
    Part.Builder part = Part.newBuilder().setText(TextPart.newBuilder().setText(text));
    return Message.newBuilder().setId(messageId).setRole(role).addContent(part).build();
  }
}
