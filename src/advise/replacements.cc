#include "advise/replacements.h"

#include <algorithm>
#include <string>

namespace contrafact::advise {
namespace {

// A class that holds its data in another one stands before that: the fields of both are touched.
constexpr Replacement kReplacements[] = {
    {"java.util.Hashtable", "java.util.concurrent.ConcurrentHashMap",
     "it locks single bins, reads take no lock, and it counts its entries in several cells"},
    {"java.util.LinkedHashMap", "java.util.concurrent.ConcurrentHashMap, or a cache such as Caffeine",
     "the list that keeps the order is what all meet in: leave it out, or keep the order of use by a library"},
    {"java.util.WeakHashMap", "a cache such as Caffeine with weakKeys()",
     "it looks for dead keys in every call; the library does that by the way"},
    {"java.util.HashSet", "java.util.concurrent.ConcurrentHashMap.newKeySet()",
     "it locks single bins, and reads take no lock"},
    {"java.util.HashMap", "java.util.concurrent.ConcurrentHashMap",
     "it locks single bins, reads take no lock, and it counts its entries in several cells"},
    {"java.util.TreeSet", "java.util.concurrent.ConcurrentSkipListSet", "it changes only the neighbours of a key"},
    {"java.util.TreeMap", "java.util.concurrent.ConcurrentSkipListMap", "it changes only the neighbours of a key"},
    {"java.util.EnumMap", "java.util.concurrent.atomic.AtomicReferenceArray, by ordinal()",
     "each key has a place of its own"},
    {"java.util.BitSet", "java.util.concurrent.atomic.AtomicLongArray", "each word changes by itself"},
    {"java.util.Stack", "java.util.concurrent.ConcurrentLinkedDeque",
     "push and pop are one exchange each, and take no lock"},
    {"java.util.Vector", "java.util.concurrent.CopyOnWriteArrayList",
     "readers take no lock; where it is read far more often than changed"},
    {"java.util.ArrayList", "java.util.concurrent.CopyOnWriteArrayList",
     "readers take no lock; where it is read far more often than changed. Else a list of each thread's own, joined at "
     "the "
     "end"},
    {"java.util.ArrayDeque", "java.util.concurrent.ConcurrentLinkedQueue",
     "both ends are changed by one exchange each, and take no lock"},
    {"java.util.LinkedList", "java.util.concurrent.ConcurrentLinkedQueue",
     "both ends are changed by one exchange each, and take no lock"},
    {"java.util.PriorityQueue", "java.util.concurrent.ConcurrentSkipListSet",
     "it changes only the neighbours of an element; pollFirst() takes the least"},
    {"java.util.concurrent.ArrayBlockingQueue", "java.util.concurrent.LinkedTransferQueue",
     "it has no lock; where nothing relies on the queue being bounded"},
    {"java.util.concurrent.LinkedBlockingQueue", "java.util.concurrent.LinkedTransferQueue",
     "it has no lock; where nothing relies on the queue being bounded"},
    {"java.util.concurrent.LinkedBlockingDeque", "java.util.concurrent.ConcurrentLinkedDeque",
     "it has no lock; where nobody waits in it for an element"},
    {"java.util.concurrent.PriorityBlockingQueue", "java.util.concurrent.ConcurrentSkipListSet",
     "it changes only the neighbours of an element; where nobody waits in it for one"},
    {"java.util.Random", "java.util.concurrent.ThreadLocalRandom", "each thread has a seed of its own"},
    {"java.text.SimpleDateFormat", "java.time.format.DateTimeFormatter", "it never changes, so all may share it"},
    {"java.util.Calendar", "java.time.ZonedDateTime", "it never changes, so all may share it"},
    {"java.lang.StringBuffer", "a StringBuilder of each thread's own", "the parts are joined at the end"},
    {"java.io.ByteArrayOutputStream", "one of each thread's own", "the parts are joined at the end"},
    {"scala.collection.mutable.HashMap", "scala.collection.concurrent.TrieMap", "it has no lock"},
    {"com.google.common.collect.HashMultiset", "com.google.common.collect.ConcurrentHashMultiset",
     "it counts each element by itself"},
};

constexpr Replacement kOfCounter{"", "java.util.concurrent.atomic.LongAdder",
                                 "the changes commute: each thread adds to a cell of its own, and sum() adds up"};

// "java.util.HashMap$Node.next": of java.util.HashMap.
bool is_of(std::string_view memory, std::string_view class_name) {
  if (!memory.starts_with(class_name) || memory.size() == class_name.size()) return false;
  const char behind = memory[class_name.size()];
  return behind == '$' || (behind == '.' && memory.find('.', class_name.size() + 1) == std::string_view::npos);
}

}  // namespace

const Replacement* replacement_for(const std::vector<analysis::ConflictField>& fields) {
  if (fields.empty()) return nullptr;
  constexpr uint64_t kNearly = 2;
  uint64_t most = 0;
  for (const analysis::ConflictField& field : fields) most = std::max(most, field.pairs);
  for (const Replacement& row : kReplacements) {
    for (const analysis::ConflictField& field : fields) {
      if (kNearly * field.pairs >= most && is_of(field.memory, row.class_name)) return &row;
    }
  }
  return std::ranges::all_of(fields, &analysis::ConflictField::is_counter) ? &kOfCounter : nullptr;
}

}  // namespace contrafact::advise
