package dev.clew;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;

/** A tool that waits until a test lets it end. */
final class GatedTool implements ToolFunction {
  final BlockingQueue<ToolCall> begun = new LinkedBlockingQueue<>();
  final CountDownLatch open = new CountDownLatch(1);
  final CountDownLatch interrupted = new CountDownLatch(1);

  @Override
  public ToolOutput run(ToolCall call) throws InterruptedException {
    begun.add(call);
    try {
      open.await();
    } catch (InterruptedException notWanted) {
      interrupted.countDown();
      throw notWanted;
    }
    return ToolOutput.text("40 for A-1");
  }
}
