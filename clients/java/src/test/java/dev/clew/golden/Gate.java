package dev.clew.golden;

/** Where a stream's reader waits while it is held. */
final class Gate {
  private boolean open = true;

  synchronized void close() {
    open = false;
  }

  synchronized void open() {
    open = true;
    notifyAll();
  }

  synchronized void pass() {
    while (!open) {
      try {
        wait();
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
