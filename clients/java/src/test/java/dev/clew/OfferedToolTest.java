package dev.clew;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.clew.errors.ArgumentInvalidException;
import dev.clew.v1.CallError;
import dev.clew.v1.FinishCallRequest;
import dev.clew.v1.Part;
import dev.clew.v1.TextPart;
import dev.clew.v1.WorkerCall;
import dev.clew.v1.WorkerTool;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is told of a tool, and of what came of it. */
class OfferedToolTest {
  private static FinishCallRequest outcome(ToolFunction function) {
    WorkerTool offer = ToolOptions.DEFAULT.offer("charge");
    ToolCall call = new ToolCall(WorkerCall.getDefaultInstance(), json -> {});
    return new OfferedTool(offer, function).outcome(call);
  }

  private static CallError error(RuntimeException thrown) {
    return outcome(
            call -> {
              throw thrown;
            })
        .getError();
  }

  @Test
  void textAndPartsAreContentAndTheRestIsJson() {
    Part part = Part.newBuilder().setText(TextPart.newBuilder().setText("40")).build();
    assertEquals(
        List.of(part), outcome(call -> ToolOutput.text("40")).getResult().getContentList());
    assertEquals(
        List.of(part, part),
        outcome(call -> ToolOutput.parts(List.of(part, part))).getResult().getContentList());
    String json = "{\"large\":9007199254740993}";
    assertEquals(json, outcome(call -> ToolOutput.json(json)).getResult().getStructuredJson());
    assertEquals("null", outcome(call -> null).getResult().getStructuredJson());
    assertEquals(
        "{}",
        outcome(call -> ToolOutput.json(call.argumentsJson())).getResult().getStructuredJson());
  }

  @Test
  void whatAToolSaysIsToldAsItIs() {
    assertEquals(
        CallError.newBuilder().setMessage("no money").build(),
        error(new ToolException("no money")));
    CallError later = error(new ToolException("busy", Duration.ofMillis(1500)));
    assertTrue(later.getRetryable());
    assertEquals(Duration.ofMillis(1500), Times.of(later.getRetryAfter()));
    assertFalse(error(new ToolException("busy", true)).hasRetryAfter());
    assertEquals("the tool failed", error(new ToolException("")).getMessage());
    CallError longest = error(new ToolException("busy", Duration.ofDays(1)));
    assertEquals(Duration.ofHours(1), Times.of(longest.getRetryAfter()));
  }

  @Test
  void whateverElseIsThrownIsToldByItsClassAndMayBeTriedAgain() {
    CallError told = error(new IllegalStateException("no key A-1"));
    assertEquals("IllegalStateException: no key A-1", told.getMessage());
    assertTrue(told.getRetryable());
    assertEquals("IllegalStateException", error(new IllegalStateException()).getMessage());
  }

  @Test
  void messagesAreCutBetweenCharacters() {
    String most = "é".repeat(2048);
    assertEquals(most, error(new ToolException(most)).getMessage());
    assertEquals("é".repeat(2046) + "…", error(new ToolException(most + "é")).getMessage());
    assertEquals("a?", error(new ToolException("a\ud800")).getMessage());
  }

  @Test
  void whatIsNoToolIsRefusedByItsField() {
    assertEquals(
        "timeout",
        assertThrows(
                ArgumentInvalidException.class,
                () -> ToolOptions.DEFAULT.withTimeout(Duration.ZERO))
            .field());
    try (Client client = Client.create("localhost:1")) {
      Worker worker = client.worker().tool("charge", call -> null);
      assertEquals(
          "name",
          assertThrows(ArgumentInvalidException.class, () -> worker.tool("charge", call -> null))
              .field());
    }
  }
}
