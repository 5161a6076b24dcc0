package java.lang;

/**
 * Where the fields of an off-heap buffer lie (include/contrafact/deferred_buffer.h, which asserts the same). The number of
 * events that are written completely is at its beginning. Constants, which the compiler puts where they are used: the
 * class is not injected, and never loaded.
 */
final class ContrafactBuffer {
  static final int CAPACITY = 4;
  static final int CURSOR_0 = 8;  // the next free element of column 0
  static final int CURSOR_1 = 12;
  static final int IDS = 32;  // the address of the column of event kinds, of 16 bits
  static final int COLUMN_0 = 40;  // the address of the column of arguments of 64 bits
  static final int COLUMN_1 = 48;  // of those of 32 bits
  static final int OWNER = 88;
  static final int LOGICAL_THREAD = 96;

  private ContrafactBuffer() {}
}
