import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * A thread for each Lucene query; half of them ask for phrases and take far longer. The setting is the threads of a round. The index is
 * made first, by one thread.
 */
public final class LuceneQueries {
  private static final int ROUNDS = 40;
  private static final int QUERIES = 256;
  private static final int DOCUMENTS = 1_000;
  private static final int WORDS = 2_000;
  private static final int WORDS_PER_DOCUMENT = 80;

  private static final class QueryThread extends Thread {
    private final IndexSearcher searcher;
    private final int from, to;
    private long found;

    QueryThread(IndexSearcher searcher, int from, int to) {
      this.searcher = searcher;
      this.from = from;
      this.to = to;
    }

    @Override
    public void run() {
      for (int number = from; number < to; number++) {
        found += search(searcher, number);
      }
    }
  }

  private static long search(IndexSearcher searcher, int number) {
    try {
      Query query = query(number);
      long sum = searcher.count(query);
      for (ScoreDoc best : searcher.search(query, 10).scoreDocs) {
        sum += Math.round(best.score * 100);
      }
      return sum;
    } catch (java.io.IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Every other one asks for one rare word, the rest for two frequent ones close to each other. */
  private static Query query(int number) {
    if (number % 2 == 0) {
      return new TermQuery(new Term("text", "w" + (WORDS / 2 + number)));
    }
    return new PhraseQuery(2, "text", "w" + number / 2 % 8, "w" + (number / 16 % 8 + 8));
  }

  /** Frequent words far oftener than rare ones, as in real text. */
  private static String word(Random random) {
    return "w" + (int) (Math.pow(WORDS, random.nextDouble()) - 1);
  }

  private static void index(ByteBuffersDirectory directory) throws java.io.IOException {
    try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig(new StandardAnalyzer()))) {
      for (int number = 0; number < DOCUMENTS; number++) {
        Random random = new Random(number);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORDS_PER_DOCUMENT; i++) {
          text.append(word(random)).append(' ');
        }
        Document document = new Document();
        document.add(new TextField("text", text.toString(), Field.Store.NO));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
  }

  private static long round(IndexSearcher searcher, int count) throws InterruptedException {
    QueryThread[] threads = new QueryThread[count];
    for (int thread = 0; thread < count; thread++) {
      threads[thread] = new QueryThread(searcher, QUERIES * thread / count, QUERIES * (thread + 1) / count);
      threads[thread].start();
    }
    long sum = 0;
    for (QueryThread thread : threads) {
      thread.join();
      sum += thread.found;
    }
    return sum;
  }

  public static void main(String[] args) throws Exception {
    int threads = args.length == 0 ? QUERIES : Integer.parseInt(args[0]);
    try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
      index(directory);
      try (IndexReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
        long sum = 0;
        for (int round = 0; round < ROUNDS; round++) {
          sum += round(searcher, threads);
        }
        System.out.println("result " + sum);
      }
    }
  }
}
