import java.util.function.Supplier;

/**
 * Every shape of `synchronized` methods and blocks. Its lines begin with "= " and are the same with and without probes:
 * {@code Monitors shapes} runs each shape often enough to be compiled, {@code Monitors overflow} uses up the stack in them.
 */
public class Monitors {
    private static final int ROUNDS = 20_000;  // HotSpot compiles what is called 10,000 times

    private final Object lock = new Object();
    private final Object other = new Object();
    private int count;
    private boolean full;
    private static long total;

    Monitors() {
        synchronized (lock) {
            count = 1;
        }
    }

    synchronized int add(int amount) {
        return count += amount;
    }

    static synchronized long addTotal(long amount) {
        total += amount;
        return total;
    }

    static synchronized double half(double of, float unused, long more) {
        if (of < 0) return -1;
        return of / 2 + more;
    }

    synchronized int recursive(int depth) {
        return depth == 0 ? count : recursive(depth - 1) + 1;
    }

    synchronized int throwing(int number) {
        if (number % 4 == 0) throw new IllegalStateException("four");
        return number;
    }

    synchronized int catches(int number) {
        try {
            return throwing(number);
        } catch (IllegalStateException caught) {
            return -1;
        } finally {
            count++;
        }
    }

    /** A block that locks again what the method has locked. */
    synchronized int twice(int number) {
        synchronized (this) {
            count += number;
        }
        synchronized (lock) {
            return count;
        }
    }

    int nested(int number) {
        synchronized (lock) {
            if (number % 7 == 0) return 7;
            synchronized (other) {
                if (number % 5 == 0) return 5;
                count += number;
            }
            count++;
        }
        return count;
    }

    long returnsFromFinally(long number) {
        try {
            synchronized (lock) {
                return number + count;
            }
        } finally {
            synchronized (other) {
                count++;
            }
        }
    }

    int loops(int number) {
        int sum = 0;
        outer:
        for (int i = 0; ; i++) {
            synchronized (lock) {
                while (true) {
                    sum++;
                    if (sum % 3 == 0) continue outer;
                    if (sum > number % 20) break outer;
                }
            }
        }
        return sum;
    }

    int loopBehindMonitorenter(int[] left) {
        synchronized (lock) {
            while (left[0]-- > 0) {
            }
        }
        return left[0];
    }

    String bodyThrows(Object of) {
        try {
            synchronized (lock) {
                return of.toString();
            }
        } catch (NullPointerException caught) {
            synchronized (other) {
                return "none";
            }
        }
    }

    static int lockOfNull() {
        try {
            synchronized ((Object) null) {
                return 1;
            }
        } catch (NullPointerException caught) {
            return 2;
        }
    }

    <T> T supplied(Supplier<T> supplier) {
        synchronized (Monitors.class) {
            return supplier.get();
        }
    }

    synchronized void put() throws InterruptedException {
        while (full) wait();
        full = true;
        notifyAll();
    }

    void take() throws InterruptedException {
        synchronized (this) {
            while (!full) wait();
            full = false;
            notifyAll();
        }
    }

    static void print(String what, long result) {
        System.out.println("= " + what + " " + result);
    }

    private long round(int i) {
        long sum = add(i % 3) + addTotal(i) + (long) half(i - 5, 1f, 3) + recursive(i % 4) + catches(i) + twice(1);
        sum += nested(i) + returnsFromFinally(i) + loops(i) + loopBehindMonitorenter(new int[] {i % 3});
        sum += bodyThrows(i % 50 == 0 ? null : "text").length() + lockOfNull();
        return sum + supplied(() -> i & 1);
    }

    private void handOver() throws InterruptedException {
        Thread taker = new Thread(() -> {
            try {
                for (int i = 0; i < ROUNDS / 20; i++) take();
            } catch (InterruptedException interrupted) {
                throw new IllegalStateException(interrupted);
            }
        });
        taker.start();
        for (int i = 0; i < ROUNDS / 20; i++) put();
        taker.join();
        print("full", full ? 1 : 0);
    }

    private void contend() throws InterruptedException {
        Thread[] threads = new Thread[3];
        final int before = count;
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                for (int k = 0; k < ROUNDS; k++) add(1);
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
        print("added", count - before);
    }

    private synchronized int deep(int depth) {
        synchronized (lock) {
            return deep(depth + 1) + 1;
        }
    }

    /** The stack's end is met at another instruction each time. */
    private void overflow() throws InterruptedException {
        for (int i = 0; i < 40; i++) {
            Thread thread = new Thread(null, () -> {
                try {
                    deep(0);
                } catch (StackOverflowError expected) {
                    print("overflow", Thread.holdsLock(this) || Thread.holdsLock(lock) ? 1 : 0);
                }
            }, "deep", 256 * 1024 + i * 4096);
            thread.start();
            thread.join();
            synchronized (lock) {
                add(1);
            }
        }
        print("free", count);
    }

    public static void main(String[] args) throws Exception {
        Monitors monitors = new Monitors();
        if (args[0].equals("overflow")) {
            monitors.overflow();
            return;
        }
        long sum = 0;
        for (int i = 1; i <= ROUNDS; i++) sum += monitors.round(i);
        print("sum", sum);
        print("count", monitors.count);
        monitors.handOver();
        monitors.contend();
        new Thread(() -> print("another thread", monitors.add(1))).start();
    }
}
