import java.util.zip.CRC32;

/** A text about an item, with so many rows: about 0.15 us of computing each, once the code is compiled. */
record Page(String text) {
  static Page of(String title, int id, int rows) {
    StringBuilder out = new StringBuilder(64 * rows);
    out.append("<h1>").append(title).append(' ').append(id).append("</h1>\n");
    for (int row = 0; row < rows; row++) {
      int value = (id * 31 + row * 17) * 2654435;
      out.append("<tr><td>").append(row).append("</td><td>");
      escape(out, (value & 1) == 0 ? "in stock & ready" : "sold <out>");
      out.append("</td><td>").append((value >>> 8) % 10_000).append("</td></tr>\n");
    }
    return new Page(out.toString());
  }

  private static void escape(StringBuilder out, String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> out.append("&lt;");
        case '>' -> out.append("&gt;");
        case '&' -> out.append("&amp;");
        default -> out.append(c);
      }
    }
  }

  /** Its length and a checksum. */
  String summary() {
    CRC32 sum = new CRC32();
    for (int i = 0; i < text.length(); i++) {
      sum.update(text.charAt(i));
    }
    return text.length() + "-" + Long.toHexString(sum.getValue());
  }
}
