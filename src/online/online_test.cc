#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "online/count_table.h"
#include "online/event_words.h"
#include "online/names.h"
#include "online/plugin.h"
#include "online/processing.h"
#include "online/shared_contexts.h"
#include "online/shared_counts.h"

namespace contrafact::online {
namespace {

using testing::HasSubstr;

TEST(CountTable, CountsAsAMapDoes) {
  CountTable<uint64_t> table;
  std::mt19937_64 random(1);
  std::map<uint64_t, uint64_t> expected;
  for (int i = 0; i < 60'000; ++i) {
    const uint64_t key = (random() % 3000 + 1) << (i % 3 * 16);
    ++table.at(key);
    ++expected[key];
  }
  std::map<uint64_t, uint64_t> got;
  table.for_each([&](uint64_t key, uint64_t count) { got[key] = count; });
  EXPECT_EQ(got, expected);
  EXPECT_EQ(table.size(), expected.size());
}

// More edges than there are places, so that some go beyond; more methods than counters.
TEST(SharedCounts, CountWhatFitsAndWhatDoesNot) {
  constexpr uint32_t kEdges = SharedCounts::kPlaces + 50'000;
  constexpr uint32_t kThreads = 4, kMethod = SharedCounts::kMethodsMax - 1;
  auto counts = SharedCounts::create(1);
  ASSERT_TRUE(counts.ok()) << counts.error().message;
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      SharedCounts::Shard& shard = (*counts)->next_shard();
      for (uint32_t i = 0; i < kEdges; ++i) (*counts)->call(shard, i, i % 7 + 1);
      for (uint32_t i = 0; i < 1000; ++i) (*counts)->allocate(shard, kMethod + i % 2, {1, 16});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<uint64_t, uint64_t> calls;
  std::map<uint32_t, Allocations> allocations;
  (*counts)->for_each([&](uint64_t edge, uint64_t times) { calls[edge] += times; },
                      [&](uint32_t method, const Allocations& sum) {
                        allocations[method].objects += sum.objects;
                        allocations[method].bytes += sum.bytes;
                      });
  EXPECT_EQ(calls.size(), kEdges);
  for (const auto& [edge, times] : calls) ASSERT_EQ(times, kThreads) << edge;
  ASSERT_EQ(allocations.size(), 2u);
  for (const auto& [method, sum] : allocations) {
    EXPECT_EQ(sum.objects, kThreads * 500) << method;
    EXPECT_EQ(sum.bytes, kThreads * 500 * 16) << method;
  }
}

TEST(SharedContexts, CountWhatFitsAndWhatDoesNot) {
  constexpr uint32_t kContexts = SharedContexts::kPlaces + 20'000, kThreads = 4;
  auto shared = SharedContexts::create(1);
  ASSERT_TRUE(shared.ok()) << shared.error().message;
  const auto context_at = [](uint32_t i) { return context_of(1, i); };
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      SharedContexts::Shard& shard = (*shared)->next_shard();
      for (uint32_t i = 0; i < kContexts; ++i) {
        if (i % 2 == 0) (*shared)->allocate(shard, context_at(i), {1, 16});  // for some before their first call
        (*shared)->call(shard, 1, context_at(i), i);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<uint64_t, ContextNode> found;
  (*shared)->for_each([&](const ContextNode& node) {
    EXPECT_TRUE(found.emplace(node.context, node).second) << "of one shard, a context comes once";
  });
  ASSERT_EQ(found.size(), kContexts);
  for (uint32_t i = 0; i < kContexts; ++i) {
    const ContextNode& node = found[context_at(i)];
    ASSERT_EQ(node.parent, 1u);
    ASSERT_EQ(node.method, i);
    ASSERT_EQ(node.calls, kThreads);
    ASSERT_EQ(node.objects, i % 2 == 0 ? kThreads : 0);
    ASSERT_EQ(node.bytes, 16 * node.objects);
  }
  EXPECT_EQ((*shared)->events(), uint64_t{kThreads} * (kContexts + (kContexts + 1) / 2));
}

TEST(MethodNames, OneIdForOneName) {
  MethodNames names;
  const MethodId first = names.add({"shop.Feed", "load", "()V", "Feed.java", 41});
  const MethodId other = names.add({"shop.Feed", "load", "(I)V", "Feed.java", 50});
  EXPECT_EQ(first.value, 1u);
  EXPECT_NE(first, other);
  EXPECT_EQ(names.add({"shop.Feed", "load", "()V", "", 0}), first);
  ASSERT_NE(names.find(first), nullptr);
  EXPECT_EQ(names.find(first)->line, 41u);
  EXPECT_EQ(names.find(MethodId(0)), nullptr);
  EXPECT_EQ(names.find(MethodId(3)), nullptr);
}

TEST(MethodNames, AreUtf8) {
  EXPECT_EQ(utf8_of_modified("plain \u00e9\uD7FF"), "plain \u00e9\uD7FF");
  EXPECT_EQ(utf8_of_modified("a\xED\xA0\xB5\xED\xB2\x9C.b"), "a\U0001D49C.b");
  EXPECT_EQ(utf8_of_modified("\xED\xAF\xBF\xED\xBF\xBF"), "\U0010FFFF");
  EXPECT_EQ(utf8_of_modified("\xED\xA0\xB5x\xED\xB2\x9C"), "\uFFFDx\uFFFD");
  EXPECT_EQ(utf8_of_modified("\xED\xA0\xB5\xED\xA0\xB5\xED\xB2\x9C"), "\uFFFD\U0001D49C");
  EXPECT_EQ(utf8_of_modified("\xC0\x80z"), std::string("\0z", 2));
  EXPECT_EQ(utf8_of_modified("cut \xED\xA0"), "cut \xED\xA0");
  MethodNames names;
  const MethodId id = names.add({"C", "\xED\xA0\xB5\xED\xB2\x9C", "()V", "", 0});
  EXPECT_EQ(names.add({"C", "\xED\xA0\xB5\xED\xB2\x9C", "()V", "", 0}), id);
  EXPECT_EQ(names.find(id)->name, "\U0001D49C");
}

TEST(Names, AreReadWhileOthersAreAdded) {
  ClassTable classes;
  std::thread adding([&] {
    for (uint32_t i = 1; i <= 20'000; ++i) classes.add({"C" + std::to_string(i), i, 0, 0});
  });
  uint32_t seen = 0;
  while (seen < 20'000) {
    if (const ClassInfo* info = classes.find(ClassId(seen + 1))) {
      ++seen;
      ASSERT_EQ(info->base_bytes, seen);
    }
  }
  adding.join();
}

TEST(ClassInfo, ArraysAreRoundedUp) {
  const ClassInfo bytes{"byte[]", 16, 1, 8};
  EXPECT_EQ(bytes.bytes_of(0), 16u);
  EXPECT_EQ(bytes.bytes_of(1), 24u);
  EXPECT_EQ(bytes.bytes_of(8), 24u);
  const ClassInfo object{"shop.Feed", 40, 0, 0};
  EXPECT_EQ(object.bytes_of(0), 40u);
}

// Sums the events that it gets; coalesces.
struct Sums {
  uint64_t calls = 0, exits = 0, thrown = 0, objects = 0, bytes = 0;
};
struct Summing {
  std::mutex mutex;
  Sums total;
  uint64_t merges = 0;
  uint32_t begins_that_throw = 0;
};

contrafact_analysis summing() {
  contrafact_analysis analysis{};
  analysis.version = CONTRAFACT_ANALYSIS_VERSION;
  analysis.name = "summing";
  analysis.begin = [](void* self) -> void* {
    auto& summing = *static_cast<Summing*>(self);
    std::lock_guard lock(summing.mutex);
    if (summing.begins_that_throw > 0 && summing.begins_that_throw--) throw std::runtime_error("no data");
    return new Sums;
  };
  analysis.merge = [](void* self, void* data) {
    auto& summing = *static_cast<Summing*>(self);
    const std::unique_ptr<Sums> sums(static_cast<Sums*>(data));
    std::lock_guard lock(summing.mutex);
    ++summing.merges;
    summing.total.calls += sums->calls;
    summing.total.exits += sums->exits;
    summing.total.thrown += sums->thrown;
    summing.total.objects += sums->objects;
    summing.total.bytes += sums->bytes;
  };
  analysis.on_call = [](void* data, uint32_t caller, uint32_t) {
    if (caller == 13) throw std::runtime_error("thirteen");
    ++static_cast<Sums*>(data)->calls;
  };
  analysis.on_exit = [](void* data, uint32_t, int thrown) {
    ++static_cast<Sums*>(data)->exits;
    static_cast<Sums*>(data)->thrown += static_cast<uint64_t>(thrown);
  };
  analysis.on_allocation = [](void* data, uint32_t, uint32_t, uint64_t bytes) {
    ++static_cast<Sums*>(data)->objects;
    static_cast<Sums*>(data)->bytes += bytes;
  };
  return analysis;
}

// A thread with probes: as ContrafactAnalysis.java does it, whose fields of Thread are here its own.
class Producer {
 public:
  explicit Producer(Processing& processing) : processing_(processing), client_(processing.attach()) {}
  ~Producer() { processing_.detach(client_); }

  void emit(std::initializer_list<uint64_t> words) {
    if (next_ >= end_) refill();
    ASSERT_NE(next_, nullptr);
    for (size_t i = words.size(); i-- > 0;) next_[i] = words.begin()[i];
    next_ += words.size();
  }
  void append(int times) {
    for (int i = 0; i < times; ++i) {
      emit({event_word(EventKind::call, 1, 2)});
      emit({event_word(EventKind::allocate, 1, 2)});
      emit({event_word(EventKind::allocate_array, 2, 2), kNotZero | 5});
      emit({event_word(EventKind::exit, static_cast<uint32_t>(i % 2), 2)});
    }
  }

 private:
  void refill() {
    const contrafact_buffer* buffer = client_->swap();
    ASSERT_NE(buffer, nullptr);
    next_ = reinterpret_cast<uint64_t*>(buffer->column[0]) + buffer->committed;
    end_ = reinterpret_cast<uint64_t*>(buffer->column[0]) + buffer->capacity;
  }

  Processing& processing_;
  deferred::Client* client_;
  uint64_t* next_ = nullptr;
  uint64_t* end_ = nullptr;
};

class EveryProcessor : public testing::TestWithParam<std::string> {};

TEST_P(EveryProcessor, TellsTheAnalysisOfEveryEventOnce) {
  constexpr int kThreads = 4, kTimes = 5000;
  ClassTable classes;
  classes.add({"shop.Feed", 40, 0, 0});
  classes.add({"byte[]", 16, 1, 8});
  Summing self;
  const contrafact_analysis methods = summing();
  auto processing =
      Processing::start({.processor = GetParam(), .capacity = 100, .queue = 2}, Analysis{methods, &self, classes});
  ASSERT_TRUE(processing.ok()) << processing.error().message;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] { Producer(**processing).append(kTimes); });
  }
  for (std::thread& thread : threads) thread.join();
  Producer alive(**processing);
  alive.append(1);
  (*processing)->stop();

  constexpr uint64_t kAll = kThreads * kTimes + 1;
  EXPECT_EQ(self.total.calls, kAll);
  EXPECT_EQ(self.total.exits, kAll);
  EXPECT_EQ(self.total.thrown, kThreads * kTimes / 2);
  EXPECT_EQ(self.total.objects, 2 * kAll);
  EXPECT_EQ(self.total.bytes, (40 + 24) * kAll);
  const Processing::Statistics statistics = (*processing)->statistics();
  EXPECT_EQ(statistics.events, 4 * kAll);
  EXPECT_EQ(statistics.lost, 0u);
  EXPECT_EQ(statistics.failed, 0u);
  EXPECT_EQ(self.merges, statistics.buffers);
  EXPECT_EQ((*processing)->attach(), nullptr);
}

TEST_P(EveryProcessor, CountsWhatTheAnalysisThrows) {
  ClassTable classes;
  Summing self;
  self.begins_that_throw = 1;
  const contrafact_analysis methods = summing();
  auto processing =
      Processing::start({.processor = GetParam(), .capacity = 10, .queue = 1}, Analysis{methods, &self, classes});
  ASSERT_TRUE(processing.ok());
  {
    Producer producer(**processing);
    for (uint32_t i = 0; i < 40; ++i) producer.emit({event_word(EventKind::call, i == 39 ? 13 : 1, 2)});
  }
  (*processing)->stop();
  // The buffer without data with all its events, and one event of the last.
  EXPECT_EQ(self.total.calls + (*processing)->statistics().failed, 40u + 1u);
  EXPECT_EQ((*processing)->statistics().failed, 1u + 10u + 1u);
}

INSTANTIATE_TEST_SUITE_P(Processors, EveryProcessor, testing::Values("sync", "pool", "adaptive"));

// Sums the events that it gets in groups.
contrafact_analysis in_groups() {
  contrafact_analysis analysis = summing();
  analysis.on_call = nullptr;
  analysis.on_exit = nullptr;
  analysis.on_allocation = nullptr;
  analysis.on_calls = [](void* data, const contrafact_call* calls, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      if (calls[i].caller == 13) throw std::runtime_error("thirteen");
      static_cast<Sums*>(data)->calls += calls[i].caller == 1 && calls[i].callee == 2;
    }
  };
  analysis.on_allocations = [](void* data, const contrafact_allocation* allocations, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      static_cast<Sums*>(data)->objects += allocations[i].method == 2;
      static_cast<Sums*>(data)->bytes += allocations[i].bytes;
    }
  };
  return analysis;
}

TEST(Groups, TellOfEveryEventOnce) {
  ClassTable classes;
  classes.add({"shop.Feed", 40, 0, 0});
  classes.add({"byte[]", 16, 1, 8});
  Summing self;
  const contrafact_analysis methods = in_groups();
  auto processing = Processing::start({.processor = "adaptive", .capacity = 1000}, Analysis{methods, &self, classes});
  ASSERT_TRUE(processing.ok());
  {
    Producer producer(**processing);
    for (int i = 0; i < 5000; ++i) {
      producer.emit({event_word(EventKind::call, 1, 2)});
      producer.emit({event_word(EventKind::allocate, 1, 2)});
      producer.emit({event_word(EventKind::allocate_array, 2, 2), kNotZero | 5});
    }
  }
  (*processing)->stop();
  EXPECT_EQ(self.total.calls, 5000u);
  EXPECT_EQ(self.total.objects, 10'000u);
  EXPECT_EQ(self.total.bytes, (40 + 24) * 5000u);
  EXPECT_EQ((*processing)->statistics().events, 15'000u);
}

// Events of up to three words, which buffers of one word each cut nowhere.
TEST(Contexts, ComeWithTheirEvents) {
  struct Seen {
    uint64_t calls = 0, contexts = 0, objects = 0, bytes = 0;
  } seen;
  contrafact_analysis methods{};
  methods.on_context_call = [](void* data, uint64_t parent, uint64_t context, uint32_t method) {
    auto& seen = *static_cast<Seen*>(data);
    ++seen.calls;
    seen.contexts += context == context_of(parent, method);
  };
  methods.on_context_allocation = [](void* data, uint64_t context, uint32_t class_id, uint64_t bytes) {
    auto& seen = *static_cast<Seen*>(data);
    seen.objects += context == context_of(CONTRAFACT_CONTEXT_OUTSIDE, 7) && class_id == 1;
    seen.bytes += bytes;
  };
  ClassTable classes;
  classes.add({"byte[]", 16, 1, 8});
  for (const uint32_t capacity : {1u, 2u, 1000u}) {
    seen = {};
    auto processing = Processing::start({.processor = "sync", .capacity = capacity}, Analysis{methods, &seen, classes});
    ASSERT_TRUE(processing.ok());
    Producer producer(**processing);
    const uint64_t context = context_of(CONTRAFACT_CONTEXT_OUTSIDE, 7);
    for (int i = 0; i < 1500; ++i) {
      producer.emit({event_word(EventKind::context_call, 0, 7), CONTRAFACT_CONTEXT_OUTSIDE});
      producer.emit({event_word(EventKind::context_allocate_array, 1, 0), context, kNotZero | 5});
      producer.emit({event_word(EventKind::context_allocate, 1, 0), context});
    }
    (*processing)->stop();
    EXPECT_EQ(seen.calls, 1500u) << capacity;
    EXPECT_EQ(seen.contexts, 1500u);
    EXPECT_EQ(seen.objects, 3000u);
    EXPECT_EQ(seen.bytes, 1500u * (24 + 16));
  }
}

// All paths of up to four out of 26 methods, and a recursion of 100,000.
TEST(Contexts, DifferForEveryPath) {
  std::vector<uint64_t> all{CONTRAFACT_CONTEXT_OUTSIDE};
  for (size_t begin = 0, depth = 0; depth < 4; ++depth) {
    const size_t end = all.size();
    for (; begin < end; ++begin) {
      for (uint32_t method = 1; method <= 26; ++method) all.push_back(context_of(all[begin], method));
    }
  }
  for (int i = 0; i < 100'000; ++i) all.push_back(context_of(all.back(), 27));
  for (const uint64_t context : all) ASSERT_EQ(context & 1, 1u);
  const size_t count = all.size();
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()) - all.begin(), static_cast<ptrdiff_t>(count));
}

TEST(Options, WhatCannotBeIsSaidInTheWordsOfTheCommand) {
  EXPECT_TRUE(check({}).ok());
  EXPECT_THAT(check({.processor = "fast"}).error().message, HasSubstr("--processor fast: there are"));
  EXPECT_THAT(check({.capacity = 0}).error().message, HasSubstr("--capacity 0"));
  EXPECT_THAT(check({.capacity = deferred::Engine::kCapacityMax + 1}).error().message, HasSubstr("at most"));
  EXPECT_THAT(check({.queue = 0}).error().message, HasSubstr("--queue 0"));
}

TEST(Plugins, BuiltInOnesAreFoundByName) {
  auto found = find_analysis("blueprint", {});
  ASSERT_TRUE(found.ok());
  EXPECT_STREQ((*found)->name, "blueprint");
  EXPECT_THAT(find_analysis("blue", {}).error().message, HasSubstr("there is no analysis 'blue'; built in: blueprint"));
  EXPECT_THAT(find_analysis("./none.so", {}).error().message, HasSubstr("'./none.so' cannot be loaded"));
}

}  // namespace
}  // namespace contrafact::online
