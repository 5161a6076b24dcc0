package frameworks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import scala.concurrent.Await;
import scala.concurrent.ExecutionContext;
import scala.concurrent.Future;
import scala.concurrent.duration.Duration;

/** Futures on the global execution context, each with a map behind it, and on one of the program's. */
public final class Scala {
    public static void main(String[] arguments) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        int sum = sum(ExecutionContext.global()), other = sum(ExecutionContext.fromExecutorService(pool));
        System.out.println(sum + " " + other);
        pool.shutdown();
    }

    private static int sum(ExecutionContext context) throws Exception {
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < Work.TASKS; i++) {
            int number = i;
            Future<Integer> made = Future.apply(() -> work(number), context);
            all.add(made.map(value -> next(value), context));
        }
        int sum = 0;
        for (Future<Integer> each : all) {
            sum += Await.result(each, Duration.Inf());
        }
        return sum;
    }

    private static int work(int i) {
        Work.spin();
        return i;
    }

    private static int next(int i) {
        return i + 1;
    }
}
