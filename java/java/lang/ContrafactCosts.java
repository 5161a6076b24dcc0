package java.lang;

import static java.lang.ContrafactEvents.U;

/**
 * What recording takes the thread that it happens on, by kind of event: of one task in PERIOD, each probe is timed as a whole, with the
 * context that it may take. In a run of many small tasks the recorder takes more time than the tasks do; who predicts what fewer
 * tasks gain has to know it. Of what a service does for a request (blocks, sockets, wakes, endpoints), one event in four is timed.
 *
 * A sum and a count for each kind. They are racy, so an addition may be lost; that changes a mean little. A probe that took longer
 * than LONGEST_NS lost its core or made a row of a table: that is not what events cost. A service that is asked now and then finds its
 * caches cold, and a stack is walked over many methods: LONGEST_CALL_NS. In the beginning all that is interpreted, so the mean is of the
 * latest events.
 */
final class ContrafactCosts {
  private static final int PERIOD = 61;  // a prime, since contexts are taken of every 16th task
  private static final int TIMED = 1;
  private static final int KINDS = ContrafactEvents.ENDPOINT + 1;
  private static final int LONGEST_NS = 5_000;
  private static final int LONGEST_CALL_NS = 200_000;
  private static final int LATEST = 512;  // events, that a mean is of
  private static final int COUNT_MIN = 100;
  private static final long SLOT_BYTES = 16;
  // By kind of event, and behind these the clock: the sum of the times in ns, and their number.
  private static final long SLOTS = U.allocateMemory(SLOT_BYTES * (KINDS + 1));

  static {
    U.setMemory(SLOTS, SLOT_BYTES * (KINDS + 1), (byte) 0);
  }

  private ContrafactCosts() {}

  static void prepare() {
    end(0, begin(TIMED));
    ended(0, began());
    add(0, -U.getLong(SLOTS));
    U.setMemory(SLOTS, SLOT_BYTES * (KINDS + 1), (byte) 0);
    of(0);
  }

  /** The time now, if the probe at this task (its id, or the word with it) is to be timed; else 0. */
  static long begin(int task) {
    return (task & ContrafactTasks.ID) % PERIOD == TIMED ? System.nanoTime() : 0;
  }

  /** The probe whose main event is of this kind began at this time, and is over. */
  static void end(int kind, long began) {
    if (began != 0) {
      long now = System.nanoTime();
      add(kind, now - began);
      add(KINDS, System.nanoTime() - now);
    }
  }

  /** The time now, if this event is one of four; else 0. */
  static long began() {
    long now = System.nanoTime();
    return (now >> 5 & 3) == 0 ? now : 0;
  }

  /** As end, of what began() was asked for. */
  static void ended(int kind, long began) {
    if (began == 0) {
      return;
    }
    long ns = System.nanoTime() - began;
    if (ns < LONGEST_CALL_NS) {
      long slot = SLOTS + SLOT_BYTES * kind;
      long count = U.getLong(slot + 8);
      if (count < LATEST) {
        U.putLong(slot, U.getLong(slot) + ns);
        U.putLong(slot + 8, count + 1);
      } else {
        U.putLong(slot, U.getLong(slot) + ns - mean(kind));
      }
    }
  }

  private static void add(int kind, long ns) {
    if (ns < LONGEST_NS) {
      long slot = SLOTS + SLOT_BYTES * kind;
      U.putLong(slot, U.getLong(slot) + ns);
      U.putLong(slot + 8, U.getLong(slot + 8) + 1);
    }
  }

  /** Called by the agent: the mean cost of an event of this kind in ns, without that of timing it; -1: too few were timed. */
  static int of(int kind) {
    if (kind < 0 || kind >= KINDS || U.getLong(SLOTS + SLOT_BYTES * kind + 8) < COUNT_MIN) {
      return -1;
    }
    return (int) Math.max(0, mean(kind) - mean(KINDS));
  }

  private static long mean(int kind) {
    long slot = SLOTS + SLOT_BYTES * kind;
    return U.getLong(slot) / Math.max(1, U.getLong(slot + 8));
  }
}
