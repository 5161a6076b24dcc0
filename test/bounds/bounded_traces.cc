#include "bounded_traces.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_set>

#include "base/check.h"
#include "format/block_file_for_test.h"
#include "format/reader.h"
#include "format/rows.h"
#include "format/testing.h"
#include "format/writer.h"

namespace contrafact::test {
namespace {

using namespace format;

constexpr uint32_t kNone = UINT32_MAX;
constexpr uint32_t kBeyond = 1 << 24;
using Operands = std::array<uint32_t, kOperandsMax>;

// Blocks in a file's order, each with the rows or events that a test gives it and the ids that it claims.
class HostileFile {
 public:
  template <typename Row>
  void add_rows(BlockType type, uint32_t first, const std::vector<Row>& rows) {
    std::vector<uint8_t> bytes;
    for (const Row& row : rows) put_row(bytes, row);
    add(type, first, static_cast<uint32_t>(rows.size()), {std::move(bytes)});
  }
  void add_events(EventEncoder& encoder) {
    const uint32_t count = encoder.event_count();
    std::vector<uint8_t> payload;
    GroupWriter groups(1);
    encoder.encode(groups, payload);
    encoder.clear();
    add(BlockType::events, 0, count, groups_of(payload));
  }
  void add(BlockType type, uint32_t first, uint32_t count, std::vector<std::vector<uint8_t>> groups) {
    const auto sequence = static_cast<uint32_t>(blocks_.size());
    blocks_.push_back({type, count, first, sequence, std::move(groups)});
  }
  std::vector<uint8_t> bytes() const { return put_together(blocks_); }

 private:
  std::vector<LooseBlock> blocks_;
};

// What makes a file worth each command's while: tasks in a pool, and a lock that two threads take.
void add_little_program(HostileFile& file) {
  file.add_rows<std::string_view>(BlockType::strings, 0, {"main", "pool", "Shop", "load", "Shop.java"});
  file.add_rows<MethodRow>(BlockType::methods, 0, {{StringId(2), StringId(3), StringId(4), 7}});
  file.add_rows<ContextRow>(BlockType::contexts, 0, {{ContextId::none(), MethodId(0), 8}});
  file.add_rows<PoolRow>(BlockType::pools, 0, {{StringId(1), PoolKind::thread_pool, 1, 1}});
  file.add_rows<ThreadRow>(BlockType::threads, 0, {{StringId(0)}, {StringId(0)}});
  file.add_rows<LockRow>(BlockType::locks, 0, {{LockKind::mutex, 0x1000, StringId::none()}});
}

void append(EventEncoder& encoder, uint32_t thread, EventKind kind, int64_t time_ns, Operands operands) {
  encoder.begin_run(ThreadId(thread));
  encoder.append(kind, time_ns, operands.data());
}

// One task spawned by thread 0, run by `worker`, and a lock that both take; every id is the caller's.
struct Ids {
  uint32_t task = 0, context = 0, pool = 0, method = 0, worker = 1, lock = 0;
};
void append_little_run(EventEncoder& encoder, const Ids& ids) {
  append(encoder, 0, EventKind::thread_begin, 0, {});
  append(encoder, 0, EventKind::task_create, 10, {ids.task, ids.context, ids.method});
  append(encoder, 0, EventKind::task_spawn, 20, {ids.task, ids.context, ids.pool, ids.method});
  append(encoder, 0, EventKind::lock_acquire, 25, {ids.lock, ids.context});
  append(encoder, 0, EventKind::lock_release, 35, {ids.lock, ids.context});
  append(encoder, 0, EventKind::wait_begin, 40, {ids.task, ids.context});
  append(encoder, 0, EventKind::wait_end, 100, {ids.task, 0});
  append(encoder, ids.worker, EventKind::task_start, 30, {ids.task});
  append(encoder, ids.worker, EventKind::lock_request, 31, {ids.lock, ids.context});
  append(encoder, ids.worker, EventKind::lock_acquired, 36, {ids.lock, 0});
  append(encoder, ids.worker, EventKind::lock_release, 40, {ids.lock, ids.context});
  append(encoder, ids.worker, EventKind::task_complete, 90, {ids.task, 0});
  append(encoder, ids.worker, EventKind::task_end, 91, {ids.task, 0});
}

std::vector<uint8_t> with_events(const Ids& ids) {
  HostileFile file;
  add_little_program(file);
  EventEncoder encoder;
  append_little_run(encoder, ids);
  file.add_events(encoder);
  return file.bytes();
}

// Rows of `type` in blocks, each as far beyond the one before as a reader ever believed.
template <typename Row>
std::vector<uint8_t> with_far_rows(BlockType type, const Row& row, uint32_t blocks) {
  HostileFile file;
  add_little_program(file);
  for (uint32_t i = 1; i <= blocks; ++i) file.add_rows<Row>(type, i * kBeyond, {row});
  EventEncoder encoder;
  append_little_run(encoder, {});
  file.add_events(encoder);
  return file.bytes();
}

// A task's id, a thread's, ... at the end of what 32 bits hold, in each place of an event.
std::vector<TraceFile> far_ids() {
  constexpr uint32_t kFar = kNone - 1;
  return {{"far task", with_events({.task = kFar})},        {"far context", with_events({.context = kFar})},
          {"far pool", with_events({.pool = kFar})},        {"far method", with_events({.method = kFar})},
          {"far thread", with_events({.worker = kFar})},    {"far lock", with_events({.lock = kFar})},
          {"thread 2^20", with_events({.worker = 1 << 20})}};
}

// Runs of one event, each of another thread that has no row and takes a lock that has none.
std::vector<uint8_t> events_of_lost_threads(uint32_t blocks, uint32_t threads) {
  HostileFile file;
  add_little_program(file);
  for (uint32_t block = 0; block < blocks; ++block) {
    EventEncoder encoder;
    for (uint32_t i = 0; i < threads; ++i) {
      const uint32_t id = 2 + 3 * (block * kEventsPerBlockMax + i);
      append(encoder, id, EventKind::lock_acquire, i, {id, id});
    }
    file.add_events(encoder);
  }
  return file.bytes();
}

// Events that name tasks, locks and contexts by numbers far apart.
std::vector<uint8_t> scattered_events(uint32_t blocks) {
  HostileFile file;
  add_little_program(file);
  for (uint32_t block = 0; block < blocks; ++block) {
    EventEncoder encoder;
    for (uint32_t i = 0; i < 4000; ++i) {
      const uint32_t id = (block * 4000 + i) * 61;
      append(encoder, i % 2, EventKind::task_complete, i, {id, 0});
      append(encoder, i % 2, EventKind::lock_acquire, i, {id, id});
    }
    file.add_events(encoder);
  }
  return file.bytes();
}

// Groups that unpack to as much as a block may, with nothing in them that a row or event keeps.
std::vector<uint8_t> large_groups() {
  HostileFile file;
  add_little_program(file);
  const std::vector<uint8_t> zeros(kBlockRawBytesMax - 64);
  for (const BlockType type : {BlockType::strings, BlockType::methods, BlockType::contexts, BlockType::pools,
                               BlockType::threads, BlockType::addresses, BlockType::locks, BlockType::access_sets,
                               BlockType::access_log, BlockType::facts, BlockType::trailer}) {
    file.add(type, 0, 1, {zeros});
    file.add(type, 0, UINT32_MAX, {zeros});
  }
  file.add(BlockType::events, 0, kEventsPerBlockMax, {zeros, zeros, zeros, zeros});
  return file.bytes();
}

// A run on as many cores as 32 bits count, with pools of as many workers.
std::vector<uint8_t> many_cores() {
  HostileFile file;
  for (const auto& [key, value] : {std::pair("cores", "4294967295"), std::pair("agent", "native")}) {
    std::vector<uint8_t> bytes;
    put_text(bytes, key);
    put_text(bytes, value);
    file.add(BlockType::facts, 0, 1, {std::move(bytes)});
  }
  add_little_program(file);
  file.add_rows<PoolRow>(BlockType::pools, 1, {{StringId(1), PoolKind::fork_join, kNone - 1, kNone - 1}});
  EventEncoder encoder;
  append_little_run(encoder, {.pool = 1});
  file.add_events(encoder);
  return file.bytes();
}

// Facts whose keys differ, and as large as a block may hold, which zstd makes tiny.
std::vector<uint8_t> large_facts() {
  HostileFile file;
  add_little_program(file);
  for (uint32_t i = 0; i < 200; ++i) {
    std::vector<uint8_t> bytes;
    const std::string key = "note." + std::to_string(i);
    put_text(bytes, key);
    put_text(bytes, std::string(3 << 20, 'x'));
    file.add(BlockType::facts, 0, 1, {std::move(bytes)});
  }
  return file.bytes();
}

}  // namespace

std::vector<TraceFile> hostile_traces() {
  std::vector<TraceFile> files = far_ids();
  HostileFile one;
  one.add_rows<LockRow>(BlockType::locks, kBeyond - 1, {LockRow()});
  one.add_rows<ThreadRow>(BlockType::threads, kBeyond - 1, {ThreadRow()});
  files.push_back({"one row of each of two tables", one.bytes()});
  files.push_back({"strings", with_far_rows<std::string_view>(BlockType::strings, "x", 100)});
  files.push_back({"methods", with_far_rows(BlockType::methods, MethodRow(), 100)});
  files.push_back({"contexts", with_far_rows(BlockType::contexts, ContextRow(), 100)});
  files.push_back({"pools", with_far_rows(BlockType::pools, PoolRow(), 100)});
  files.push_back({"threads", with_far_rows(BlockType::threads, ThreadRow(), 100)});
  files.push_back({"locks", with_far_rows(BlockType::locks, LockRow(), 100)});
  files.push_back({"connections", with_far_rows(BlockType::connections, ConnectionRow(), 100)});
  files.push_back({"endpoints", with_far_rows(BlockType::endpoints, EndpointRow(), 100)});
  files.push_back({"access sets", with_far_rows(BlockType::access_sets, AccessSetRow(), 100)});
  files.push_back({"lost threads", events_of_lost_threads(1, 16'000)});
  files.push_back({"too many lost threads", events_of_lost_threads(16, kEventsPerBlockMax - 2)});
  files.push_back({"scattered ids", scattered_events(40)});
  files.push_back({"large groups", large_groups()});
  files.push_back({"large facts", large_facts()});
  files.push_back({"many cores", many_cores()});
  return files;
}

namespace {

// Through the writer, as a recorder would.
class HonestFile {
 public:
  HonestFile() : writer_(*Writer::create(std::make_unique<MemorySink>(bytes_))) {}

  Writer& writer() { return *writer_; }
  void append(uint32_t thread, EventKind kind, int64_t time_ns, Operands operands) {
    if (encoder_.full()) CHECK(writer_->add_events(encoder_).ok());
    test::append(encoder_, thread, kind, time_ns, operands);
  }
  std::vector<uint8_t> finish() {
    CHECK(writer_->add_events(encoder_).ok() && writer_->finish({"exit"}).ok());
    return std::move(bytes_);
  }

 private:
  std::vector<uint8_t> bytes_;
  std::unique_ptr<Writer> writer_;
  EventEncoder encoder_;
};

constexpr uint32_t kThreads = 4;

void add_tables(HonestFile& file) {
  const std::vector<std::string_view> strings{"worker", "native.runtime", "use", "use.c"};
  const std::vector<ThreadRow> threads(kThreads, {.name = StringId(0)});
  const MethodRow method{StringId(1), StringId(2), StringId(3), 7};
  const ContextRow context{ContextId::none(), MethodId(0), 8};
  CHECK(file.writer().add_fact("agent", "native").ok() && file.writer().add_strings(strings).ok());
  CHECK(file.writer().add_threads(threads).ok() && file.writer().add_methods({&method, 1}).ok());
  CHECK(file.writer().add_contexts({&context, 1}).ok());
}

void append_section(HonestFile& file, uint32_t thread, int64_t& now_ns, uint32_t lock) {
  file.append(thread, EventKind::lock_acquire, now_ns += 90, {lock, 0});
  file.append(thread, EventKind::lock_release, now_ns += 60, {lock, 0});
}

}  // namespace

std::vector<uint8_t> many_locks(uint32_t count) {
  HonestFile file;
  add_tables(file);
  std::vector<LockRow> locks(count);
  for (uint32_t i = 0; i < count; ++i) locks[i].address = 0x7f0000000000 + uint64_t{i} * 64;
  CHECK(file.writer().add_locks(locks).ok());
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    int64_t now_ns = 1000 + thread;
    for (uint32_t i = thread; i < count; i += kThreads) append_section(file, thread, now_ns, i);
  }
  return file.finish();
}

std::vector<uint8_t> many_lives(uint32_t count) {
  HonestFile file;
  add_tables(file);
  const std::vector<LockRow> locks(kThreads);
  CHECK(file.writer().add_locks(locks).ok());
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    int64_t now_ns = 1000 + thread;
    for (uint32_t i = thread; i < count; i += kThreads) {
      file.append(thread, EventKind::lock_init, now_ns += 40, {thread, 0});
      append_section(file, thread, now_ns, thread);
      file.append(thread, EventKind::lock_destroy, now_ns += 30, {thread, 0});
    }
  }
  return file.finish();
}

std::vector<uint8_t> many_tasks(uint32_t count) {
  HonestFile file;
  add_tables(file);
  const PoolRow pool{StringId(0), PoolKind::thread_pool, kThreads - 1, kThreads - 1};
  CHECK(file.writer().add_pools({&pool, 1}).ok());
  int64_t now_ns = 1000;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t at_ns = now_ns += 400;
    file.append(0, EventKind::task_spawn, at_ns, {i, 0, 0, 0});
  }
  for (uint32_t thread = 1; thread < kThreads; ++thread) {
    now_ns = 1500;
    for (uint32_t i = thread - 1; i < count; i += kThreads - 1) {
      const int64_t begin_ns = std::max(now_ns, 1000 + (int64_t{i} + 2) * 400);
      file.append(thread, EventKind::task_start, begin_ns, {i});
      file.append(thread, EventKind::task_complete, begin_ns + 700, {i, 0});
      file.append(thread, EventKind::task_end, now_ns = begin_ns + 800, {i, 0});
    }
  }
  return file.finish();
}

namespace {

// Tasks that fork two each and join them, down to leaves, as a fork-join pool runs them: who joins runs what nobody has
// taken yet, and two subtrees of each tree are other workers'.
class ForkTrees {
 public:
  explicit ForkTrees(HonestFile& file) : file_(file) {}

  void add(uint32_t trees, uint32_t depth) {
    for (uint32_t i = 0; i < trees; ++i) {
      const uint32_t root = spawn(0, kMainPlace);
      file_.append(0, EventKind::wait_begin, now_ns_[0] += 100, {root, kMainPlace});
      now_ns_[1] = std::max(now_ns_[1], now_ns_[0] + 500);
      run(1, root, depth);
      now_ns_[0] = now_ns_[1] + 500;
      file_.append(0, EventKind::wait_end, now_ns_[0], {root, 0});
    }
  }

 private:
  static constexpr uint32_t kMainPlace = 0, kLeftPlace = 1, kRightPlace = 2, kJoinRight = 3, kJoinLeft = 4;

  uint32_t spawn(uint32_t thread, uint32_t place) {
    file_.append(thread, EventKind::task_spawn, now_ns_[thread] += 100, {tasks_, place, 0, 1});
    return tasks_++;
  }

  void run(uint32_t thread, uint32_t task, uint32_t depth) {
    file_.append(thread, EventKind::task_start, now_ns_[thread] += 50, {task});
    now_ns_[thread] += 200 + task % 7 * 30;
    if (depth > 0) {
      const uint32_t left = spawn(thread, kLeftPlace), right = spawn(thread, kRightPlace);
      const bool stolen = task < 3 * kThreads && thread + 1 < kThreads && now_ns_[thread + 1] <= now_ns_[thread];
      if (stolen) now_ns_[thread + 1] = now_ns_[thread] + 700;
      if (stolen) run(thread + 1, left, depth - 1);
      file_.append(thread, EventKind::wait_begin, now_ns_[thread] += 40, {right, kJoinRight});
      run(thread, right, depth - 1);
      file_.append(thread, EventKind::wait_end, now_ns_[thread] += 20, {right, 0});
      file_.append(thread, EventKind::wait_begin, now_ns_[thread] += 40, {left, kJoinLeft});
      if (stolen)
        now_ns_[thread] = std::max(now_ns_[thread], now_ns_[thread + 1] + 300);
      else
        run(thread, left, depth - 1);
      file_.append(thread, EventKind::wait_end, now_ns_[thread] += 20, {left, 0});
    }
    file_.append(thread, EventKind::task_complete, now_ns_[thread] += 60, {task, 0});
    file_.append(thread, EventKind::task_end, now_ns_[thread] += 10, {task, 0});
  }

  HonestFile& file_;
  uint32_t tasks_ = 0;
  std::array<int64_t, kThreads> now_ns_{};
};

}  // namespace

std::vector<uint8_t> forked_tasks(uint32_t count) {
  HonestFile file;
  const std::vector<std::string_view> strings{"ForkJoinPool-1", "demo.Main", "main",     "Main.java",
                                              "demo.Tree",      "compute",   "Tree.java"};
  const std::vector<ThreadRow> threads(kThreads, {.name = StringId(0)});
  const std::vector<MethodRow> methods{{StringId(1), StringId(2), StringId(3), 7},
                                       {StringId(4), StringId(5), StringId(6), 20}};
  std::vector<ContextRow> contexts{{ContextId::none(), MethodId(0), 8}};
  for (uint32_t line = 22; line < 26; ++line) contexts.push_back({ContextId::none(), MethodId(1), line});
  const PoolRow pool{StringId(0), PoolKind::fork_join, kThreads - 1, kThreads - 1};
  CHECK(file.writer().add_fact("cores", "2").ok() && file.writer().add_strings(strings).ok());
  CHECK(file.writer().add_threads(threads).ok() && file.writer().add_methods(methods).ok());
  CHECK(file.writer().add_contexts(contexts).ok() && file.writer().add_pools({&pool, 1}).ok());
  constexpr uint32_t kTrees = 3;
  uint32_t depth = 0;
  while (kTrees * ((uint32_t{4} << depth) - 1) <= count) ++depth;  // of a tree one deeper
  ForkTrees(file).add(kTrees, depth);
  return file.finish();
}

}  // namespace contrafact::test
