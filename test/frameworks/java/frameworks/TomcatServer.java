package frameworks;

import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.catalina.Context;
import org.apache.catalina.connector.Connector;
import org.apache.catalina.startup.Tomcat;

/** A server as Spring Boot embeds it: each request is a task of its pool. */
public final class TomcatServer {
    private static final Logger LOGGER = Logger.getLogger("org.apache");

    public static void main(String[] arguments) throws Exception {
        LOGGER.setLevel(Level.OFF);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(Files.createTempDirectory("contrafact-tomcat").toString());
        Connector connector = new Connector();
        connector.setPort(0);
        connector.setProperty("address", "127.0.0.1");
        tomcat.setConnector(connector);
        Context context = tomcat.addContext("", null);
        Tomcat.addServlet(context, "work", new Servlet());
        context.addServletMappingDecoded("/", "work");
        tomcat.start();
        int answers = 0;
        for (int i = 0; i < Work.TASKS; i++) {
            answers += request(connector.getLocalPort());
        }
        System.out.println(answers);
        tomcat.stop();
        tomcat.destroy();
    }

    private static int request(int port) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            String request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
            return answer.startsWith("HTTP/1.1 200") ? 1 : 0;
        }
    }

    private static final class Servlet extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
            Work.spin();
            response.getWriter().print("done");
        }
    }
}
