package unseen;

import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Reactor: stations are asked on a bounded elastic scheduler of three threads, one in eleven fails and is asked again, what they say is put
 * together on a parallel scheduler of one. Twins: more threads that ask.
 */
public final class Weather {
  public static void main(String[] arguments) {
    Scheduler asking = Schedulers.newBoundedElastic(Stopwatch.size(arguments, 3), 1000, "asking");
    Scheduler putting = Schedulers.newParallel("putting", 1);
    Stopwatch watch = new Stopwatch();
    Long sum = Flux.range(0, 120)
                   .flatMap(station -> Mono.fromCallable(() -> ask(station)).subscribeOn(asking)
                                           .onErrorResume(IllegalStateException.class, e -> Mono.fromCallable(() -> ask(station + 1)).subscribeOn(asking)), 32)
                   .publishOn(putting)
                   .map(Weather::smoothed)
                   .reduce(0L, Long::sum)
                   .block(Duration.ofSeconds(60));
    watch.print(sum);
    asking.dispose();
    putting.dispose();
  }

  private static int ask(int station) throws InterruptedException {
    Thread.sleep(7 + station % 6);
    if (station % 11 == 10) {
      throw new IllegalStateException("station " + station + " is silent");
    }
    return station * 37 % 411;
  }

  private static long smoothed(int degrees) {
    long value = degrees;
    for (int i = 0; i < 60_000; i++) {
      value = value * 29 + (value >>> 9) + i;
    }
    return value & 0xFFF;
  }
}
