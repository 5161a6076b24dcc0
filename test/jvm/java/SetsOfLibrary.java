import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.RandomAccessFile;
import java.io.Serializable;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.BitSet;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Hashtable;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.Vector;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/** Cases of {@link Sets}: the library's collections, builders, streams and natives. */
final class SetsOfLibrary extends Sets {
  static Map<Integer, Object> filled(Map<Integer, Object> map, int count) {
    for (int i = 0; i < count; i++) {
      map.put(i, "value " + i);
    }
    return map;
  }

  static <T> List<T> filled(List<T> list, T element, int count) {
    for (int i = 0; i < count; i++) {
      list.add(element);
    }
    return list;
  }

  enum Day { MONDAY, TUESDAY }

  @SuppressWarnings("serial")
  static final class Stored implements Serializable {
    int number;
    long big;
    String text = "text";
    int[] numbers = {1, 2};
  }

  @Expect("read-read")
  static final class HashMapGets extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(), 5);

    @Override
    synchronized void a() {
      map.get(3);
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class HashMapPutAndGet extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(3, new Object());
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("benign")
  static final class HashMapPutOfEqual extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(), 5);
    final Object value = map.get(3);

    @Override
    synchronized void a() {
      map.put(3, value);
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("disjoint")
  static final class HashMapPutOfOther extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(3, new Object());
    }

    @Override
    synchronized void b() {
      map.get(4);
    }
  }

  @Expect("conflict")
  static final class HashMapGrowth extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(), 5);

    @Override
    synchronized void a() {
      int size = map.size();
      for (int i = 0; i <= 2 * size; i++) {
        map.put(size + i, "more");
      }
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("disjoint")
  static final class HashMapNewKey extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(100), 5);

    @Override
    synchronized void a() {
      map.put(40, "x");
      map.remove(40);
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("conflict")
  static final class HashMapNewKeys extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(100), 5);

    @Override
    synchronized void a() {
      map.put(40, "x");
      map.remove(40);
    }

    @Override
    synchronized void b() {
      map.put(50, "x");
      map.remove(50);
    }
  }

  @Expect("conflict")
  static final class HashMapIteration extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(100), 5);

    @Override
    synchronized void a() {
      for (Object value : map.values()) {
        value.hashCode();
      }
    }

    @Override
    synchronized void b() {
      map.put(50, "x");
      map.remove(50);
    }
  }

  @Expect("conflict")
  static final class HashMapComputes extends Case {
    final Map<Integer, Object> map = filled(new HashMap<>(100), 5);

    @Override
    synchronized void a() {
      map.merge(3, "x", (x, y) -> "" + x + y);
    }

    @Override
    synchronized void b() {
      map.computeIfAbsent(3, n -> "y");
    }
  }

  @Expect("conflict")
  static final class HashSets extends Case {
    final HashSet<String> set = new HashSet<>();

    @Override
    synchronized void a() {
      set.add("a");
      set.remove("a");
    }

    @Override
    synchronized void b() {
      set.contains("a");
    }
  }

  @Expect("conflict")
  static final class LinkedHashMapInOrderOfAccess extends Case {
    final Map<Integer, Object> map = filled(new LinkedHashMap<>(16, 0.75f, true), 5);

    @Override
    synchronized void a() {
      map.get(3);
    }

    @Override
    synchronized void b() {
      map.get(2);
    }
  }

  @Expect("read-read")
  static final class LinkedHashMapGets extends Case {
    final Map<Integer, Object> map = filled(new LinkedHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.get(3);
    }

    @Override
    synchronized void b() {
      map.get(2);
    }
  }

  @Expect("read-read")
  static final class ConcurrentHashMapGets extends Case {
    final Map<Integer, Object> map = filled(new ConcurrentHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.get(3);
    }

    @Override
    synchronized void b() {
      map.get(2);
    }
  }

  @Expect("conflict")
  static final class ConcurrentHashMapPutAndGet extends Case {
    final Map<Integer, Object> map = filled(new ConcurrentHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(3, new Object());
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("conflict")
  static final class ConcurrentHashMapPuts extends Case {
    final Map<Integer, Object> map = filled(new ConcurrentHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(7, "x");
      map.remove(7);
    }

    @Override
    synchronized void b() {
      map.put(9, "x");
      map.remove(9);
    }
  }

  @Expect("disjoint")
  static final class ConcurrentHashMapBeside extends Case {
    final Map<Integer, Object> map = filled(new ConcurrentHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(7, "x");
      map.remove(7);
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("conflict")
  static final class ConcurrentHashMapFirst extends Case {
    final Map<Integer, Object> map = filled(new ConcurrentHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(9, new Object());
      map.remove(9);
    }

    @Override
    synchronized void b() {
      map.get(9);
    }
  }

  @Expect("conflict")
  static final class ConcurrentSkipListMaps extends Case {
    final Map<Integer, Object> map = filled(new ConcurrentSkipListMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(3, new Object());
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("read-read")
  static final class TreeMapGets extends Case {
    final Map<Integer, Object> map = filled(new TreeMap<>(), 5);

    @Override
    synchronized void a() {
      map.get(3);
    }

    @Override
    synchronized void b() {
      map.get(2);
    }
  }

  @Expect("conflict")
  static final class TreeMapPutAndGet extends Case {
    final Map<Integer, Object> map = filled(new TreeMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(3, new Object());
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("conflict")
  static final class TreeMapNewKey extends Case {
    final TreeMap<Integer, Object> map = new TreeMap<>(filled(new TreeMap<>(), 5));

    @Override
    synchronized void a() {
      map.put(9, "x");
      map.remove(9);
    }

    @Override
    synchronized void b() {
      map.lastKey();
    }
  }

  @Expect("conflict")
  static final class HashtablePutAndGet extends Case {
    final Map<Integer, Object> map = filled(new Hashtable<>(), 5);

    @Override
    synchronized void a() {
      map.put(3, new Object());
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("conflict")
  static final class IdentityMaps extends Case {
    final Map<Object, Object> map = new IdentityHashMap<>();
    final Object key = new Object();

    @Override
    synchronized void a() {
      map.put(key, new Object());
    }

    @Override
    synchronized void b() {
      map.get(key);
    }
  }

  @Expect("read-read")
  static final class WeakMapGets extends Case {
    final Map<Integer, Object> map = filled(new WeakHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.get(3);
    }

    @Override
    synchronized void b() {
      map.get(2);
    }
  }

  @Expect("conflict")
  static final class WeakMapPutAndGet extends Case {
    final Map<Integer, Object> map = filled(new WeakHashMap<>(), 5);

    @Override
    synchronized void a() {
      map.put(3, new Object());
    }

    @Override
    synchronized void b() {
      map.get(3);
    }
  }

  @Expect("conflict")
  static final class EnumMaps extends Case {
    final EnumMap<Day, Object> map = new EnumMap<>(Day.class);

    @Override
    synchronized void a() {
      map.put(Day.MONDAY, new Object());
    }

    @Override
    synchronized void b() {
      map.get(Day.MONDAY);
    }
  }

  @Expect("disjoint")
  static final class EnumMapsOfOther extends Case {
    final EnumMap<Day, Object> map = new EnumMap<>(Map.of(Day.MONDAY, "x", Day.TUESDAY, "y"));

    @Override
    synchronized void a() {
      map.put(Day.MONDAY, new Object());
    }

    @Override
    synchronized void b() {
      map.get(Day.TUESDAY);
    }
  }

  @Expect("conflict")
  static final class BitSets extends Case {
    final BitSet set = new BitSet(64);

    @Override
    synchronized void a() {
      set.flip(3);
    }

    @Override
    synchronized void b() {
      set.get(4);
    }
  }

  @Expect("read-read")
  static final class ArrayListGets extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      list.get(3);
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class ArrayListSetAndGet extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      list.set(3, new Object());
    }

    @Override
    synchronized void b() {
      list.get(3);
    }
  }

  @Expect("disjoint")
  static final class ArrayListSetAndGetOfOther extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      list.set(3, new Object());
    }

    @Override
    synchronized void b() {
      list.get(2);
    }
  }

  @Expect("conflict")
  static final class ArrayListAddAndGet extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      list.add("y");
    }

    @Override
    synchronized void b() {
      list.get(2);
    }
  }

  @Expect("conflict")
  static final class ArrayListInsertAndGet extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 50);

    @Override
    synchronized void a() {
      list.add(0, new Object());
      list.remove(49);
    }

    @Override
    synchronized void b() {
      list.get(2);
    }
  }

  @Expect("read-read")
  static final class ArrayListIteration extends Case {
    final List<String> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      int sum = 0;
      for (String text : list) {
        sum += text.length();
      }
    }

    @Override
    synchronized void b() {
      list.forEach(String::length);
    }
  }

  @Expect("conflict")
  static final class ArrayListCopyAndSet extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      new ArrayList<>(list).add("z");
    }

    @Override
    synchronized void b() {
      list.set(4, new Object());
    }
  }

  @Expect("conflict")
  static final class ArrayListToArrayAndSet extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      list.toArray();
    }

    @Override
    synchronized void b() {
      list.set(4, new Object());
    }
  }

  @Expect("conflict")
  static final class ArrayListSort extends Case {
    final List<String> list = new ArrayList<>(List.of("a", "b", "c", "d", "e"));

    @Override
    synchronized void a() {
      list.sort(Collections.reverseOrder());
      Collections.sort(list);
    }

    @Override
    synchronized void b() {
      list.get(4);
    }
  }

  @Expect("conflict")
  static final class SubLists extends Case {
    final List<Object> list = filled(new ArrayList<>(), "x", 5);
    final List<Object> part = list.subList(2, 4);

    @Override
    synchronized void a() {
      part.set(0, new Object());
    }

    @Override
    synchronized void b() {
      list.get(2);
    }
  }

  @Expect("conflict")
  static final class SynchronizedLists extends Case {
    final List<Object> list = Collections.synchronizedList(filled(new ArrayList<>(), "x", 5));

    @Override
    synchronized void a() {
      list.set(0, new Object());
    }

    @Override
    synchronized void b() {
      list.get(0);
    }
  }

  @Expect("conflict")
  static final class Vectors extends Case {
    final List<Object> list = filled(new Vector<>(), "x", 5);

    @Override
    synchronized void a() {
      list.set(0, new Object());
    }

    @Override
    synchronized void b() {
      list.get(0);
    }
  }

  @Expect("conflict")
  static final class CopyOnWriteLists extends Case {
    final List<Object> list = filled(new CopyOnWriteArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      list.set(0, new Object());
    }

    @Override
    synchronized void b() {
      list.get(1);
    }
  }

  @Expect("conflict")
  static final class ArrayDeques extends Case {
    final ArrayDeque<Object> queue = new ArrayDeque<>();

    @Override
    synchronized void a() {
      queue.addLast("x");
    }

    @Override
    synchronized void b() {
      queue.pollFirst();
    }
  }

  @Expect("conflict")
  static final class LinkedLists extends Case {
    final LinkedList<Object> queue = new LinkedList<>();

    @Override
    synchronized void a() {
      queue.addLast("x");
    }

    @Override
    synchronized void b() {
      queue.pollFirst();
    }
  }

  @Expect("read-read")
  static final class LinkedListGets extends Case {
    final LinkedList<Object> queue = new LinkedList<>(List.of("x", "y", "z"));

    @Override
    synchronized void a() {
      queue.getLast();
    }

    @Override
    synchronized void b() {
      queue.get(1);
    }
  }

  @Expect("conflict")
  static final class PriorityQueues extends Case {
    final PriorityQueue<Integer> queue = new PriorityQueue<>(List.of(1, 2, 3));

    @Override
    synchronized void a() {
      queue.add(0);
      queue.poll();
    }

    @Override
    synchronized void b() {
      queue.peek();
    }
  }

  @Expect("conflict")
  static final class ConcurrentQueues extends Case {
    final ConcurrentLinkedQueue<Object> queue = new ConcurrentLinkedQueue<>();

    @Override
    synchronized void a() {
      queue.add("x");
    }

    @Override
    synchronized void b() {
      queue.poll();
    }
  }

  @Expect("conflict,benign")
  static final class BlockingQueues extends Case {
    final LinkedBlockingQueue<Object> queue = new LinkedBlockingQueue<>();

    @Override
    synchronized void a() {
      queue.add("x");
    }

    @Override
    synchronized void b() {
      queue.poll();
    }
  }

  @Expect("conflict")
  static final class Builders extends Case {
    final StringBuilder text = new StringBuilder();

    @Override
    synchronized void a() {
      text.append("x");
    }

    @Override
    synchronized void b() {
      text.append(1.5).append('c').append(7L);
    }
  }

  @Expect("conflict")
  static final class BuilderLength extends Case {
    final StringBuilder text = new StringBuilder();

    @Override
    synchronized void a() {
      text.append("x");
    }

    @Override
    synchronized void b() {
      text.length();
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndChar extends Case {
    final StringBuilder text = new StringBuilder("abc");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'y');
    }

    @Override
    synchronized void b() {
      text.charAt(1);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndCharOfWide extends Case {
    final StringBuilder text = new StringBuilder("ab\u20ac");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, '\u2020');
    }

    @Override
    synchronized void b() {
      text.charAt(1);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndText extends Case {
    final StringBuilder text = new StringBuilder("abc");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'y');
    }

    @Override
    synchronized void b() {
      text.toString();
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndTextOfWide extends Case {
    final StringBuilder text = new StringBuilder("ab\u20ac");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, '\u2020');
    }

    @Override
    synchronized void b() {
      text.toString();
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndSubstring extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'y');
    }

    @Override
    synchronized void b() {
      text.substring(1, 3);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndString extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'y');
    }

    @Override
    synchronized void b() {
      new String(text);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndContentEquals extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'y');
    }

    @Override
    synchronized void b() {
      "abcdef".contentEquals(text);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndIndex extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'y');
    }

    @Override
    synchronized void b() {
      text.indexOf("cd");
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndCompare extends Case {
    final StringBuilder text = new StringBuilder("abcdef");
    final StringBuilder other = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'b');
    }

    @Override
    synchronized void b() {
      other.compareTo(text);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndAppended extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'b');
    }

    @Override
    synchronized void b() {
      new StringBuilder().append(text);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndInserted extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'b');
    }

    @Override
    synchronized void b() {
      new StringBuilder("xx").insert(1, text);
    }
  }

  @Expect("conflict")
  static final class BuilderReverseAndChar extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.reverse();
    }

    @Override
    synchronized void b() {
      text.charAt(0);
    }
  }

  @Expect("conflict")
  static final class BuilderReplaceAndChar extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.replace(1, 3, "xy");
      text.replace(1, 3, "yx");
    }

    @Override
    synchronized void b() {
      text.charAt(1);
    }
  }

  @Expect("conflict")
  static final class BuilderSetAndChars extends Case {
    final StringBuilder text = new StringBuilder("abcdef");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'b');
    }

    @Override
    synchronized void b() {
      text.chars().sum();
    }
  }

  @Expect("read-read")
  static final class BuilderGetsOfChars extends Case {
    final StringBuilder text = new StringBuilder("abc");

    @Override
    synchronized void a() {
      text.charAt(1);
    }

    @Override
    synchronized void b() {
      text.toString();
    }
  }

  @Expect("conflict")
  static final class Buffers extends Case {
    final StringBuffer text = new StringBuffer("abc");

    @Override
    synchronized void a() {
      text.setCharAt(1, 'x');
      text.setCharAt(1, 'y');
    }

    @Override
    synchronized void b() {
      text.toString();
    }
  }

  @Expect("conflict")
  static final class BuffersAppend extends Case {
    final StringBuffer text = new StringBuffer("abc");

    @Override
    synchronized void a() {
      text.append("x");
    }

    @Override
    synchronized void b() {
      text.length();
    }
  }

  @Expect("conflict")
  static final class Randoms extends Case {
    final Random random = new Random(7);

    @Override
    synchronized void a() {
      random.nextInt();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class SplittableRandoms extends Case {
    final SplittableRandom random = new SplittableRandom(7);

    @Override
    synchronized void a() {
      random.nextInt();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class RandomGenerators extends Case {
    final RandomGenerator random = RandomGenerator.of("L64X128MixRandom");

    @Override
    synchronized void a() {
      random.nextLong();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class XoshiroGenerators extends Case {
    final RandomGenerator random = RandomGenerator.of("Xoshiro256PlusPlus");

    @Override
    synchronized void a() {
      random.nextInt(10);
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("null,read-read")
  static final class ThreadLocals extends Case {
    final ThreadLocal<Integer> local = new ThreadLocal<>();

    @Override
    synchronized void a() {
      local.set(5);
      local.get();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Latches extends Case {
    final CountDownLatch latch = new CountDownLatch(100);

    @Override
    synchronized void a() {
      latch.countDown();
    }

    @Override
    synchronized void b() {
      latch.getCount();
    }
  }

  @Expect("conflict")
  static final class Permits extends Case {
    final Semaphore permits = new Semaphore(100);

    @Override
    synchronized void a() {
      permits.tryAcquire();
    }

    @Override
    synchronized void b() {
      permits.availablePermits();
    }
  }

  @Expect("unknown")
  static final class WeakReferences extends Case {
    WeakReference<Object> kept;
    final Object object = new Object();

    @Override
    void prepare() throws Exception {
      kept = new WeakReference<>(object);
    }

    @Override
    synchronized void a() {
      kept.clear();
    }

    @Override
    synchronized void b() {
      kept.get();
    }
  }

  @Expect("conflict")
  static final class SoftReferencesReplaced extends Case {
    SoftReference<Object> kept = new SoftReference<>("x");

    @Override
    synchronized void a() {
      kept = new SoftReference<>("y");
    }

    @Override
    synchronized void b() {
      kept.get();
    }
  }

  @Expect("null,read-read")
  static final class BornInLibrary extends Case {
    @Override
    synchronized void a() {
      List<Integer> list = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        list.add(i);
      }
      int sum = 0;
      for (Iterator<Integer> each = list.iterator(); each.hasNext();) {
        sum += each.next();
      }
      Map<Integer, String> map = new HashMap<>();
      map.put(sum, "x");
      map.computeIfAbsent(500, n -> "y");
      new StringBuilder().append(sum).append("x").append(7L).reverse().toString();
      new TreeMap<>(map).put(1000, "z");
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("null,read-read")
  static final class BornStreams extends Case {
    @Override
    synchronized void a() {
      List<Integer> list = IntStream.range(0, 50).boxed().filter(n -> n % 2 == 0).map(n -> n + 1).collect(Collectors.toList());
      if (list.stream().mapToInt(n -> n).sum() != 625) {
        throw new AssertionError();
      }
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class StreamsOfShared extends Case {
    final List<Integer> list = filled(new ArrayList<>(), 1000, 50);

    @Override
    synchronized void a() {
      list.stream().mapToInt(n -> n).sum();
    }

    @Override
    synchronized void b() {
      list.set(49, 1001);
      list.set(49, 1000);
    }
  }

  @Expect("conflict")
  static final class Checksums extends Case {
    final CRC32 checksum = new CRC32();

    @Override
    synchronized void a() {
      checksum.update(5);
    }

    @Override
    synchronized void b() {
      checksum.getValue();
    }
  }

  @Expect("unknown")
  static final class ChecksumsOfBytes extends Case {
    final byte[] bytes = new byte[100];

    @Override
    synchronized void a() {
      new CRC32().update(bytes, 0, bytes.length);
    }

    @Override
    synchronized void b() {
      bytes[99]++;
    }
  }

  @Expect("unknown")
  static final class Compression extends Case {
    final Deflater deflater = new Deflater();
    final byte[] out = new byte[100];

    @Override
    synchronized void a() {
      deflater.setInput(new byte[10]);
      deflater.deflate(out);
    }

    @Override
    synchronized void b() {
      byte read = out[0];
    }
  }

  @Expect("conflict")
  static final class Digests extends Case {
    final byte[] bytes = new byte[200];

    @Override
    synchronized void a() {
      try {
        MessageDigest.getInstance("SHA-256").digest(bytes);
      } catch (java.security.NoSuchAlgorithmException impossible) {
        throw new AssertionError(impossible);
      }
    }

    @Override
    synchronized void b() {
      bytes[99]++;
    }
  }

  @Expect("conflict")
  static final class Base64Of extends Case {
    final byte[] bytes = new byte[200];

    @Override
    synchronized void a() {
      Base64.getEncoder().encode(bytes);
    }

    @Override
    synchronized void b() {
      bytes[99]++;
    }
  }

  @Expect("conflict")
  static final class EncodedText extends Case {
    final byte[] bytes = new byte[200];
    final java.nio.CharBuffer chars = java.nio.CharBuffer.wrap("some text");

    @Override
    synchronized void a() {
      java.nio.charset.StandardCharsets.UTF_8.newEncoder().encode(chars.duplicate(), java.nio.ByteBuffer.wrap(bytes), true);
      java.nio.charset.StandardCharsets.UTF_8.newEncoder().encode(java.nio.CharBuffer.wrap("SOME TEXT"), java.nio.ByteBuffer.wrap(bytes), true);
    }

    @Override
    synchronized void b() {
      byte read = bytes[3];
    }
  }

  @Expect("conflict")
  static final class DecodedText extends Case {
    final byte[] bytes = new byte[200];

    @Override
    synchronized void a() {
      java.nio.charset.StandardCharsets.UTF_8.decode(java.nio.ByteBuffer.wrap(bytes));
    }

    @Override
    synchronized void b() {
      bytes[99]++;
    }
  }

  @Expect("null,read-read")
  static final class BigIntegers extends Case {
    final BigInteger one = BigInteger.TWO.pow(1000).subtract(BigInteger.ONE);

    /** Numbers keep what was once asked for. */
    @Override
    void prepare() {
      one.pow(3).mod(BigInteger.valueOf(12345));
    }

    @Override
    synchronized void a() {
      one.multiply(one).add(BigInteger.TEN);
    }

    @Override
    synchronized void b() {
      one.pow(3).mod(BigInteger.valueOf(12345));
    }
  }

  @Expect("conflict")
  static final class FileReads extends Case {
    final FileInputStream file;
    FileReads() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      Files.writeString(path, "some text that is long enough");
      file = new FileInputStream(path.toFile());
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      file.read();
    }

    @Override
    synchronized void b() throws Exception {
      a();
    }
  }

  // Native code of other classes' stays unknown, as getFilePointer here.
  @Expect("conflict,unknown")
  static final class FilePositions extends Case {
    final RandomAccessFile file;
    FilePositions() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      file = new RandomAccessFile(path.toFile(), "rw");
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      file.seek(5);
    }

    @Override
    synchronized void b() throws Exception {
      file.getFilePointer();
    }
  }

  @Expect("conflict")
  static final class FileWrites extends Case {
    final FileOutputStream file;
    FileWrites() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      file = new FileOutputStream(path.toFile());
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      file.write(7);
    }

    @Override
    synchronized void b() throws Exception {
      file.write(new byte[] {1, 2, 3});
    }
  }

  @Expect("benign")
  static final class TwoFilesWritten extends Case {
    final FileOutputStream one;
    final FileOutputStream other;
    TwoFilesWritten() throws java.io.IOException {
      Path first = Files.createTempFile("sets", ".txt");
      Path second = Files.createTempFile("sets", ".txt");
      one = new FileOutputStream(first.toFile());
      other = new FileOutputStream(second.toFile());
      first.toFile().deleteOnExit();
      second.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      one.write(7);
    }

    @Override
    synchronized void b() throws Exception {
      other.write(8);
    }
  }

  // By two descriptors of one file.
  @Expect("conflict")
  static final class FileWrittenAndRead extends Case {
    final FileOutputStream writer;
    final FileInputStream reader;
    FileWrittenAndRead() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      writer = new FileOutputStream(path.toFile());
      reader = new FileInputStream(path.toFile());
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      writer.write(7);
    }

    @Override
    synchronized void b() throws Exception {
      reader.read();
    }
  }

  // Of one file, opened twice: no position is both's.
  @Expect("disjoint")
  static final class FilesOpenedTwice extends Case {
    final RandomAccessFile one;
    final RandomAccessFile other;
    final byte[] first = new byte[8];
    final byte[] second = new byte[8];
    FilesOpenedTwice() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      Files.writeString(path, "some text that is long enough");
      one = new RandomAccessFile(path.toFile(), "r");
      other = new RandomAccessFile(path.toFile(), "r");
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      one.seek(3);
      one.read(first, 0, 8);
    }

    @Override
    synchronized void b() throws Exception {
      other.seek(5);
      other.read(second, 0, 8);
    }
  }

  @Expect("conflict")
  static final class FileReadsIntoOneArray extends Case {
    final RandomAccessFile[] files = new RandomAccessFile[2];
    final byte[] shared = new byte[8];
    FileReadsIntoOneArray() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      Files.writeString(path, "some text that is long enough");
      for (int i = 0; i < 2; i++) {
        files[i] = new RandomAccessFile(path.toFile(), "r");
      }
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      files[0].read(shared, 0, 8);
    }

    @Override
    synchronized void b() throws Exception {
      files[1].read(shared, 0, 8);
    }
  }

  @Expect("conflict")
  static final class RandomAccessWrites extends Case {
    final RandomAccessFile file;
    RandomAccessWrites() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      file = new RandomAccessFile(path.toFile(), "rw");
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      file.write(5);
    }

    @Override
    synchronized void b() throws Exception {
      a();
    }
  }

  @Expect("unknown")
  static final class FilePositionsAlone extends Case {
    final RandomAccessFile file;
    FilePositionsAlone() throws java.io.IOException {
      Path path = Files.createTempFile("sets", ".txt");
      file = new RandomAccessFile(path.toFile(), "rw");
      path.toFile().deleteOnExit();
    }

    @Override
    synchronized void a() throws Exception {
      file.getFilePointer();
    }

    @Override
    synchronized void b() throws Exception {
      a();
    }
  }

  @Expect("conflict")
  static final class Serialised extends Case {
    final Stored stored = new Stored();

    @Override
    synchronized void a() throws Exception {
      new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(stored);
    }

    @Override
    synchronized void b() throws Exception {
      stored.number = stored.number + 1;
    }
  }

  @Expect("conflict")
  static final class SerialisedReference extends Case {
    final Stored stored = new Stored();

    @Override
    synchronized void a() throws Exception {
      new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(stored);
    }

    @Override
    synchronized void b() throws Exception {
      stored.text = new String("x");
    }
  }

  @Expect("conflict")
  static final class SerialisedArray extends Case {
    final Stored stored = new Stored();

    @Override
    synchronized void a() throws Exception {
      new ObjectOutputStream(new ByteArrayOutputStream()).writeObject(stored);
    }

    @Override
    synchronized void b() throws Exception {
      stored.numbers[1] = stored.numbers[1] + 1;
    }
  }

  @Expect("conflict")
  static final class Deserialised extends Case {
    final byte[] bytes;
    Deserialised() throws java.io.IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      new ObjectOutputStream(out).writeObject(new Stored());
      bytes = out.toByteArray();
    }

    @Override
    synchronized void a() throws Exception {
      new ObjectInputStream(new ByteArrayInputStream(bytes)).readObject();
    }

    @Override
    synchronized void b() throws Exception {
      byte last = bytes[bytes.length - 1];
      bytes[bytes.length - 1] = 0;
      bytes[bytes.length - 1] = last;
    }
  }

  @Expect("conflict")
  static final class DataStreams extends Case {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    final DataOutputStream out = new DataOutputStream(bytes);

    @Override
    synchronized void a() throws Exception {
      out.writeLong(5);
    }

    @Override
    synchronized void b() throws Exception {
      bytes.size();
    }
  }

  @Expect("conflict")
  static final class Formats extends Case {
    final Object[] arguments = {1, "x"};

    @Override
    synchronized void a() {
      String.format("%d %s", arguments);
    }

    @Override
    synchronized void b() {
      arguments[1] = new String("y");
    }
  }

  @Expect("conflict")
  static final class Joins extends Case {
    final List<String> list = filled(new ArrayList<>(), "x", 5);

    @Override
    synchronized void a() {
      String.join(" ", list);
    }

    @Override
    synchronized void b() {
      list.set(4, new String("y"));
    }
  }

  @Expect("conflict")
  static final class JoinsOfArray extends Case {
    final String[] texts = {"x", "y"};

    @Override
    synchronized void a() {
      String.join(" ", texts);
    }

    @Override
    synchronized void b() {
      texts[1] = new String("y");
    }
  }

  @Expect("conflict")
  static final class Properties extends Case {
    @Override
    synchronized void a() {
      System.setProperty("contrafact.sets", "x");
      System.clearProperty("contrafact.sets");
    }

    @Override
    synchronized void b() {
      System.getProperty("contrafact.sets");
    }
  }

  @Expect("conflict")
  static final class Clones extends Case {
    final Cloned cloned = new Cloned();
    static final class Cloned implements Cloneable {
      int x;
      @Override
      public Cloned clone() {
        try {
          x = x + 1;
          return (Cloned) super.clone();
        } catch (CloneNotSupportedException impossible) {
          throw new AssertionError(impossible);
        }
      }
    }

    @Override
    synchronized void a() {
      cloned.clone();
    }

    @Override
    synchronized void b() {
      cloned.x = cloned.x + 1;
    }
  }

  @Expect("unknown")
  static final class ClonesOnly extends Case {
    final ArrayList<Object> list = new ArrayList<>(List.of("x"));

    @Override
    synchronized void a() {
      list.clone();
    }

    @Override
    synchronized void b() {
      list.trimToSize();
      list.contains("x");
    }
  }

  @Expect("conflict")
  static final class Futures extends Case {
    java.util.concurrent.CompletableFuture<Object> future = new java.util.concurrent.CompletableFuture<>();

    @Override
    synchronized void a() {
      future.obtrudeValue(new Object());
    }

    @Override
    synchronized void b() {
      future.getNow(null);
    }
  }

  @Expect("read-read")
  static final class FuturesDone extends Case {
    final java.util.concurrent.CompletableFuture<Object> future = java.util.concurrent.CompletableFuture.completedFuture("x");

    @Override
    synchronized void a() {
      future.join();
    }

    @Override
    synchronized void b() {
      a();
    }
  }

  @Expect("conflict")
  static final class Phasers extends Case {
    final java.util.concurrent.Phaser phaser = new java.util.concurrent.Phaser(1);

    @Override
    synchronized void a() {
      phaser.register();
    }

    @Override
    synchronized void b() {
      phaser.getRegisteredParties();
    }
  }

  @Expect("unknown")
  static final class DoneByOthers extends Case {
    int x;

    @Override
    synchronized void a() throws Exception {
      Thread other = new Thread(() -> x = x + 1);
      other.start();
      other.join();
    }

    @Override
    synchronized void b() throws Exception {
      a();
    }
  }

  @Expect("unknown")
  static final class ComputedByOthers extends Case {
    int x;

    @Override
    synchronized void a() throws Exception {
      java.util.concurrent.FutureTask<Object> task = new java.util.concurrent.FutureTask<>(() -> x = x + 1);
      Thread other = new Thread(() -> {
        Thread.yield();
        try {
          Thread.sleep(2);
        } catch (InterruptedException impossible) {
          throw new AssertionError(impossible);
        }
        task.run();
      });
      other.start();
      task.get();
    }

    @Override
    synchronized void b() throws Exception {
      a();
    }
  }

  @Expect("conflict")
  static final class DateFormats extends Case {
    final java.text.DecimalFormat format = new java.text.DecimalFormat("#.#");
    final java.text.FieldPosition position = new java.text.FieldPosition(0);

    @Override
    synchronized void a() {
      format.format(1.5, new StringBuffer(), position);
    }

    @Override
    synchronized void b() {
      format.format(2.5);
    }
  }

  @Expect("conflict")
  static final class Matchers extends Case {
    final java.util.regex.Matcher matcher = java.util.regex.Pattern.compile("a+").matcher("xxaaxxaa");

    @Override
    synchronized void a() {
      matcher.find();
    }

    @Override
    synchronized void b() {
      matcher.reset();
    }
  }

  @Expect("conflict")
  static final class Writers extends Case {
    final java.io.CharArrayWriter writer = new java.io.CharArrayWriter();

    @Override
    synchronized void a() {
      writer.write("text", 0, 4);
    }

    @Override
    synchronized void b() {
      writer.size();
    }
  }

  @Expect("conflict")
  static final class WritersOfChars extends Case {
    final char[] chars = new char[10];

    @Override
    synchronized void a() throws Exception {
      new java.io.StringReader("text").read(chars);
      new java.io.StringReader("TEXT").read(chars);
    }

    @Override
    synchronized void b() throws Exception {
      char read = chars[3];
    }
  }

  @Expect("conflict")
  static final class ReadersOfChars extends Case {
    final char[] chars = "text".toCharArray();

    @Override
    synchronized void a() throws Exception {
      new java.io.StringWriter().write(chars);
    }

    @Override
    synchronized void b() throws Exception {
      chars[3]++;
    }
  }

  @Expect("conflict")
  static final class PrintedChars extends Case {
    final char[] chars = "text".toCharArray();

    @Override
    synchronized void a() {
      new java.io.PrintWriter(new java.io.StringWriter()).print(chars);
    }

    @Override
    synchronized void b() {
      chars[3]++;
    }
  }

  @Expect("conflict")
  static final class AppendedChars extends Case {
    final char[] chars = "text".toCharArray();

    @Override
    synchronized void a() {
      new StringBuilder().append(chars);
    }

    @Override
    synchronized void b() {
      chars[3]++;
    }
  }

  @Expect("conflict")
  static final class StreamsOfBytes extends Case {
    final byte[] bytes = new byte[10];

    @Override
    synchronized void a() throws Exception {
      new ByteArrayOutputStream().write(bytes);
    }

    @Override
    synchronized void b() throws Exception {
      bytes[3]++;
    }
  }

  @Expect("conflict")
  static final class HexText extends Case {
    final byte[] bytes = new byte[10];

    @Override
    synchronized void a() {
      java.util.HexFormat.of().formatHex(bytes);
    }

    @Override
    synchronized void b() {
      bytes[3]++;
    }
  }

  @Expect("conflict")
  static final class BigIntegersOfBytes extends Case {
    final byte[] bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9};

    @Override
    synchronized void a() {
      new BigInteger(bytes);
    }

    @Override
    synchronized void b() {
      bytes[3]++;
    }
  }

  @Expect("conflict")
  static final class BitSetsOfLongs extends Case {
    final long[] longs = {1, 2, 3};

    @Override
    synchronized void a() {
      BitSet.valueOf(longs);
    }

    @Override
    synchronized void b() {
      longs[2] = longs[2] + 1;
    }
  }

  @Expect("conflict")
  static final class ListsOfArray extends Case {
    final String[] texts = {"x", "y"};

    @Override
    synchronized void a() {
      List.of(texts);
    }

    @Override
    synchronized void b() {
      texts[1] = new String("y");
    }
  }

  @Expect("read-read")
  static final class UnmodifiableGets extends Case {
    final Map<String, Integer> map = Map.of("a", 1, "b", 2, "c", 3);

    @Override
    synchronized void a() {
      map.get("a");
    }

    @Override
    synchronized void b() {
      map.get("b");
    }
  }

  @Expect("benign")
  static final class Locales extends Case {
    @Override
    synchronized void a() {
      java.util.Locale.setDefault(java.util.Locale.getDefault());
    }

    @Override
    synchronized void b() {
      java.util.Locale.getDefault().hashCode();
    }
  }

  @Expect("conflict")
  static final class Checksummed extends Case {
    final byte[] bytes = new byte[100];

    @Override
    synchronized void a() {
      new java.util.zip.Adler32().update(bytes);
      new java.util.zip.CRC32C().update(bytes);
    }

    @Override
    synchronized void b() {
      bytes[3]++;
    }
  }
}
