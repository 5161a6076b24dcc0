package shop.api;

import java.util.LinkedHashMap;
import java.util.Map;

/** The texts of the products asked for last. Thread-safe. */
final class ProductCache {
  private static final int CAPACITY = 120;
  private final Map<Integer, String> texts = new LinkedHashMap<>(CAPACITY, 0.75f, true) {
    @Override
    protected boolean removeEldestEntry(Map.Entry<Integer, String> eldest) {
      return size() > CAPACITY;
    }
  };

  synchronized String get(int product) {
    return texts.get(product);
  }

  synchronized void put(int product, String text) {
    texts.put(product, text);
  }
}
