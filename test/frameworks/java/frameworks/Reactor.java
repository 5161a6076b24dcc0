package frameworks;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Each element on a worker of its own. */
public final class Reactor {
    public static void main(String[] arguments) {
        int sum = Flux.range(0, Work.TASKS).flatMap(i -> Mono.fromCallable(() -> work(i)).subscribeOn(Schedulers.parallel()))
                .reduce(0, Integer::sum).block();
        int other = Flux.range(0, Work.TASKS).flatMap(i -> Mono.fromCallable(() -> work(i)).subscribeOn(Schedulers.boundedElastic()))
                .reduce(0, Integer::sum).block();
        System.out.println(sum + " " + other);
        Schedulers.shutdownNow();
    }

    private static int work(int i) {
        Work.spin();
        return i;
    }
}
