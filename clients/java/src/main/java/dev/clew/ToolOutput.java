package dev.clew;

import dev.clew.v1.CallResult;
import dev.clew.v1.Part;
import dev.clew.v1.TextPart;
import java.util.List;

/** What a tool gives the model to read, up to 3.5 MiB. */
public final class ToolOutput {
  static final ToolOutput NOTHING = json("null");

  private final CallResult result;

  private ToolOutput(CallResult.Builder result) {
    this.result = result.build();
  }

  /** Text. */
  public static ToolOutput text(String text) {
    TextPart part = TextPart.newBuilder().setText(Text.checked(text, "result")).build();
    return parts(List.of(Part.newBuilder().setText(part).build()));
  }

  /** Parts, such as images: text, image, audio, video, document or data. */
  public static ToolOutput parts(List<Part> parts) {
    return new ToolOutput(CallResult.newBuilder().addAllContent(parts));
  }

  /** Any JSON value, as text. Whether it is JSON is the server's to say. */
  public static ToolOutput json(String json) {
    return new ToolOutput(CallResult.newBuilder().setStructuredJson(Text.json(json, "result")));
  }

  CallResult result() {
    return result;
  }
}
