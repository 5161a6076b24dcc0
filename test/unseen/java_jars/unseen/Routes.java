package unseen;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jgrapht.Graph;
import org.jgrapht.alg.shortestpath.DijkstraShortestPath;
import org.jgrapht.graph.DefaultWeightedEdge;
import org.jgrapht.graph.SimpleDirectedWeightedGraph;

/**
 * JGraphT searches shortest paths, one task for each start, on a pool of one, taken as they come. It computes, and makes garbage. Twins:
 * two threads; called in place.
 */
public final class Routes {
  private static final int TOWNS = 3000, STARTS = 36;

  public static void main(String[] arguments) throws InterruptedException, ExecutionException {
    Graph<Integer, DefaultWeightedEdge> roads = roads();
    ExecutorService pool = Executors.newFixedThreadPool(Stopwatch.size(arguments, 1));
    Stopwatch watch = new Stopwatch();
    watch.print(Stopwatch.isTwin(arguments, "inline") ? called(roads) : handedOut(roads, pool));
    pool.shutdown();
  }

  private static long handedOut(Graph<Integer, DefaultWeightedEdge> roads, ExecutorService pool)
      throws InterruptedException, ExecutionException {
    ExecutorCompletionService<Long> searches = new ExecutorCompletionService<>(pool);
    for (int start = 0; start < STARTS; start++) {
      int from = start * 17;
      searches.submit(() -> length(roads, from));
    }
    long sum = 0;
    for (int start = 0; start < STARTS; start++) {
      sum += searches.take().get();
    }
    return sum;
  }

  private static long called(Graph<Integer, DefaultWeightedEdge> roads) {
    long sum = 0;
    for (int start = 0; start < STARTS; start++) {
      sum += length(roads, start * 17);
    }
    return sum;
  }

  private static long length(Graph<Integer, DefaultWeightedEdge> roads, int from) {
    var paths = new DijkstraShortestPath<>(roads).getPaths(from);
    double sum = 0;
    for (int town = 0; town < TOWNS; town += 100) {
      sum += paths.getWeight(town);
    }
    return Math.round(sum);
  }

  private static Graph<Integer, DefaultWeightedEdge> roads() {
    Graph<Integer, DefaultWeightedEdge> roads = new SimpleDirectedWeightedGraph<>(DefaultWeightedEdge.class);
    List<Integer> towns = new ArrayList<>();
    Random random = new Random(11);
    for (int town = 0; town < TOWNS; town++) {
      roads.addVertex(town);
      towns.add(town);
    }
    for (int town = 0; town < TOWNS; town++) {
      connect(roads, town, (town + 1) % TOWNS, 10);
      for (int road = 0; road < 4; road++) {
        connect(roads, town, towns.get(random.nextInt(TOWNS)), 1 + random.nextInt(30));
      }
    }
    return roads;
  }

  private static void connect(Graph<Integer, DefaultWeightedEdge> roads, int from, int to, double length) {
    DefaultWeightedEdge road = from == to ? null : roads.addEdge(from, to);
    if (road != null) {
      roads.setEdgeWeight(road, length);
    }
  }
}
