package frameworks;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CountDownLatch;

/**
 * Both ends of some connections of Netty's epoll transport. Prints what each end did, one line for each, as
 * test/jvm/java/Connections.java does.
 */
public final class NettyEpoll {
  private static final int CONNECTIONS = 3, REQUESTS = 20, REQUEST_BYTES = 20, ANSWER_BYTES = 300;

  private NettyEpoll() {}

  private static final class Server extends SimpleChannelInboundHandler<ByteBuf> {
    private boolean twoParts;

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf request) {
      twoParts = !twoParts;
      if (twoParts) {
        context.write(Unpooled.directBuffer(ANSWER_BYTES).writeZero(ANSWER_BYTES - 1));
        context.writeAndFlush(Unpooled.buffer().writeZero(1));
      } else {
        context.writeAndFlush(Unpooled.directBuffer(ANSWER_BYTES).writeZero(ANSWER_BYTES));
      }
    }
  }

  private static final class Client extends SimpleChannelInboundHandler<ByteBuf> {
    private final CountDownLatch done;
    private int received;

    Client(CountDownLatch done) {
      this.done = done;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      context.writeAndFlush(Unpooled.directBuffer(REQUEST_BYTES).writeZero(REQUEST_BYTES));
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf answer) {
      received += answer.readableBytes();
      if (received == REQUESTS * ANSWER_BYTES) {
        context.close();
      } else if (received % ANSWER_BYTES == 0) {
        channelActive(context);
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      done.countDown();
    }
  }

  private static ChannelInitializer<SocketChannel> each(java.util.function.Supplier<SimpleChannelInboundHandler<ByteBuf>> handler) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(SocketChannel channel) {
        channel.pipeline().addLast(handler.get());
      }
    };
  }

  public static void main(String[] arguments) throws Exception {
    EventLoopGroup servers = new EpollEventLoopGroup(2);
    EventLoopGroup clients = new EpollEventLoopGroup(1);
    Channel server = new ServerBootstrap().group(servers).channel(EpollServerSocketChannel.class).childHandler(each(Server::new))
        .bind(InetAddress.getLoopbackAddress(), 0).sync().channel();
    int port = ((InetSocketAddress) server.localAddress()).getPort();
    for (int i = 0; i < CONNECTIONS; i++) {
      CountDownLatch done = new CountDownLatch(1);
      Channel client = new Bootstrap().group(clients).channel(EpollSocketChannel.class).handler(each(() -> new Client(done)))
          .connect(server.localAddress()).sync().channel();
      int local = ((InetSocketAddress) client.localAddress()).getPort();
      done.await();
      int sent = REQUESTS * REQUEST_BYTES, answered = REQUESTS * ANSWER_BYTES;
      System.out.println("connected " + local + " " + port + " - " + answered + " " + REQUESTS + " " + sent);
      System.out.println("accepted " + port + " " + local + " " + (REQUESTS + 1) + " " + sent + " " + REQUESTS + " " + answered);
    }
    server.close().sync();
    clients.shutdownGracefully().sync();
    servers.shutdownGracefully().sync();
  }
}
