package shop.api;

import java.util.HashMap;
import java.util.Map;

/** The query part of a request's address, e.g. {@code user=7&quantity=2}. */
final class Request {
  private final Map<String, String> values = new HashMap<>();

  /** {@code query} may be null, for an address without one. */
  Request(String query) {
    for (String pair : query == null ? new String[0] : query.split("&")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        values.put(pair.substring(0, equals), pair.substring(equals + 1));
      }
    }
  }

  String text(String name) {
    String value = values.get(name);
    if (value == null) {
      throw new IllegalArgumentException("the request lacks " + name);
    }
    return value;
  }

  int number(String name) {
    return Integer.parseInt(text(name));
  }
}
