package frameworks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Methods that the container runs elsewhere, and tasks given to its executor. */
public final class Spring {
    /** Beans. */
    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    public static class Beans {
        @Bean
        public ThreadPoolTaskExecutor taskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setCorePoolSize(2);
            executor.setThreadNamePrefix("work-");
            return executor;
        }

        @Bean
        public Service service() {
            return new Service();
        }
    }

    /** Whose method runs elsewhere. */
    public static class Service {
        @Async
        public CompletableFuture<Integer> work(int i) {
            Work.spin();
            return CompletableFuture.completedFuture(i);
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Beans.class)) {
            Service service = context.getBean(Service.class);
            List<CompletableFuture<Integer>> all = new ArrayList<>();
            for (int i = 0; i < Work.TASKS; i++) {
                all.add(service.work(i));
            }
            int sum = 0;
            for (CompletableFuture<Integer> each : all) {
                sum += each.get();
            }
            ThreadPoolTaskExecutor executor = context.getBean(ThreadPoolTaskExecutor.class);
            List<Future<?>> others = new ArrayList<>();
            for (int i = 0; i < Work.TASKS; i++) {
                others.add(executor.submit(Work::spin));
            }
            for (Future<?> other : others) {
                other.get();
            }
            System.out.println(sum);
        }
    }
}
