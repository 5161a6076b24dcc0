package frameworks;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Blocking code on its workers, and handlers on an event loop. */
public final class VertX {
    public static void main(String[] arguments) throws Exception {
        Vertx vertx = Vertx.vertx(new VertxOptions().setWorkerPoolSize(2).setEventLoopPoolSize(1));
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < Work.TASKS; i++) {
            int number = i;
            all.add(vertx.executeBlocking(() -> work(number), false));
        }
        Future.all(all).toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
        System.out.println(all.stream().mapToInt(Future::result).sum());
        CountDownLatch done = new CountDownLatch(Work.TASKS);
        for (int i = 0; i < Work.TASKS; i++) {
            vertx.runOnContext(nothing -> handle(done));
        }
        System.out.println(done.await(60, TimeUnit.SECONDS));
        vertx.close().toCompletionStage().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }

    private static int work(int i) {
        Work.spin();
        return i;
    }

    private static void handle(CountDownLatch done) {
        Work.spin();
        done.countDown();
    }
}
