package dev.clew;

import dev.clew.v1.Content;
import dev.clew.v1.Part;
import dev.clew.v1.SendRequest;
import java.util.List;

/**
 * What a send brings: the input, and the state that goes with it. Immutable: each method gives
 * another one.
 */
public final class Input {
  private final SendRequest request;

  private Input(SendRequest.Builder request) {
    this.request = request.build();
  }

  /** What a user says, for an agent. */
  public static Input text(String text) {
    return new Input(SendRequest.newBuilder().setText(Text.checked(text, "input")));
  }

  /**
   * What a user says in several parts, for an agent: text, images, audio, video, documents and
   * data.
   */
  public static Input parts(List<Part> parts) {
    return new Input(SendRequest.newBuilder().setContent(Content.newBuilder().addAllParts(parts)));
  }

  /** What a workflow starts with: a JSON object of state keys. */
  public static Input values(String json) {
    return new Input(SendRequest.newBuilder().setInputJson(Text.jsonBytes(json, "input_json")));
  }

  /** A JSON object whose top-level values replace the thread's, before the run begins. */
  public Input withState(String json) {
    return new Input(request.toBuilder().setStateJson(Text.jsonBytes(json, "state_json")));
  }

  /**
   * Whom a thread that this makes belongs to, up to 256 bytes; no matter where the thread exists.
   */
  public Input withUserId(String userId) {
    return new Input(request.toBuilder().setUserId(Text.checked(userId, "user_id")));
  }

  /**
   * A JSON object for the metadata of a thread that this makes, up to 64 KiB; no matter where the
   * thread exists.
   */
  public Input withMetadata(String json) {
    return new Input(request.toBuilder().setMetadataJson(Text.json(json, "metadata_json")));
  }

  SendRequest request() {
    return request;
  }
}
