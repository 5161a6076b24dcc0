import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Servers whose requests have names, of the kind that the argument names; each is asked by this program itself. Prints how many requests
 * there were for each endpoint.
 */
public final class Endpoints {
    private static final int THREADS = 2;
    private static final int NAMES = 100;  // that a recording keeps of paths which differ in their last segment
    private static final Map<String, Integer> EXPECTED = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        switch (arguments[0]) {
            case "http" -> http(false);
            case "many" -> http(true);
            case "own" -> own();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        EXPECTED.forEach((name, count) -> System.out.println(count + " " + name));
    }

    private static void expect(String name) {
        EXPECTED.merge(name, 1, Integer::sum);
    }

    private static void http(boolean many) throws Exception {
        ExecutorService handlers = Executors.newFixedThreadPool(THREADS);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(handlers);
        for (String context : new String[] {"/", "/orders", "/v2/items"}) {
            server.createContext(context, exchange -> {
                exchange.sendResponseHeaders(200, 4);
                exchange.getResponseBody().write("done".getBytes(StandardCharsets.US_ASCII));
                exchange.close();
            });
        }
        server.start();
        int port = server.getAddress().getPort();
        if (many) {
            for (int i = 0; i < 3 * NAMES / 2; i++) {
                String word = word(i);
                ask(port, "GET", "/" + word);
                expect("GET /" + (i < NAMES ? word : "{}"));
            }
        } else {
            for (int i = 0; i < 20; i++) {
                ask(port, "GET", "/orders/" + i + "?token=confidential");
                expect("GET /orders");
                ask(port, i % 2 == 0 ? "POST" : "PUT", "/v2/items/new");
                expect((i % 2 == 0 ? "POST" : "PUT") + " /v2/items");
                ask(port, "GET", "/users/" + (100 + i) + "/confidential%20name/photo");
                expect("GET /users/{}/{}/photo");
                ask(port, "CONFIDENTIAL", "/;confidential");
                expect("? /");
            }
        }
        server.stop(0);
        handlers.shutdown();
    }

    /** Letters only. */
    private static String word(int number) {
        StringBuilder word = new StringBuilder("w");
        for (int rest = number; rest > 0; rest /= 20) {
            word.append((char) ('a' + rest % 20));
        }
        return word.toString();
    }

    private static void ask(int port, String method, String path) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nCookie: confidential\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            if (!answer.startsWith("HTTP/1.1 200")) {
                throw new IOException(answer);
            }
        }
    }

    /** A protocol of its own: a byte says what is asked for. */
    private static void own() throws Exception {
        try (ServerSocket listening = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Thread server = new Thread(() -> serve(listening), "server");
            server.start();
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), listening.getLocalPort())) {
                for (int i = 0; i < 30; i++) {
                    socket.getOutputStream().write('a' + i % 3);
                    if (socket.getInputStream().read() != '.') {
                        throw new IOException("no answer");
                    }
                    expect(i % 3 == 0 ? "Endpoints$Orders.handle" : i % 3 == 1 ? "PUT /items/{}" : "/by/getter");
                }
            }
            server.join();
        }
    }

    private static void serve(ServerSocket listening) {
        try (Socket socket = listening.accept()) {
            InputStream in = socket.getInputStream();
            for (int asked = in.read(); asked >= 0; asked = in.read()) {
                switch (asked) {
                    case 'a' -> new Orders().handle();
                    case 'b' -> Router.route(7, "PUT", "/items/4711?confidential");
                    default -> Router.dispatch(new Asked(), new Object());
                }
                socket.getOutputStream().write('.');
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class Orders {
        int handled;

        void handle() {
            handled++;
        }
    }

    static final class Router {
        static int routed;

        static void route(long number, String method, String path) {
            routed += path.length() + method.length() + (int) number;
        }

        static void dispatch(Asked asked, Object other) {
            routed += asked.hashCode() + other.hashCode();
        }

        /** No such arguments: it stays as it is. */
        static void route(int number) {
            routed += number;
        }
    }

    static final class Asked {
        public String path() {
            return "/by/getter";
        }

        public String thrower() {
            throw new IllegalStateException("a getter's");
        }
    }
}
