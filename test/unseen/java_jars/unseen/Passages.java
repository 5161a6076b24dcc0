package unseen;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.Field;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.ByteBuffersDirectory;

/**
 * Lucene searches an index of several segments, each a task of a pool of one. Twins: two threads; searched by who asks.
 */
public final class Passages {
  private static final int SEGMENTS = 6, DOCUMENTS = 20_000, WORDS = 12;

  public static void main(String[] arguments) throws IOException {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
      write(directory);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = Stopwatch.isTwin(arguments, "inline") ? new IndexSearcher(reader) : new IndexSearcher(reader, pool);
        Stopwatch watch = new Stopwatch();
        long found = 0;
        for (int question = 0; question < 200; question++) {
          found += searched(searcher, question);
        }
        watch.print(found);
      }
    }
    pool.shutdown();
  }

  private static long searched(IndexSearcher searcher, int question) throws IOException {
    BooleanQuery.Builder query = new BooleanQuery.Builder();
    for (int word = 0; word < 4; word++) {
      query.add(new TermQuery(new Term("word", "w" + (question + word * 7) % 40)), BooleanClause.Occur.SHOULD);
    }
    query.add(LongPoint.newRangeQuery("year", 1000 + question, 1900), BooleanClause.Occur.MUST);
    return searcher.count(query.build());
  }

  private static void write(ByteBuffersDirectory directory) throws IOException {
    Random random = new Random(3);
    try (IndexWriter writer = new IndexWriter(directory, new IndexWriterConfig().setMergePolicy(NoMergePolicy.INSTANCE))) {
      for (int segment = 0; segment < SEGMENTS; segment++) {
        for (int i = 0; i < DOCUMENTS; i++) {
          Document document = new Document();
          for (int word = 0; word < WORDS; word++) {
            document.add(new StringField("word", "w" + (int) Math.abs(random.nextGaussian() * 20), Field.Store.NO));
          }
          document.add(new LongPoint("year", 1000 + random.nextInt(1000)));
          document.add(new NumericDocValuesField("length", random.nextInt(500)));
          writer.addDocument(document);
        }
        writer.commit();
      }
    }
  }
}
