#include "online/events.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace contrafact::online {
namespace {

const uint64_t* words_in(const contrafact_buffer& buffer) {
  return reinterpret_cast<const uint64_t*>(buffer.column[0]);
}

uint64_t load(const uint64_t& word) {
  return std::atomic_ref(const_cast<uint64_t&>(word)).load(std::memory_order_relaxed);
}

// The cursors that go with a buffer from part to part: the second counts the words that were offered.
constexpr size_t kTaken = 0, kOffered = 1;

}  // namespace

void* Events::begin(const deferred::Client& /*producer*/) {
  return analysis_.methods.begin ? analysis_.methods.begin(analysis_.self) : analysis_.self;
}

void Events::end(void* data) {
  if (analysis_.methods.merge) analysis_.methods.merge(analysis_.self, data);
}

// The words before the first 0 that make whole events. A full buffer has none; the rest of its last event lies behind.
void Events::settle(contrafact_buffer& buffer) {
  const uint64_t* words = words_in(buffer);
  uint32_t count = 0;
  if (load(words[buffer.capacity - 1]) != 0) {
    count = buffer.capacity;
  } else {
    while (count < buffer.capacity && load(words[count]) != 0) ++count;
    uint32_t whole = 0;
    while (whole < count && whole + words_of(kind_of(words[whole])) <= count) whole += words_of(kind_of(words[whole]));
    count = whole;
  }
  std::atomic_ref(buffer.committed).store(count, std::memory_order_relaxed);
}

// More words may lie behind those that were taken: the rest of the last event, or of one that was cut.
void Events::clear(contrafact_buffer& buffer) {
  const size_t words = std::min(buffer.committed + kEventWordsMax, buffer.capacity + kEventWordsMax - 1);
  std::memset(reinterpret_cast<void*>(buffer.column[0]), 0, words * sizeof(uint64_t));
}

void Events::run(void* data, deferred::Batch& batch, deferred::Failures& failures) {
  batch.cursor[kOffered] += batch.count;
  const auto* first = static_cast<const uint64_t*>(batch.column[0]);
  Words words{.at = first + batch.cursor[kTaken], .end = first + batch.cursor[kOffered]};
  const bool groups = analysis_.methods.on_calls || analysis_.methods.on_allocations;
  while (words.at < words.end) {
    try {
      groups ? tell_in_groups(data, words) : tell_each(data, words);
    } catch (...) {
      failures.add_current_exception();
    }
  }
  batch.cursor[kTaken] = static_cast<uint32_t>(words.at - first);
  delivered_.fetch_add(words.events, std::memory_order_relaxed);
}

void Events::tell_each(void* data, Words& words) const {
  while (words.at < words.end) {
    const uint64_t* event = words.at;
    const EventKind kind = kind_of(*event);
    words.at += words_of(kind);
    ++words.events;
    if (kind == EventKind::call) {
      if (analysis_.methods.on_call) analysis_.methods.on_call(data, upper_of(*event), lower_of(*event));
    } else {
      tell_event(data, kind, *event, event + 1);
    }
  }
}

// An analysis gets only the events that it wants; events of unknown classes are not written.
void Events::tell_event(void* data, EventKind kind, uint64_t first, const uint64_t* more) const {
  const contrafact_analysis& methods = analysis_.methods;
  if (kind == EventKind::exit) {
    if (methods.on_exit) methods.on_exit(data, lower_of(first), static_cast<int>(upper_of(first)));
    return;
  }
  if (kind == EventKind::context_call) {
    const uint32_t method = lower_of(first);
    if (methods.on_context_call) methods.on_context_call(data, *more, context_of(*more, method), method);
    return;
  }
  const bool in_context = kind == EventKind::context_allocate || kind == EventKind::context_allocate_array;
  const bool array = kind == EventKind::allocate_array || kind == EventKind::context_allocate_array;
  const ClassInfo* info = analysis_.classes.find(ClassId(upper_of(first)));
  if (!info) return;
  const uint64_t bytes = info->bytes_of(array ? lower_of(more[in_context ? 1 : 0]) : 0);
  if (in_context) {
    if (methods.on_context_allocation) methods.on_context_allocation(data, *more, upper_of(first), bytes);
  } else if (methods.on_allocation) {
    methods.on_allocation(data, lower_of(first), upper_of(first), bytes);
  }
}

void Events::tell_in_groups(void* data, Words& words) const {
  const contrafact_analysis& methods = analysis_.methods;
  constexpr ptrdiff_t kGroup = 256;  // events: their structs stay in the first-level cache
  contrafact_call calls[kGroup];
  contrafact_allocation allocations[kGroup];
  while (words.at < words.end) {
    size_t call_count = 0, allocation_count = 0;
    for (const uint64_t* end = words.at + std::min(words.end - words.at, kGroup); words.at < end; ++words.events) {
      const uint64_t word = *words.at;
      const EventKind kind = kind_of(word);
      if (kind == EventKind::call) {
        calls[call_count++] = std::bit_cast<contrafact_call>(word);
        ++words.at;
        continue;
      }
      const uint32_t length = kind == EventKind::allocate_array ? lower_of(words.at[1]) : 0;
      words.at += words_of(kind);
      if (const ClassInfo* info = analysis_.classes.find(ClassId(upper_of(word)))) {
        allocations[allocation_count++] = {lower_of(word), upper_of(word), info->bytes_of(length)};
      }
    }
    if (methods.on_calls && call_count > 0) methods.on_calls(data, calls, call_count);
    if (methods.on_allocations && allocation_count > 0) methods.on_allocations(data, allocations, allocation_count);
  }
}

}  // namespace contrafact::online
