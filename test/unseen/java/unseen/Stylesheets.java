package unseen;

import java.io.StringReader;
import java.io.StringWriter;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.xml.transform.Templates;
import javax.xml.transform.TransformerException;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/**
 * The JDK's own XSLT, as in well-known benchmarks: documents are handed to one thread, a few at a time, and the results are taken in order
 * from a bounded queue of futures by a thread of its own, until a poisoned one comes. It computes, and its code is compiled meanwhile. Twins:
 * more threads, of which the second gains and the next do not on two cores.
 */
public final class Stylesheets {
  private static final String SHEET = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'><xsl:template match='/'>"
      + "<table><xsl:for-each select='list/item[@price > 40]'><xsl:sort select='@name'/><tr><td><xsl:value-of select='@name'/></td>"
      + "<td><xsl:value-of select='@price * 1.19'/></td></tr></xsl:for-each></table></xsl:template></xsl:stylesheet>";

  public static void main(String[] arguments) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    Templates sheet = TransformerFactory.newInstance().newTemplates(new StreamSource(new StringReader(SHEET)));
    Stopwatch watch = new Stopwatch();
    BlockingQueue<Object> results = new ArrayBlockingQueue<>(8);
    Object poison = new Object();
    long[] sum = new long[1];
    Thread writer = new Thread(() -> sum[0] = written(results, poison), "writer");
    writer.start();
    for (int document = 0; document < 260; document++) {
      results.put(handedOut(pool, sheet, document));
    }
    results.put(poison);
    writer.join();
    watch.print(sum[0]);
    pool.shutdown();
  }

  private static Future<String> handedOut(ExecutorService pool, Templates sheet, int document) {
    return pool.submit(() -> styled(sheet, document));
  }

  private static String styled(Templates sheet, int document) throws TransformerException {
    StringBuilder text = new StringBuilder("<list>");
    for (int item = 0; item < 200; item++) {
      text.append("<item name='n").append((item * 7919 + document) % 1009).append("' price='").append((item * 31 + document) % 97).append("'/>");
    }
    StringWriter out = new StringWriter();
    sheet.newTransformer().transform(new StreamSource(new StringReader(text.append("</list>").toString())), new StreamResult(out));
    return out.toString();
  }

  private static long written(BlockingQueue<Object> results, Object poison) {
    long sum = 0;
    try {
      for (Object next = results.take(); next != poison; next = results.take()) {
        sum += ((Future<?>) next).get().hashCode() & 0xFFFF;
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return sum;
  }
}
