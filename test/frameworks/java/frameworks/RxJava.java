package frameworks;

import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.schedulers.Schedulers;

/** Each element on a worker of its own, which disposes of itself, and so cancels its own future, at the end. */
public final class RxJava {
    public static void main(String[] arguments) {
        int sum = Flowable.range(0, 400).flatMap(i -> Flowable.just(i).subscribeOn(Schedulers.computation()).map(RxJava::work))
                .reduce(0, Integer::sum).blockingGet();
        int other = Flowable.range(0, 400).flatMap(i -> Flowable.fromCallable(() -> work(i)).subscribeOn(Schedulers.io()))
                .reduce(0, Integer::sum).blockingGet();
        System.out.println(sum + " " + other);
    }

    private static int work(int i) {
        Work.spin();
        return i;
    }
}
