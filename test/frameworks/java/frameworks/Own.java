package frameworks;

import java.util.ArrayDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Executors that no table knows: with a queue of its own, one that refuses, two in place, two that hand on, one with a thread per task, and a pool of the JDK's. */
public final class Own {
    public static void main(String[] arguments) throws Exception {
        Queue queue = new Queue(2);
        Work.executeAll(queue);
        for (int i = 0; i < Work.TASKS; i++) {
            FutureTask<Void> future = new FutureTask<>(Own::future, null);
            queue.execute(future);
            future.get();
        }
        queue.stop();
        for (int i = 0; i < 5; i++) {
            try {
                queue.execute(Own::refused);
            } catch (RejectedExecutionException e) {
                System.out.println(e.getMessage());
            }
        }
        Executor inPlace = new InPlace();
        for (int i = 0; i < Work.TASKS; i++) {
            inPlace.execute(Own::stage);
        }
        Executor counting = new InPlaceCounting();
        for (int i = 0; i < Work.TASKS; i++) {
            counting.execute(Own::counted);
        }
        ExecutorService pool = Executors.newFixedThreadPool(2);
        Work.executeAll(new HandsOn(pool));
        Work.executeAll(new HandsOnDeeper(pool));
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS));
        runAlso(Own::shared);
        submitFromPlace(inPlace);
        executeBySubclass();
        Work.executeAll(new ThreadPerTask());
    }

    /** What an executor in place runs hands something over itself: the executor goes on to run what it gets. */
    private static void submitFromPlace(Executor inPlace) throws InterruptedException {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        for (int i = 0; i < Work.TASKS; i++) {
            inPlace.execute(() -> pool.execute(Own::submitted));
        }
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS));
    }

    /** A pool of the JDK's whatever its subclass overrides, with no field beside the JDK's. */
    private static void executeBySubclass() throws InterruptedException {
        Pool pool = new Pool();
        Work.executeAll(pool);
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS) + " " + pool.executed + " " + Pool.class.getDeclaredFields().length);
    }

    private static void submitted() {
        Work.spin();
    }

    /** A pool gets the very Runnable that its submitter calls as well, before a worker can: that call is no task. */
    private static void runAlso(Runnable shared) throws InterruptedException {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        CountDownLatch called = new CountDownLatch(1);
        pool.execute(() -> {
            try {
                called.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        pool.execute(shared);
        shared.run();
        called.countDown();
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
    }

    private static void shared() {
        Work.spin();
    }

    private static void future() {
        Work.spin();
    }

    private static void stage() {
        Work.spin();
    }

    private static void counted() {
        Work.spin();
    }

    private static void refused() {
        Work.spin();
    }

    static final class Queue implements Executor {
        private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        private boolean stopped;

        Queue(int threads) {
            for (int i = 0; i < threads; i++) {
                new Thread(this::loop).start();
            }
        }

        @Override
        public synchronized void execute(Runnable task) {
            if (stopped) {
                throw new RejectedExecutionException("refused");
            }
            tasks.add(task);
            notify();
        }

        synchronized void stop() {
            stopped = true;
            notifyAll();
        }

        private synchronized Runnable next() throws InterruptedException {
            while (tasks.isEmpty() && !stopped) {
                wait();
            }
            return tasks.poll();
        }

        private void loop() {
            try {
                for (Runnable task = next(); task != null; task = next()) {
                    task.run();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static final class InPlace implements Executor {
        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    static final class InPlaceCounting implements Executor {
        private final LinkedBlockingQueue<Integer> runs = new LinkedBlockingQueue<>();

        @Override
        public void execute(Runnable task) {
            runs.add(1);
            task.run();
            runs.remove();
        }
    }

    static class Pool extends ThreadPoolExecutor {
        int executed;

        Pool() {
            super(2, 2, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        public void execute(Runnable task) {
            ++executed;
            super.execute(task);
        }
    }

    static final class ThreadPerTask implements Executor {
        @Override
        public void execute(Runnable task) {
            start(task);
        }

        private static void start(Runnable task) {
            new Thread(task).start();
        }
    }

    static final class HandsOn implements Executor {
        private final Executor to;

        HandsOn(Executor to) {
            this.to = to;
        }

        @Override
        public void execute(Runnable task) {
            to.execute(() -> task.run());
        }
    }

    static final class HandsOnDeeper implements Executor {
        private final Executor to;
        private final LinkedBlockingQueue<Integer> permits = new LinkedBlockingQueue<>();

        HandsOnDeeper(Executor to) {
            this.to = to;
        }

        @Override
        public void execute(Runnable task) {
            permits.add(1);
            pass(task);
        }

        private void pass(Runnable task) {
            to.execute(task);
        }
    }
}
