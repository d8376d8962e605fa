package dev.clew;

import dev.clew.v1.SendRequest;

/** What is sent, with a frame around it. */
final class Sending {
  private Sending() {}

  static SendRequest request(Frame frame, String app, Input input) {
    SendRequest.Builder request =
        input.request().toBuilder()
            .setThreadId(frame.threadId())
            .setApp(app)
            .setRequestId(frame.requestId())
            .setOptions(frame.options());
    frame.expectedVersion().ifPresent(request::setExpectedVersion);
    return request.build();
  }
}
