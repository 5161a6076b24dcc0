package frameworks;

import com.typesafe.config.ConfigFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;

/** An actor for each message. */
public final class Pekko {
    static final CountDownLatch DONE = new CountDownLatch(Work.TASKS);

    /** Spins for each message. */
    public static final class Spinner extends AbstractActor {
        @Override
        public Receive createReceive() {
            return receiveBuilder().match(Integer.class, this::handle).build();
        }

        private void handle(int message) {
            Work.spin();
            DONE.countDown();
        }
    }

    public static void main(String[] arguments) throws Exception {
        ActorSystem system = ActorSystem.create("work", ConfigFactory.parseString("pekko.loglevel = OFF"));
        List<ActorRef> actors = new ArrayList<>();
        for (int i = 0; i < Work.TASKS; i++) {
            actors.add(system.actorOf(Props.create(Spinner.class)));
        }
        for (int i = 0; i < Work.TASKS; i++) {
            actors.get(i).tell(i, ActorRef.noSender());
        }
        System.out.println(DONE.await(60, TimeUnit.SECONDS));
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
}
