package dev.clew;

import dev.clew.v1.UpdateStateRequest;
import java.util.Collection;

/** What to make of a thread's state. Immutable: each method gives another one. */
public final class StateChange {
  private final UpdateStateRequest request;

  private StateChange(UpdateStateRequest.Builder request) {
    this.request = request.build();
  }

  /**
   * The state as it is, with the top-level values of a JSON object put into it, each whole; null is
   * a value.
   */
  public static StateChange merge(String json) {
    UpdateStateRequest.Builder request = UpdateStateRequest.newBuilder();
    request.getMergeBuilder().setStateJson(Text.jsonBytes(json, "state_json"));
    return new StateChange(request);
  }

  /** The state is a JSON object and nothing else. */
  public static StateChange replace(String json) {
    UpdateStateRequest.Builder request = UpdateStateRequest.newBuilder();
    request.getReplaceBuilder().setStateJson(Text.jsonBytes(json, "state_json"));
    return new StateChange(request);
  }

  /** Also removes top-level keys. A state that is replaced keeps none. */
  public StateChange withoutKeys(Collection<String> keys) {
    if (request.hasReplace()) {
      throw Refusals.argument(
          "remove_keys", "a state that is replaced keeps no key that could be removed");
    }
    UpdateStateRequest.Builder changed = request.toBuilder();
    changed.getMergeBuilder().addAllRemoveKeys(keys);
    return new StateChange(changed);
  }

  /**
   * Takes the values for what a node of the thread's workflow returned: they are reduced as such,
   * the thread stands as failed ({@code updated}), and retry goes on with what follows the node.
   */
  public StateChange withNode(String node) {
    return new StateChange(request.toBuilder().setAsNode(node));
  }

  UpdateStateRequest request() {
    return request;
  }
}
