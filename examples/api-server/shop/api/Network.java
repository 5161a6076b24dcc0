package shop.api;

import java.util.concurrent.TimeUnit;

/** Stands for the wires to the machines that a deployed shop talks to: the caller's thread waits, as at a socket. */
final class Network {
  private Network() {}

  static void roundTrip(long milliseconds) {
    try {
      TimeUnit.MILLISECONDS.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for a remote machine", e);
    }
  }
}
