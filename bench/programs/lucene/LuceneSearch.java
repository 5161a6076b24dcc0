import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.PhraseQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Lucene: indexes generated documents on several threads, then answers queries from several clients, each query split
 * over the index's segments on an executor. Standard output is the number of hits and the sum of the best scores, which
 * depend on the documents only and not on how the threads divided them into segments.
 */
public final class LuceneSearch {
  private static final int INDEXERS = 4;
  private static final int CLIENTS = 4;
  private static final int WORDS = 20_000;
  private static final int WORDS_PER_DOCUMENT = 80;

  public static void main(String[] arguments) throws Exception {
    int documents = Integer.parseInt(arguments[0]);
    int queries = Integer.parseInt(arguments[1]);
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    ExecutorService slices = Executors.newFixedThreadPool(CLIENTS);
    try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
      long begin = System.nanoTime();
      index(directory, documents, clients);
      try (IndexReader reader = DirectoryReader.open(directory)) {
        Answer answer = search(new SegmentSearcher(reader, slices), queries, clients);
        System.err.println("work_ns=" + (System.nanoTime() - begin));
        System.out.println("documents " + reader.numDocs() + " hits " + answer.hits + " score " + answer.score);
      }
    } finally {
      clients.shutdown();
      slices.shutdown();
    }
  }

  private static void index(ByteBuffersDirectory directory, int documents, ExecutorService threads) throws Exception {
    IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setRAMBufferSizeMB(4);
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      List<Future<?>> parts = new ArrayList<>();
      for (int indexer = 0; indexer < INDEXERS; indexer++) {
        int first = indexer;
        parts.add(threads.submit(() -> {
          for (int number = first; number < documents; number += INDEXERS) writer.addDocument(document(number));
          return null;
        }));
      }
      for (Future<?> part : parts) part.get();
    }
  }

  private static Document document(int number) {
    Random random = new Random(number);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < WORDS_PER_DOCUMENT; i++) text.append(word(random)).append(' ');
    Document document = new Document();
    document.add(new TextField("text", text.toString(), Field.Store.NO));
    return document;
  }

  /** Frequent words far oftener than rare ones, as in real text. */
  private static String word(Random random) {
    return "w" + (int) (Math.pow(WORDS, random.nextDouble()) - 1);
  }

  record Answer(long hits, long score) {}

  private static Answer search(IndexSearcher searcher, int queries, ExecutorService clients) throws Exception {
    List<Future<Answer>> parts = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      int first = client;
      parts.add(clients.submit(() -> {
        long hits = 0;
        long score = 0;
        for (int number = first; number < queries; number += CLIENTS) {
          Query query = query(number);
          hits += searcher.count(query);
          for (ScoreDoc best : searcher.search(query, 10).scoreDocs) score += Math.round(best.score * 100);
        }
        return new Answer(hits, score);
      }));
    }
    long hits = 0;
    long score = 0;
    for (Future<Answer> part : parts) {
      hits += part.get().hits;
      score += part.get().score;
    }
    return new Answer(hits, score);
  }

  private static Query query(int number) {
    Random random = new Random(-1L - number);
    String first = word(random);
    String second = word(random);
    switch (number % 3) {
      case 0:
        return new TermQuery(new Term("text", first));
      case 1:
        return new PhraseQuery(2, "text", first, second);
      default:
        return new BooleanQuery.Builder()
            .add(new TermQuery(new Term("text", first)), Occur.SHOULD)
            .add(new TermQuery(new Term("text", second)), Occur.SHOULD)
            .build();
    }
  }

  /** One slice for each segment: the index is too small for the default to split it. */
  static final class SegmentSearcher extends IndexSearcher {
    SegmentSearcher(IndexReader reader, ExecutorService executor) {
      super(reader, executor);
    }

    @Override
    protected LeafSlice[] slices(List<LeafReaderContext> leaves) {
      return slices(leaves, 1, 1);
    }
  }
}
