import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.undertow.Undertow;
import io.vertx.core.Vertx;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;
import org.apache.tomcat.util.descriptor.web.FilterDef;
import org.apache.tomcat.util.descriptor.web.FilterMap;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** Servers of frameworks, of the kind that the argument names, which this program asks itself. Prints how many requests each endpoint had. */
public final class Servers {
    private static final Logger LOGGER = Logger.getLogger("org");
    private static final int ROUNDS = 20;
    private static final Map<String, Integer> EXPECTED = new TreeMap<>();

    public static void main(String[] arguments) throws Exception {
        LOGGER.setLevel(Level.OFF);
        switch (arguments[0]) {
            case "tomcat" -> tomcat(false);
            case "spring" -> tomcat(true);
            case "jetty" -> jetty(false);
            case "jetty-servlets" -> jetty(true);
            case "netty" -> netty();
            case "vertx" -> vertx();
            case "undertow" -> undertow();
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        EXPECTED.forEach((name, count) -> System.out.println(count + " " + name));
        System.out.flush();
        System.exit(0);  // whatever threads a framework leaves
    }

    private static void ask(int port, String method, String path, String name) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            if (!answer.startsWith("HTTP/1.1 ")) {
                throw new IOException(path + ": " + answer);
            }
        }
        EXPECTED.merge(name, 1, Integer::sum);
    }

    private static void askForPaths(int port) throws IOException {
        for (int i = 0; i < ROUNDS; i++) {
            ask(port, "GET", "/orders/" + i + "?token=confidential", "GET /orders/{}");
            ask(port, "POST", "/orders", "POST /orders");
        }
    }

    private static void tomcat(boolean spring) throws Exception {
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("contrafact-tomcat").toString());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("/shop", null);
        if (spring) {
            AnnotationConfigWebApplicationContext beans = new AnnotationConfigWebApplicationContext();
            beans.register(Web.class, Orders.class);
            Tomcat.addServlet(context, "dispatcher", new DispatcherServlet(beans)).setLoadOnStartup(1);
            context.addServletMappingDecoded("/", "dispatcher");
        } else {
            Tomcat.addServlet(context, "page", new Page());
            context.addServletMappingDecoded("/page", "page");
            context.addServletMappingDecoded("/items/*", "page");
            refuse(context);
        }
        tomcat.start();
        int port = connector.getLocalPort();
        for (int i = 0; i < ROUNDS; i++) {
            if (spring) {
                ask(port, "GET", "/shop/orders/A" + i, "GET /orders/{id}");
                ask(port, "POST", "/shop/orders", "POST /orders");
                ask(port, "GET", "/shop/nowhere", "GET /shop/nowhere");
            } else {
                ask(port, "GET", "/shop/page?token=confidential", "GET /shop/page");
                ask(port, "GET", "/shop/items/" + (1000 + i) + ";jsessionid=confidential", "GET /shop/items/{}");
                ask(port, "GET", "/shop/page/refused", "GET /shop/page/refused");
            }
        }
        tomcat.stop();
        tomcat.destroy();
    }

    /** A filter that answers by itself. */
    private static void refuse(Context context) {
        FilterDef filter = new FilterDef();
        filter.setFilterName("refusing");
        filter.setFilter((Filter) (request, response, chain) -> {
            if (((HttpServletRequest) request).getRequestURI().endsWith("refused")) {
                ((HttpServletResponse) response).setStatus(403);
            } else {
                chain.doFilter(request, response);
            }
        });
        FilterMap map = new FilterMap();
        map.setFilterName("refusing");
        map.addURLPattern("/*");
        context.addFilterDef(filter);
        context.addFilterMap(map);
        Tomcat.addServlet(context, "rest", new Page());
        context.addServletMappingDecoded("/", "rest");
    }

    public static final class Page extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getWriter().print("done");
        }

        @Override
        protected void doPost(HttpServletRequest request, HttpServletResponse response) throws IOException {
            response.getWriter().print("done");
        }
    }

    @Configuration
    @EnableWebMvc
    public static class Web {}

    @RestController
    @RequestMapping("/orders")
    public static class Orders {
        @GetMapping("/{id}")
        public String one(@PathVariable("id") String id) {
            return id;
        }

        @PostMapping
        public String make() {
            return "made";
        }
    }

    private static void jetty(boolean servlets) throws Exception {
        Server server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        if (servlets) {
            ServletContextHandler handler = new ServletContextHandler("/");
            handler.addServlet(new Page(), "/orders/*");
            server.setHandler(handler);
        } else {
            server.setHandler(new Handler.Abstract() {
                @Override
                public boolean handle(Request request, Response response, Callback callback) {
                    Content.Sink.write(response, true, "done", callback);
                    return true;
                }
            });
        }
        server.start();
        askForPaths(((ServerConnector) server.getConnectors()[0]).getLocalPort());
        server.stop();
    }

    private static void netty() throws Exception {
        NioEventLoopGroup loops = new NioEventLoopGroup(2);
        int port = ((InetSocketAddress) new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class)
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel channel) {
                        channel.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(1 << 16), new Answering());
                    }
                }).bind(InetAddress.getLoopbackAddress(), 0).sync().channel().localAddress()).getPort();
        askForPaths(port);
        loops.shutdownGracefully().sync();
    }

    private static final class Answering extends SimpleChannelInboundHandler<FullHttpRequest> {
        @Override
        protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
            DefaultFullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK,
                    Unpooled.copiedBuffer("done", StandardCharsets.US_ASCII));
            context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
        }
    }

    private static void vertx() throws Exception {
        Vertx vertx = Vertx.vertx();
        CountDownLatch listening = new CountDownLatch(1);
        int[] port = new int[1];
        vertx.createHttpServer().requestHandler(request -> request.response().end("done")).listen(0, "127.0.0.1", made -> {
            port[0] = made.result().actualPort();
            listening.countDown();
        });
        listening.await();
        askForPaths(port[0]);
        CountDownLatch closed = new CountDownLatch(1);
        vertx.close(done -> closed.countDown());
        closed.await();
    }

    private static void undertow() throws Exception {
        Undertow server = Undertow.builder().addHttpListener(0, "127.0.0.1")
                .setHandler(exchange -> exchange.getResponseSender().send("done")).build();
        server.start();
        askForPaths(((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort());
        server.stop();
    }
}
