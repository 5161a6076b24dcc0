import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Pools as people write them by hand. usage: OwnPools KIND SIZE: workers that each need one of a few connections for a query
 * that takes a while; prints how many connections were asked for, and the time from the first query to the end. usage: OwnPools
 * KIND: queues that are no pools, of the kind; prints what went through them.
 */
public final class OwnPools {
    private static final int WORKERS = 8, QUERIES = 64;
    private static final int QUERY_MS = 15, OWN_MS = 3;
    private static final int ITEMS = 400;

    private OwnPools() {}

    static final class Connection {
        boolean isTried;
    }

    /** A pool of the kind. */
    private interface Source {
        Connection get() throws Exception;

        void giveBack(Connection connection) throws Exception;

        /** Asks in ways that get nothing, while all are out. */
        default void askInVain() throws Exception {}
    }

    /** Objects and a monitor. */
    static class MonitorPool implements Source {
        private final ArrayDeque<Connection> idle = new ArrayDeque<>();
        private final int size;

        MonitorPool(int size) {
            this.size = size;
            for (int i = 0; i < size; i++) {
                idle.add(new Connection());
            }
        }

        synchronized Connection acquire() throws InterruptedException {
            return acquire(0);
        }

        synchronized Connection acquire(long timeoutMs) throws InterruptedException {
            while (idle.isEmpty()) {
                wait(timeoutMs);
                if (timeoutMs > 0 && idle.isEmpty()) {
                    throw new IllegalStateException("none of " + size + " in time");
                }
            }
            return idle.pop();
        }

        synchronized void release(Connection connection) {
            idle.push(connection);
            notify();
        }

        @Override
        public Connection get() throws InterruptedException {
            return acquire();
        }

        @Override
        public void giveBack(Connection connection) {
            release(connection);
        }

        @Override
        public void askInVain() throws InterruptedException {
            try {
                acquire(1);
                throw new AssertionError();
            } catch (IllegalStateException expected) {
                return;
            }
        }
    }

    /** Whose size the configuration does not say. */
    static final class PlainPool implements Source {
        private final ArrayDeque<Connection> idle = new ArrayDeque<>();

        PlainPool(int size) {
            for (int i = 0; i < size; i++) {
                idle.add(new Connection());
            }
        }

        @Override
        public synchronized Connection get() throws InterruptedException {
            while (idle.isEmpty()) {
                wait();
            }
            return idle.pop();
        }

        @Override
        public synchronized void giveBack(Connection connection) {
            idle.push(connection);
            notify();
        }
    }

    /** Objects, a lock and its condition. */
    static final class ConditionPool implements Source {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition free = lock.newCondition();
        private final ArrayDeque<Connection> idle = new ArrayDeque<>();
        private final int size;

        ConditionPool(int size) {
            this.size = size;
            for (int i = 0; i < size; i++) {
                idle.add(new Connection());
            }
        }

        int capacity() {
            return size;
        }

        Connection tryAcquire(long timeoutMs) throws InterruptedException {
            long left = TimeUnit.MILLISECONDS.toNanos(timeoutMs);
            lock.lock();
            try {
                while (idle.isEmpty() && left > 0) {
                    left = free.awaitNanos(left);
                }
                return idle.poll();
            } finally {
                lock.unlock();
            }
        }

        boolean tryNow(Connection[] into) {
            lock.lock();
            try {
                into[0] = idle.poll();
                return into[0] != null;
            } finally {
                lock.unlock();
            }
        }

        void release(Connection connection) {
            lock.lock();
            try {
                idle.push(connection);
                free.signal();
            } finally {
                lock.unlock();
            }
        }

        @Override
        public Connection get() throws InterruptedException {
            Connection[] one = new Connection[1];
            return tryNow(one) ? one[0] : tryAcquire(60_000);
        }

        @Override
        public void giveBack(Connection connection) {
            release(connection);
        }

        @Override
        public void askInVain() throws InterruptedException {
            if (tryAcquire(1) != null || tryNow(new Connection[1])) {
                throw new AssertionError();
            }
        }
    }

    /** A queue of the JDK's. */
    private static final class QueuePool implements Source {
        private final BlockingQueue<Connection> idle;
        private final boolean isDeque;
        private int asked;

        QueuePool(BlockingQueue<Connection> idle, int size) {
            this.idle = idle;
            isDeque = idle instanceof LinkedBlockingDeque;
            for (int i = 0; i < size; i++) {
                idle.add(new Connection());
            }
        }

        @Override
        public Connection get() throws InterruptedException {
            asked++;
            if (isDeque && asked % 2 == 0) {
                return ((LinkedBlockingDeque<Connection>) idle).takeLast();
            }
            return asked % 3 == 0 ? idle.poll(1, TimeUnit.MINUTES) : idle.take();
        }

        @Override
        public void giveBack(Connection connection) throws InterruptedException {
            if (isDeque && asked % 2 == 0) {
                ((LinkedBlockingDeque<Connection>) idle).addFirst(connection);
            } else if (asked % 3 == 0) {
                idle.add(connection);
            } else {
                idle.put(connection);
            }
        }

        @Override
        public void askInVain() throws InterruptedException {
            if (idle.poll(1, TimeUnit.MILLISECONDS) != null || idle.poll() != null) {
                throw new AssertionError();
            }
        }
    }

    private static Source source(String kind, int size) {
        return switch (kind) {
            case "monitor" -> new MonitorPool(size);
            case "plain" -> new PlainPool(size);
            case "condition" -> new ConditionPool(size);
            case "array" -> new QueuePool(new ArrayBlockingQueue<>(16), size);
            case "linked" -> new QueuePool(new LinkedBlockingQueue<>(), size);
            case "deque" -> new QueuePool(new LinkedBlockingDeque<>(), size);
            default -> throw new IllegalArgumentException(kind);
        };
    }

    private static void query(Source source) throws Exception {
        Connection connection = source.get();
        try {
            Thread.sleep(QUERY_MS);
        } finally {
            source.giveBack(connection);
        }
        Thread.sleep(OWN_MS);
    }

    private static void pool(String kind, int size) throws Exception {
        Source source = source(kind, size);
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        workers.submit(() -> {
            source.giveBack(source.get());
            source.giveBack(source.get());
            List<Connection> all = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                all.add(source.get());
            }
            source.askInVain();
            for (Connection connection : all) {
                source.giveBack(connection);
            }
            return null;
        }).get();
        long begin = System.nanoTime();
        List<Future<?>> queries = new ArrayList<>();
        for (int i = 0; i < QUERIES; i++) {
            queries.add(workers.submit(() -> {
                query(source);
                return null;
            }));
        }
        for (Future<?> query : queries) {
            query.get();
        }
        System.out.println(2 + size + QUERIES + " " + (System.nanoTime() - begin));
        workers.shutdown();
    }

    /** Whether the consumer puts an item back, to be tried again later. */
    private interface Again {
        boolean isWanted(int item, int taken);
    }

    private static void consumed(Again again, int filled) throws Exception {
        BlockingQueue<int[]> queue = new LinkedBlockingQueue<>();
        AtomicInteger done = new AtomicInteger();
        ExecutorService consumers = Executors.newFixedThreadPool(WORKERS);
        CountDownLatch end = new CountDownLatch(ITEMS);
        for (int i = 0; i < filled; i++) {
            queue.put(new int[] {i, 0});
        }
        for (int i = 0; i < WORKERS; i++) {
            consumers.submit(() -> {
                for (int taken = 0;; taken++) {
                    int[] item = queue.take();
                    if (item[0] < 0) {
                        queue.put(item);  // all are to see it
                        return null;
                    }
                    if (item[1]++ == 0 && again.isWanted(item[0], taken)) {
                        queue.put(item);
                    } else {
                        done.incrementAndGet();
                        end.countDown();
                    }
                }
            });
        }
        for (int i = filled; i < ITEMS; i++) {
            queue.put(new int[] {i, 0});
            if (i % 16 == 0) {
                Thread.sleep(1);
            }
        }
        end.await();
        queue.put(new int[] {-1, 0});
        consumers.shutdown();
        consumers.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println(done.get() + " consumed");
    }

    /** Tasks that hand themselves on again, to the thread that takes them. */
    private static void resubmitted() throws Exception {
        ExecutorService one = Executors.newFixedThreadPool(1);
        CountDownLatch end = new CountDownLatch(ITEMS);
        one.execute(new Runnable() {
            @Override
            public void run() {
                end.countDown();
                if (end.getCount() > 0) {
                    one.execute(this);
                }
            }
        });
        end.await();
        one.shutdown();
        System.out.println(ITEMS + " run");
    }

    /** Buffers that are used again where there are some, and else made. */
    private static void recycled() throws Exception {
        BlockingQueue<byte[]> buffers = new ArrayBlockingQueue<>(WORKERS);
        AtomicInteger used = new AtomicInteger();
        ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
        for (int i = 0; i < ITEMS; i++) {
            workers.submit(() -> {
                byte[] buffer = buffers.poll();
                buffer = buffer != null ? buffer : new byte[64];
                Thread.sleep(1);
                used.incrementAndGet();
                buffers.offer(buffer);
                return null;
            });
        }
        workers.shutdown();
        workers.awaitTermination(1, TimeUnit.MINUTES);
        System.out.println(used.get() + " used");
    }

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "retried" -> consumed((item, taken) -> item % 5 == 0, 0);
            case "retriedFirst" -> consumed((item, taken) -> taken < 2, ITEMS);  // as a pool's, at first
            case "consumed" -> consumed((item, taken) -> false, 0);
            case "resubmitted" -> resubmitted();
            case "recycled" -> recycled();
            default -> pool(arguments[0], Integer.parseInt(arguments[1]));
        }
    }
}
