package dev.clew;

import java.time.Duration;

/** Times as they travel. */
final class Times {
  private Times() {}

  static com.google.protobuf.Duration wire(Duration time) {
    return com.google.protobuf.Duration.newBuilder()
        .setSeconds(time.getSeconds())
        .setNanos(time.getNano())
        .build();
  }

  static Duration of(com.google.protobuf.Duration time) {
    return Duration.ofSeconds(time.getSeconds(), time.getNanos());
  }
}
