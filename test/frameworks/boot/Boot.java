package frameworks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A service of Spring Boot in one jar: each request is a task of Tomcat's pool, and hands one to a pool of its own. */
@SpringBootApplication(proxyBeanMethods = false)
public class Boot {
    /** What answers. */
    @RestController
    public static class Orders {
        private final ThreadPoolTaskExecutor prices;

        Orders(ThreadPoolTaskExecutor prices) {
            this.prices = prices;
        }

        @GetMapping("/order")
        String order() throws Exception {
            Future<Integer> price = prices.submit(() -> price());
            Work.spin();
            return "price " + price.get();
        }

        private static int price() {
            Work.spin();
            return 7;
        }
    }

    @Bean
    ThreadPoolTaskExecutor prices() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(2);
        executor.setThreadNamePrefix("prices-");
        return executor;
    }

    public static void main(String[] arguments) throws Exception {
        SpringApplication application = new SpringApplication(Boot.class);
        try (var context = (ServletWebServerApplicationContext) application.run(
                "--server.port=0", "--server.address=127.0.0.1", "--spring.main.banner-mode=off", "--logging.level.root=off")) {
            int answers = 0;
            for (int i = 0; i < Work.TASKS; i++) {
                answers += request(context.getWebServer().getPort());
            }
            System.out.println(answers);
        }
    }

    private static int request(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = "GET /order HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return answer.contains("price 7") ? 1 : 0;
        }
    }
}
