import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;

/** An event loop that itself waits for another service, and all its connections with it. Changed: a pool does that. */
final class BlockedLoop extends SimpleChannelInboundHandler<FullHttpRequest> {
  private final Executor workers;

  private BlockedLoop(Executor workers) {
    super(false);
    this.workers = workers;
  }

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "pool");
    Executor workers = service.variant.equals("pool") ? Executors.newFixedThreadPool(16) : null;
    Netty.serve(service, () -> new BlockedLoop(workers));
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) throws InterruptedException {
    int id = Netty.id(request);
    request.release();
    if (workers == null) {
      answer(context, id);
    } else {
      workers.execute(() -> answerElsewhere(context, id));
    }
  }

  private static void answerElsewhere(ChannelHandlerContext context, int id) {
    try {
      answer(context, id);
    } catch (InterruptedException e) {
      context.close();
    }
  }

  private static void answer(ChannelHandlerContext context, int id) throws InterruptedException {
    String rights = Remote.ask("rights", id, 3);
    Netty.answer(context, Page.of("item", id, 1200 + id % 7 * 200).summary() + " " + rights);
  }
}
