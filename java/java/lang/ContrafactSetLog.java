package java.lang;

import static java.lang.ContrafactEvents.*;

/**
 * The log of one thread's accesses, in memory that the agent gives it for as long as it is observed (src/agent_jvm/sets.h), and when a thread is
 * observed: while it holds a lock that it took in a window of time. Initialised only after the virtual machine is: it uses Unsafe.
 */
final class ContrafactSetLog {
  // Fields that the agent adds.
  // The log's address while the thread is observed; minus that: not again before its next event of a lock.
  static final long STATE = U.objectFieldOffset(Thread.class, "contrafactSets");
  static final long KEPT = U.objectFieldOffset(Thread.class, "contrafactSetLog");  // a platform thread's log
  private static final long COUNTED = U.objectFieldOffset(Thread.class, "contrafactObserver");  // it is one of the observers
  static final long HOLDS = U.objectFieldOffset(Thread.class, "contrafactHolds");  // how many locks of chosen classes it holds

  private static final long BEGAN = U.objectFieldOffset(Thread.class, "contrafactBegan");  // when its section did
  private static final long RESTS = U.objectFieldOffset(Thread.class, "contrafactRests");  // until when it is not observed

  // The log: the order is a contract with src/agent_jvm/sets.h.
  private static final int USED = 0;  // bytes behind LOG
  private static final int GAP = 4;
  static final int LEFT = 8;  // the section may go on in code that is not observed
  private static final int EPOCH = 12;  // accesses of another one are logged again
  private static final int GENERATION = 16;  // raised when the log is emptied
  private static final int SKIPPED = 20;  // calls
  static final int FLOW = 24;  // the address of the block of ContrafactFlow; 0: flow is not tracked
  private static final int RECENT = 32;  // the last accesses: PLACE, KIND
  private static final int RECENT_COUNT = 512;
  private static final int RUNS = RECENT + 16 * RECENT_COUNT;  // of elements: the next PLACE, its flags and epoch, the entry
  private static final int RUNS_COUNT = 64;
  private static final int LOG = RUNS + 32 * RUNS_COUNT;
  private static final int LOG_BYTES = 16 * 4096;

  // Entries that are no accesses: a call began or ended at PLACE, a time, with the context LENGTH.
  private static final int CALL_BEGIN = 1 << 29;
  private static final int CALL_END = 1 << 28;
  private static final int VOID = 1 << 27;  // it was a short one
  private static final long CALL_NS_MIN = 5000;

  // By place: how often its calls have been short since the last long one. From SHORT_MAX on, one of SHORT_EVERY is told of.
  private static final int CALLS = 1 << 16;
  private static final int SHORT_MAX = 16;
  private static final int SHORT_EVERY = 64;
  private static final long SHORT_CALLS = U.allocateMemory(CALLS);

  // format::SetGap
  static final int NOT_OBSERVED = 1;
  static final int SYSTEM_CALL = 4;

  private static final long OBSERVERS_BASE_OFFSET;
  private static final Object OBSERVERS_BASE;
  private static final long WINDOW = windows(0);
  private static final long PERIOD = windows(1);  // 0: always
  private static final long FIRST = System.nanoTime();

  // Numbers of fields by class and offset: pairs of words KEY, NUMBER.
  private static final int SLOTS = 1 << 12;
  private static final int PROBES = 8;
  static final long BEGIN = -1;  // in place of an offset: where an array's elements begin
  private static final long TABLE = U.allocateMemory(16L * SLOTS);

  static {
    U.setMemory(TABLE, 16L * SLOTS, (byte) 0);
    U.setMemory(SHORT_CALLS, CALLS, (byte) 0);
    OBSERVERS_BASE = ContrafactSets.class;
    OBSERVERS_BASE_OFFSET = offsetOfObservers();
  }

  private ContrafactSetLog() {}

  private static long offsetOfObservers() {
    try {
      return U.staticFieldOffset(ContrafactSets.class.getDeclaredField("observers"));
    } catch (NoSuchFieldException impossible) {
      throw new InternalError(impossible);
    }
  }

  /** Links the native methods, as ContrafactEvents does. */
  static void prepare() {
    give(take());
    full(0);
    emit(0, 0, 0, 0, false);
    field(null, 0);
  }

  // Found by the JVM in the agent.
  private static native long windows(int which);
  private static native long take();  // a log; 0: there are too many
  private static native void give(long state);
  private static native boolean full(long state);  // false: no more of this segment
  // `earliest`: no part ended before that. `isLast`: else the segment goes on.
  private static native void emit(long state, int thread, long time, long earliest, boolean isLast);
  private static native int field(Object object, long offset);

  static long offsetOf(java.lang.reflect.Field field) {
    return U.objectFieldOffset(field);
  }

  // ---- the log

  static void log(long state, long place, int length, int flags) {
    if (isNew(state, place, (long) length << 32 | flags)) {
      append(state, place, (long) length << 32 | flags);
    }
  }

  private static boolean isNew(long state, long place, long kind) {
    long recent = state + RECENT + (hash(place + kind) & RECENT_COUNT - 1) * 16;  // reads and writes take turns
    long kindNow = kind | (U.getInt(state + EPOCH) & 0x7ffffL) << 8;  // bits that no kind has
    if (U.getLong(recent) == place && U.getLong(recent + 8) == kindNow) {
      return false;
    }
    U.putLong(recent, place);
    U.putLong(recent + 8, kindNow);
    return true;
  }

  private static long hash(long place) {
    return (place ^ place >>> 29) * 0x9e3779b97f4a7c15L >>> 44;
  }

  /** Elements that are accessed one after the other become one entry. */
  static void logElement(long state, long place, int flags) {
    long run = state + RUNS + (hash(place >>> 32) + flags & RUNS_COUNT - 1) * 32;
    long now = (long) U.getInt(state + EPOCH) << 32 | flags;
    if (U.getLong(run) == place && U.getLong(run + 8) == now) {
      U.putLong(run, place + 1);
      long length = U.getLong(run + 16) + 12;
      U.putInt(length, U.getInt(length) + 1);
    } else if (isNew(state, place, 1L << 32 | flags)) {
      long entry = state + LOG + append(state, place, 1L << 32 | flags);
      if (U.getInt(state + EPOCH) == (int) (now >>> 32)) {  // the log was not emptied
        U.putLong(run, place + 1);
        U.putLong(run + 8, now);
        U.putLong(run + 16, entry);
      }
    }
  }

  /** Where it is, behind LOG. */
  private static int append(long state, long place, long kind) {
    int used = U.getInt(state + USED);
    long entry = state + LOG + used;
    U.putLong(entry, place);
    U.putLong(entry + 8, kind);
    U.putInt(state + USED, used + 16);
    if (used + 16 == LOG_BYTES && !full(state)) {
      U.putLong(Thread.currentThread(), STATE, -state);
    }
    return used;
  }

  private static int mark(long state, long time, int site, int flags) {
    U.putInt(state + EPOCH, U.getInt(state + EPOCH) + 1);
    return append(state, time, (long) site << 32 | flags);
  }

  /** A call of a section's method begins: which one it is in the log; 0: it is not told of. */
  static long callBegins(long state, int site) {
    if (U.getByte(SHORT_CALLS + (site & CALLS - 1)) >= SHORT_MAX) {
      int skipped = U.getInt(state + SKIPPED) + 1;
      U.putInt(state + SKIPPED, skipped);
      if (skipped % SHORT_EVERY != 0) {
        return 0;
      }
    }
    int generation = U.getInt(state + GENERATION);
    int at = mark(state, System.nanoTime(), site, CALL_BEGIN);
    return (long) generation << 32 | at | 1;  // never 0
  }

  static void callEnds(long state, long call, int site) {
    long now = System.nanoTime();
    long calls = SHORT_CALLS + (site & CALLS - 1);
    if (U.getInt(state + GENERATION) == (int) (call >>> 32)) {
      long entry = state + LOG + ((int) call & ~1);
      if (now - U.getLong(entry) < CALL_NS_MIN) {
        U.putInt(entry + 8, VOID);
        U.putByte(calls, (byte) Math.min(SHORT_MAX, U.getByte(calls) + 1));
        return;
      }
    }
    U.putByte(calls, (byte) 0);
    mark(state, now, site, CALL_END);
  }

  static void miss(long state, int gap) {
    if (U.getInt(state + GAP) == 0) {
      U.putInt(state + GAP, gap);
    }
  }

  /** The number of the field at this offset; 0: none is known. Of an array with BEGIN, the offset of its first element. */
  static int fieldAt(Object object, Class<?> type, long offset) {
    long key = (long) System.identityHashCode(type) << 32 | offset & 0xffffffffL;
    int slot = (int) (key * 0x9e3779b97f4a7c15L >>> 40) & SLOTS - 1;
    for (int i = 0; i < PROBES; i++) {
      long address = TABLE + 16L * slot;
      long found = U.getLongVolatile(null, address);
      if (found == key) {
        return U.getIntVolatile(null, address + 8) - 1;
      }
      if (found == 0) {
        int number = field(object, offset);
        if (U.compareAndSetLong(null, address, 0, -1)) {  // nobody reads the number before it is there
          U.putIntVolatile(null, address + 8, number + 1);
          U.putLongVolatile(null, address, key);
        }
        return number;
      }
      slot = slot + 1 & SLOTS - 1;
    }
    return field(object, offset);
  }

  // ---- when a thread is observed

  /** Before an event of a lock: what the thread has accessed since its event before. */
  static void segment(Thread thread, long time) {
    if (ContrafactSets.wanted) {
      long state = U.getLong(thread, STATE);
      long at = state == 0 ? 0 : eventTime(thread, time);
      if (at != 0) {
        emit(Math.abs(state), threadId(thread), at, eventTime(thread, 0), true);
        U.putLong(thread, STATE, Math.abs(state));
      }
    }
  }

  /** Before the thread blocks: what it accesses from then on is told apart. */
  static void part(Thread thread) {
    if (ContrafactSets.wanted) {
      long state = U.getLong(thread, STATE);
      long at = state <= 0 ? 0 : eventTime(thread, System.nanoTime());
      if (at != 0) {
        emit(state, threadId(thread), at, eventTime(thread, 0), false);
      }
    }
  }

  /** The thread has taken a lock. */
  static void taken(Thread thread, long time) {
    if (ContrafactSets.wanted) {
      int holds = U.getInt(thread, HOLDS);
      U.putInt(thread, HOLDS, holds + 1);
      if (holds == 0) {
        begin(thread, time);
      }
      if (ContrafactFlow.wanted) {
        ContrafactFlow.begins(thread, holds == 0);
      }
    }
  }

  /** It has given one back. */
  static void given(Thread thread, long time) {
    if (ContrafactSets.wanted) {
      int holds = U.getInt(thread, HOLDS);
      if (ContrafactFlow.wanted) {
        ContrafactFlow.ends(thread);
      }
      if (holds > 0) {
        U.putInt(thread, HOLDS, holds - 1);
      }
      if (holds == 1) {
        rest(thread, time);
        end(thread);
      }
    }
  }

  private static void begin(Thread thread, long time) {
    if (PERIOD != 0) {
      if ((time - FIRST) % PERIOD >= WINDOW || time < U.getLong(thread, RESTS)) {
        count(thread, 0);
        return;
      }
      U.putLong(thread, BEGAN, time);
    }
    long state = U.getLong(thread, KEPT);
    if (state == 0) {
      state = take();
      if (state == 0) {
        return;
      }
    }
    U.putLong(thread, KEPT, 0);
    count(thread, 1);
    U.putLong(thread, STATE, state);
  }

  /** A thread counts from its first section of a window to the first one behind it: each change reaches all cores. */
  private static void count(Thread thread, int counts) {
    int counted = U.getInt(thread, COUNTED);
    if (counted != counts) {
      U.putInt(thread, COUNTED, counts);
      U.getAndAddInt(OBSERVERS_BASE, OBSERVERS_BASE_OFFSET, counts - counted);
    }
  }

  private static void end(Thread thread) {
    long state = U.getLong(thread, STATE);
    if (state != 0) {
      U.putLong(thread, STATE, 0);
      endLog(thread, Math.abs(state));
    }
  }

  /** A section that outlasts its window uses up the next ones, so that the windows keep their share of the time. */
  private static void rest(Thread thread, long time) {
    if (PERIOD != 0 && U.getLong(thread, STATE) != 0) {
      long began = U.getLong(thread, BEGAN);
      long over = time - (began - (began - FIRST) % PERIOD + WINDOW);
      if (over > 0) {
        U.putLong(thread, RESTS, time + (long) ((double) over * (PERIOD - WINDOW) / WINDOW));
      }
    }
  }

  /** Of virtual threads there may be millions. */
  private static void endLog(Thread thread, long state) {
    boolean isUsed = U.getInt(state + USED) != 0 || U.getInt(state + GAP) != 0;  // it ended in a pause: give() clears it
    if (carrier() != thread || U.getLong(thread, KEPT) != 0 || isUsed) {
      count(thread, 0);
      give(state);
    } else {
      U.putInt(state + LEFT, 0);
      U.putLong(thread, KEPT, state);
    }
  }

  /** The thread ends. */
  static void leave(Thread thread) {
    count(thread, 0);
    end(thread);
    long kept = U.getLong(thread, KEPT);
    if (kept != 0) {
      U.putLong(thread, KEPT, 0);
      give(kept);
    }
  }

  /** A pause is over, in which the thread may have given back all its locks, and taken others. */
  static void goOn(Thread thread, long state) {
    if (U.getInt(thread, HOLDS) == 0 || U.getLong(thread, STATE) != 0) {
      endLog(thread, Math.abs(state));
    } else {
      U.putLong(thread, STATE, state);
    }
  }
}
