import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.FullHttpRequest;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** An event loop hands its requests to workers, which wait for another service: four are too few. Changed: thirty-two. */
final class EventLoop extends SimpleChannelInboundHandler<FullHttpRequest> {
  private final ExecutorService workers;

  private EventLoop(ExecutorService workers) {
    super(false);
    this.workers = workers;
  }

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "more-workers");
    ExecutorService workers = Executors.newFixedThreadPool(service.variant.equals("base") ? 4 : 32);
    Netty.serve(service, () -> new EventLoop(workers));
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    int id = Netty.id(request);
    request.release();
    workers.execute(() -> answer(context, id));
  }

  private static void answer(ChannelHandlerContext context, int id) {
    try {
      String details = Remote.ask("details", id, 10);
      Netty.answer(context, Page.of("item", id, 1200 + id % 7 * 200).summary() + " " + details);
    } catch (InterruptedException e) {
      context.close();
    }
  }
}
