package dev.clew;

/** What is open on a connection. */
interface Leavable {
  /** Ends it, and returns when that has had its effect. Harmless when it is over. */
  void leave();
}
