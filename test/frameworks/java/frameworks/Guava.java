package frameworks;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.ListeningExecutorService;
import com.google.common.util.concurrent.MoreExecutors;
import com.google.common.util.concurrent.SettableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Listenable futures, one that fails, one that is completed by hand, a sequential executor, and one that runs in place. */
public final class Guava {
    public static void main(String[] arguments) throws Exception {
        ListeningExecutorService pool = MoreExecutors.listeningDecorator(Executors.newFixedThreadPool(2));
        for (int i = 0; i < Work.TASKS; i++) {
            pool.submit(Work::spin).get();
        }
        ListenableFuture<Integer> failing = pool.submit(Guava::fail);
        try {
            failing.get();
        } catch (ExecutionException e) {
            System.out.println(e.getCause().getMessage());
        }
        SettableFuture<Integer> byHand = SettableFuture.create();
        pool.execute(() -> {
            Work.spin();
            byHand.set(1);
        });
        System.out.println(byHand.get(10, TimeUnit.SECONDS));
        Work.executeAll(MoreExecutors.newSequentialExecutor(pool));
        Executor inPlace = MoreExecutors.directExecutor();
        for (int i = 0; i < Work.TASKS; i++) {
            inPlace.execute(Guava::stage);
        }
        System.out.println(Futures.getDone(Futures.immediateFuture(3)));
        pool.shutdown();
        System.out.println(pool.awaitTermination(10, TimeUnit.SECONDS));
    }

    private static void stage() {
        Work.spin();
    }

    private static int fail() {
        Work.spin();
        throw new IllegalStateException("failed");
    }
}
