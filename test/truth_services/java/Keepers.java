import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Three threads of the program's own keep the records: handlers hand them what they are asked for by a queue, and wait at a latch until
 * it is there. No executor is in between. Changed: twelve such threads.
 */
final class Keepers {
  private static final int HANDLERS = 64;
  private static final int KEEPERS = 3;
  private static final int MORE_KEEPERS = 12;

  private static final class Question {
    final int id;
    final CountDownLatch done = new CountDownLatch(1);
    String answer;

    Question(int id) {
      this.id = id;
    }
  }

  private final BlockingQueue<Question> questions = new LinkedBlockingQueue<>();

  public static void main(String[] args) throws Exception {
    Service service = Service.of(args, "base", "more-keepers");
    Keepers records = new Keepers();
    int keepers = service.variant.equals("base") ? KEEPERS : MORE_KEEPERS;
    for (int i = 0; i < keepers; ++i) {
      Thread keeper = new Thread(records::keep, "keeper-" + i);
      keeper.setDaemon(true);
      keeper.start();
    }
    service.serve(Executors.newFixedThreadPool(HANDLERS), records::ask);
  }

  private String ask(int id) throws InterruptedException {
    String details = Remote.ask("details", id, 3);
    Question question = new Question(id);
    questions.add(question);
    question.done.await();
    return Page.of("record", id, 800 + id % 5 * 200).summary() + " " + details + " " + question.answer;
  }

  private void keep() {
    try {
      while (true) {
        Question question = questions.take();
        question.answer = Remote.ask("record", question.id, 8 + question.id % 3);
        question.done.countDown();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
