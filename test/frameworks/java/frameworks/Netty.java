package frameworks;

import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Event loops: bare Runnables, futures that are waited for, timed tasks, one that is waited for in vain, one that repeats until it fails, and a promise that a task completes. */
public final class Netty {
    public static void main(String[] arguments) throws Exception {
        NioEventLoopGroup group = new NioEventLoopGroup(2);
        Work.executeAll(group);
        for (int i = 0; i < Work.TASKS; i++) {
            Future<?> future = group.submit(Work::spin);
            future.sync();
        }
        for (int i = 0; i < 3; i++) {
            group.schedule(Work::spin, 2, TimeUnit.MILLISECONDS).await();
        }
        Future<?> late = group.schedule(Work::spin, 1, TimeUnit.HOURS);
        System.out.println(late.await(1, TimeUnit.MILLISECONDS) + " " + late.cancel(false));
        AtomicInteger runs = new AtomicInteger();
        group.next().scheduleAtFixedRate(() -> {
            Work.spin();
            if (runs.incrementAndGet() == 5) {
                throw new IllegalStateException("the last run");
            }
        }, 1, 1, TimeUnit.MILLISECONDS).await();
        DefaultEventExecutor other = new DefaultEventExecutor();
        Promise<Integer> promise = new DefaultPromise<>(other);
        other.execute(() -> {
            Work.spin();
            promise.setSuccess(1);
        });
        promise.awaitUninterruptibly();
        System.out.println(promise.getNow());
        other.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
        group.shutdownGracefully(0, 1, TimeUnit.SECONDS).await();
    }
}
