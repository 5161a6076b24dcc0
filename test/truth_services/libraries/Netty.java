import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** HTTP in Netty: one loop accepts, another one reads and writes, and a handler for each connection gets the requests. */
final class Netty {
  private static final int REQUEST_BYTES_MAX = 1 << 16;

  private Netty() {}

  static void serve(Service service, Supplier<ChannelHandler> handler) throws InterruptedException {
    EventLoopGroup acceptor = new NioEventLoopGroup(1);
    EventLoopGroup loop = new NioEventLoopGroup(1);
    Channel channel = new ServerBootstrap().group(acceptor, loop).channel(NioServerSocketChannel.class)
        .childOption(ChannelOption.TCP_NODELAY, true).childHandler(new ChannelInitializer<SocketChannel>() {
          @Override
          protected void initChannel(SocketChannel connection) {
            connection.pipeline().addLast(new HttpServerCodec(), new HttpObjectAggregator(REQUEST_BYTES_MAX), handler.get());
          }
        }).bind("127.0.0.1", service.port).sync().channel();
    service.serveUntilTheEnd(((InetSocketAddress) channel.localAddress()).getPort());
  }

  static int id(FullHttpRequest request) {
    return Service.id(request.uri().substring(request.uri().indexOf('?') + 1));
  }

  static void answer(ChannelHandlerContext context, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    FullHttpResponse response = new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.wrappedBuffer(bytes));
    response.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, bytes.length);
    context.writeAndFlush(response);
  }
}
