package frameworks;

import java.util.ArrayList;
import java.util.List;
import kotlin.Unit;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CoroutineDispatcher;
import kotlinx.coroutines.CoroutineScope;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.GlobalScope;
import kotlinx.coroutines.Job;
import kotlinx.coroutines.future.FutureKt;

/** Coroutines that never suspend, on the two dispatchers that programs use. */
public final class Kotlin {
    public static void main(String[] arguments) throws Exception {
        run(Dispatchers.getDefault());
        run(Dispatchers.getIO());
        BuildersKt.runBlocking(EmptyCoroutineContext.INSTANCE, (scope, continuation) -> {
            Work.spin();
            return Unit.INSTANCE;
        });
        System.out.println("done");
    }

    private static void run(CoroutineDispatcher dispatcher) throws Exception {
        CoroutineScope scope = GlobalScope.INSTANCE;
        List<Job> jobs = new ArrayList<>();
        for (int i = 0; i < Work.TASKS; i++) {
            jobs.add(BuildersKt.launch(scope, dispatcher, CoroutineStart.DEFAULT, (s, continuation) -> {
                Work.spin();
                return Unit.INSTANCE;
            }));
        }
        for (Job job : jobs) {
            FutureKt.asCompletableFuture(job).get();
        }
    }
}
