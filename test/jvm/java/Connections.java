import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;

/**
 * Both ends of some connections, of each kind that the JDK has. Prints what each end did, one line for each:
 * KIND LOCAL_PORT REMOTE_PORT RECEIVES BYTES SENDS BYTES, where "-" is not known; an end that was seen counts as a receive of 0 bytes.
 * All that goes over them, headers too, is full of a word that must be in no recording.
 */
public final class Connections {
  private static final int CONNECTIONS = 3, REQUESTS = 5, REQUEST_BYTES = 20, ANSWER_BYTES = 300;
  private static final int SLOW_CLIENTS = 4, SLOW_MS = 30;
  private static final String SECRET = "confidential";
  private static final int OF_CONNECTION = REQUESTS * REQUEST_BYTES, OF_ANSWERS = REQUESTS * ANSWER_BYTES;

  private Connections() {}

  private static byte[] filled(int bytes) {
    byte[] data = new byte[bytes];
    for (int i = 0; i < bytes; i++) {
      data[i] = (byte) SECRET.charAt(i % SECRET.length());
    }
    return data;
  }

  private interface Body {
    void run() throws Exception;
  }

  private static Thread start(Body body) {
    Thread thread = new Thread(() -> {
      try {
        body.run();
      } catch (Exception e) {
        e.printStackTrace();
        System.exit(1);
      }
    });
    thread.start();
    return thread;
  }

  private static void tell(String kind, int local, int remote, String did) {
    System.out.println(kind + " " + local + " " + remote + " " + did);
  }

  private static String did(int receives, int received, int sends, int sent) {
    return receives + " " + received + " " + sends + " " + sent;
  }

  // ---- clients

  /** Each answer is whole before the next request goes out. */
  private static void ask(int port) throws IOException {
    for (int i = 0; i < CONNECTIONS; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        for (int k = 0; k < REQUESTS; k++) {
          socket.getOutputStream().write(filled(REQUEST_BYTES));
          socket.getInputStream().readNBytes(ANSWER_BYTES);
        }
        tell("connected", socket.getLocalPort(), port, did(REQUESTS, OF_ANSWERS, REQUESTS, OF_CONNECTION));
        tell("accepted", port, socket.getLocalPort(), did(REQUESTS + 1, OF_CONNECTION, REQUESTS, OF_ANSWERS));
      }
    }
  }

  // ---- servers

  private static void sockets() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread acceptor = start(() -> {
        for (int i = 0; i < CONNECTIONS; i++) {
          answer(server.accept());
        }
      });
      ask(server.getLocalPort());
      acceptor.join();
    }
  }

  private static void answer(Socket socket) throws IOException {
    answer(socket, () -> {});
  }

  private static void answer(Socket socket, Runnable work) throws IOException {
    try (socket) {
      byte[] buffer = new byte[4096];
      InputStream in = socket.getInputStream();
      while (in.read(buffer) > 0) {
        work.run();
        socket.getOutputStream().write(filled(ANSWER_BYTES));
      }
    }
  }

  /** Clients of four kinds in turn, on this thread, wait for each answer of a server that takes its time. */
  private static void slow() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread acceptor = start(() -> {
        for (int i = 0; i < SLOW_CLIENTS; i++) {
          Socket socket = server.accept();
          start(() -> answer(socket, Connections::takeTime));
        }
      });
      for (int limit : new int[] {0, 60_000}) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort())) {
          socket.setSoTimeout(limit);
          for (int k = 0; k < REQUESTS; k++) {
            socket.getOutputStream().write(filled(REQUEST_BYTES));
            socket.getInputStream().readNBytes(ANSWER_BYTES);
          }
          tellSlow(socket.getLocalPort(), server.getLocalPort());
        }
      }
      for (boolean selects : new boolean[] {false, true}) {
        try (SocketChannel channel = SocketChannel.open(server.getLocalSocketAddress()); Selector selector = Selector.open()) {
          channel.configureBlocking(!selects);
          if (selects) {
            channel.register(selector, SelectionKey.OP_READ);
          }
          for (int k = 0; k < REQUESTS; k++) {
            channel.write(ByteBuffer.wrap(filled(REQUEST_BYTES)));
            if (selects) {
              selector.select();
              selector.selectedKeys().clear();
            }
            channel.read(ByteBuffer.allocate(4096));
          }
          tellSlow(channel.socket().getLocalPort(), server.getLocalPort());
        }
      }
      acceptor.join();
    }
  }

  private static void takeTime() {
    try {
      Thread.sleep(SLOW_MS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void tellSlow(int local, int port) {
    tell("connected", local, port, did(REQUESTS, OF_ANSWERS, REQUESTS, OF_CONNECTION));
    tell("accepted", port, local, did(REQUESTS + 1, OF_CONNECTION, REQUESTS, OF_ANSWERS));
  }

  /** With a time limit: the JDK does without blocking calls, and waits for each answer. */
  private static void timed() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      server.setSoTimeout(60_000);
      Thread acceptor = start(() -> {
        for (int i = 0; i < CONNECTIONS; i++) {
          Socket socket = server.accept();
          socket.setSoTimeout(60_000);
          answer(socket);
        }
      });
      ask(server.getLocalPort());
      acceptor.join();
    }
  }

  /** An event loop. */
  private static void selector() throws Exception {
    try (Selector selector = Selector.open(); ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      server.configureBlocking(false);
      server.register(selector, SelectionKey.OP_ACCEPT);
      int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
      Thread client = start(() -> ask(port));
      ByteBuffer buffer = ByteBuffer.allocateDirect(4096);
      for (int ended = 0; ended < CONNECTIONS;) {
        selector.select();
        for (SelectionKey key : selector.selectedKeys()) {
          if (key.isAcceptable()) {
            SocketChannel accepted = server.accept();
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ);
          } else if (((SocketChannel) key.channel()).read(buffer.clear()) < 0) {
            key.channel().close();
            ended++;
          } else {
            if (((SocketChannel) key.channel()).read(buffer) != 0) {  // in vain: the client waits for its answer
              throw new IllegalStateException();
            }
            ByteBuffer direct = ByteBuffer.allocateDirect(ANSWER_BYTES / 2).put(filled(ANSWER_BYTES / 2)).flip();
            ByteBuffer[] parts = {direct, ByteBuffer.wrap(filled(ANSWER_BYTES / 2))};
            ((SocketChannel) key.channel()).write(parts);
          }
        }
        selector.selectedKeys().clear();
      }
      client.join();
    }
  }

  private static void asynchronous() throws Exception {
    try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
      AsynchronousSocketChannel client = AsynchronousSocketChannel.open();
      Future<AsynchronousSocketChannel> accepting = server.accept();
      client.connect(server.getLocalAddress()).get();
      AsynchronousSocketChannel accepted = accepting.get();
      for (int k = 0; k < REQUESTS; k++) {
        client.write(ByteBuffer.wrap(filled(REQUEST_BYTES))).get();
        accepted.read(ByteBuffer.allocate(4096)).get();
        accepted.write(ByteBuffer.wrap(filled(ANSWER_BYTES))).get();
        client.read(ByteBuffer.allocate(4096)).get();
      }
      int local = ((InetSocketAddress) client.getLocalAddress()).getPort();
      tell("connected", local, port, did(REQUESTS, OF_ANSWERS, REQUESTS, OF_CONNECTION));
      tell("accepted", port, local, did(REQUESTS, OF_CONNECTION, REQUESTS, OF_ANSWERS));
      client.close();
      accepted.close();
    }
  }

  private static void local() throws Exception {
    Path path = Files.createTempDirectory("contrafact").resolve("socket");
    UnixDomainSocketAddress address = UnixDomainSocketAddress.of(path);
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(address);
      try (SocketChannel client = SocketChannel.open(address); SocketChannel accepted = server.accept()) {
        client.write(ByteBuffer.wrap(filled(REQUEST_BYTES)));
        accepted.read(ByteBuffer.allocate(4096));
        accepted.write(ByteBuffer.wrap(filled(ANSWER_BYTES)));
        client.read(ByteBuffer.allocate(4096));
      }
      tell("connected", 0, 0, did(1, ANSWER_BYTES, 1, REQUEST_BYTES));
      tell("accepted", 0, 0, did(1, REQUEST_BYTES, 1, ANSWER_BYTES));
    } finally {
      Files.delete(path);
      Files.delete(path.getParent());
    }
  }

  /** What goes over them is none of a connection's. */
  private static void pipesAndFiles() throws Exception {
    Pipe pipe = Pipe.open();
    pipe.sink().write(ByteBuffer.wrap(filled(REQUEST_BYTES)));
    pipe.source().read(ByteBuffer.allocate(4096));
    Path file = Files.createTempFile("contrafact", "");
    Path copy = Files.createTempFile("contrafact", "");
    Files.write(file, filled(ANSWER_BYTES));
    try (FileChannel from = FileChannel.open(file); FileChannel to = FileChannel.open(copy, StandardOpenOption.WRITE)) {
      from.transferTo(0, ANSWER_BYTES, to);
    }
    Files.delete(file);
    Files.delete(copy);
    pipe.sink().close();
    pipe.source().close();
  }

  /** Straight from the disk. */
  private static void transfer() throws Exception {
    Path file = Files.createTempFile("contrafact", "");
    Files.write(file, filled(ANSWER_BYTES));
    try (ServerSocketChannel server = ServerSocketChannel.open(); FileChannel from = FileChannel.open(file)) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      int port = ((InetSocketAddress) server.getLocalAddress()).getPort();
      try (SocketChannel client = SocketChannel.open(server.getLocalAddress()); SocketChannel accepted = server.accept()) {
        for (int k = 0; k < REQUESTS; k++) {
          from.transferTo(0, ANSWER_BYTES, accepted);
          client.read(ByteBuffer.allocate(4096));
        }
        int local = ((InetSocketAddress) client.getLocalAddress()).getPort();
        tell("connected", local, port, did(REQUESTS, OF_ANSWERS, 0, 0));
        tell("accepted", port, local, did(0, 0, REQUESTS, OF_ANSWERS));
      }
    } finally {
      Files.delete(file);
    }
  }

  /** How the server reads and writes is its own affair. */
  private static void http() throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/answer", exchange -> {
      exchange.getResponseHeaders().set("X-" + SECRET, SECRET);
      exchange.sendResponseHeaders(200, ANSWER_BYTES);
      try (OutputStream out = exchange.getResponseBody()) {
        out.write(filled(ANSWER_BYTES));
      }
    });
    server.start();
    int port = server.getAddress().getPort();
    String headers = "Host: localhost\r\nCookie: " + SECRET + "\r\nConnection: close\r\nContent-Length: " + SECRET.length();
    byte[] request = ("POST /answer?" + SECRET + " HTTP/1.1\r\n" + headers + "\r\n\r\n" + SECRET).getBytes("US-ASCII");
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
        socket.getOutputStream().write(request);
        int answered = socket.getInputStream().readAllBytes().length;
        lines.add("connected " + socket.getLocalPort() + " " + port + " - " + answered + " 1 " + request.length);
        lines.add("accepted " + port + " " + socket.getLocalPort() + " - " + request.length + " - " + answered);
      }
    }
    server.stop(0);
    lines.forEach(System.out::println);
  }

  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "sockets" -> sockets();
      case "timed" -> timed();
      case "slow" -> slow();
      case "selector" -> selector();
      case "asynchronous" -> asynchronous();
      case "local" -> local();
      case "none" -> pipesAndFiles();
      case "transfer" -> transfer();
      case "http" -> http();
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }
}
