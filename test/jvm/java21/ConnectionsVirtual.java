import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A virtual thread for each connection, and for each client; prints what each end did, as Connections does. */
public final class ConnectionsVirtual {
  private static final int CONNECTIONS = 40, REQUESTS = 5, REQUEST_BYTES = 20, ANSWER_BYTES = 300;

  private static final String SECRET = "confidential";

  private ConnectionsVirtual() {}

  private static byte[] filled(int bytes) {
    return SECRET.repeat(bytes / SECRET.length() + 1).substring(0, bytes).getBytes(StandardCharsets.US_ASCII);
  }

  public static void main(String[] arguments) throws Exception {
    try (ServerSocket server = new ServerSocket(0, CONNECTIONS, InetAddress.getLoopbackAddress());
        ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      int port = server.getLocalPort();
      for (int i = 0; i < CONNECTIONS; i++) {
        executor.submit(() -> {
          try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            for (int k = 0; k < REQUESTS; k++) {
              socket.getOutputStream().write(filled(REQUEST_BYTES));
              socket.getInputStream().readNBytes(ANSWER_BYTES);
            }
            int received = REQUESTS * REQUEST_BYTES, sent = REQUESTS * ANSWER_BYTES;
            System.out.println("connected " + socket.getLocalPort() + " " + port + " " + REQUESTS + " " + sent + " " + REQUESTS + " " + received
                + "\naccepted " + port + " " + socket.getLocalPort() + " " + (REQUESTS + 1) + " " + received + " " + REQUESTS + " " + sent);
          }
          return null;
        });
      }
      for (int i = 0; i < CONNECTIONS; i++) {
        Socket socket = server.accept();
        executor.submit(() -> {
          try (socket) {
            byte[] buffer = new byte[4096];
            InputStream in = socket.getInputStream();
            while (in.read(buffer) > 0) {
              socket.getOutputStream().write(filled(ANSWER_BYTES));
            }
          }
          return null;
        });
      }
    }
  }
}
