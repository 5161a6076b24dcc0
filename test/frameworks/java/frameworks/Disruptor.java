package frameworks;

import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.util.DaemonThreadFactory;
import java.util.concurrent.CountDownLatch;

/** Events through a ring: no Runnable is handed over, so there are no tasks to see. */
public final class Disruptor {
    private long value;

    public static void main(String[] arguments) throws Exception {
        CountDownLatch done = new CountDownLatch(Work.TASKS);
        var disruptor = new com.lmax.disruptor.dsl.Disruptor<>(Disruptor::new, 64, DaemonThreadFactory.INSTANCE);
        disruptor.handleEventsWith((event, sequence, last) -> {
            Work.spin();
            done.countDown();
        });
        RingBuffer<Disruptor> ring = disruptor.start();
        for (int i = 0; i < Work.TASKS; i++) {
            long at = ring.next();
            ring.get(at).value = i;
            ring.publish(at);
        }
        done.await();
        disruptor.shutdown();
        System.out.println(done.getCount());
    }
}
