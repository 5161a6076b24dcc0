// make_trace FILE TASKS [CALLS]: writes the trace of a server of TASKS tasks, as a recorder would have, for benchmarks
// of loading and estimating; with CALLS recorded method calls in each part of a request. Deterministic: the same
// arguments give the same bytes.
//
// Twenty lanes, each of an acceptor, a worker of the pool "handlers" and three of the pool "parts". A request is a task
// that spawns three others and waits for them: a tiny one, one that sleeps, and one that on some requests has next to
// nothing to do. There are twelve routes, each with its own methods and contexts: 36 sets of tasks with a context of
// their own.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include "format/writer.h"

namespace contrafact::bench {
namespace {

using format::EventKind;

constexpr uint32_t kLanes = 20;
constexpr uint32_t kRoutes = 12;
constexpr uint32_t kParts = 3;
constexpr uint32_t kTasksPerRequest = 1 + kParts;
constexpr uint32_t kRequestsPerPass = 25;  // of each lane: about 17,000 events in a block, as a drainer's pass has
// A request is 35 events, and two more for each call: a pass fits a block.
constexpr uint32_t kCallsMax = 15;
static_assert(kLanes * kRequestsPerPass * (35 + kParts * 2 * kCallsMax) < format::kEventsPerBlockMax);
constexpr uint32_t kNone = UINT32_MAX;

struct Event {
  EventKind kind;
  int64_t time_ns;
  std::array<uint32_t, format::kOperandsMax> operands;
};

// One thread: its clock, and what it did since the last pass.
struct Thread {
  int64_t now_ns = 0;
  std::vector<Event> events;

  // The event comes after_ns to 1.5 after_ns later: times of real runs do not repeat, and would else compress too well.
  void put(EventKind kind, int64_t after_ns, std::array<uint32_t, format::kOperandsMax> operands) {
    const uint64_t noise = static_cast<uint64_t>(now_ns) * 0x9E3779B97F4A7C15 >> 33;
    now_ns += after_ns + static_cast<int64_t>(noise % static_cast<uint64_t>(after_ns / 2 + 1));
    events.push_back({kind, now_ns, operands});
  }
  void wait_until(int64_t time_ns) { now_ns = std::max(now_ns, time_ns); }
};

// Ids of the tables' rows: for each route a handler and its parts, and where they are spawned and waited for.
constexpr uint32_t handler_method(uint32_t route) {
  return route * kTasksPerRequest;
}
constexpr uint32_t part_method(uint32_t route, uint32_t part) {
  return route * kTasksPerRequest + 1 + part;
}
constexpr uint32_t kAcceptMethod = kRoutes * kTasksPerRequest;
constexpr uint32_t accept_context(uint32_t route) {
  return route * (1 + 2 * kParts);
}
constexpr uint32_t spawn_context(uint32_t route, uint32_t part) {
  return accept_context(route) + 1 + 2 * part;
}
constexpr uint32_t wait_context(uint32_t route, uint32_t part) {
  return spawn_context(route, part) + 1;
}
constexpr uint32_t kHandlers = 0, kPartsPool = 1;

struct Lane {
  Thread acceptor, worker;
  std::array<Thread, kParts> part_workers;

  template <typename Visit>
  void each_thread(Visit visit) {
    visit(acceptor);
    visit(worker);
    for (Thread& thread : part_workers) visit(thread);
  }
};
constexpr uint32_t kThreadsPerLane = 2 + kParts;

class Server {
 public:
  Server(uint32_t tasks, uint32_t calls) : tasks_max_(tasks), calls_(calls) {
    for (uint32_t i = 0; i < kLanes; ++i) {
      lanes_[i].each_thread([&](Thread& thread) {
        thread.now_ns = int64_t{1'000'000'000'000} + int64_t{i} * 37'000;
        thread.put(EventKind::thread_begin, 0, {});
      });
    }
  }

  bool more() const { return next_task_ + kTasksPerRequest <= tasks_max_; }

  void pass() {
    for (Lane& lane : lanes_) {
      for (uint32_t i = 0; i < kRequestsPerPass && more(); ++i) request(lane);
    }
  }

  std::array<Lane, kLanes>& lanes() { return lanes_; }
  uint32_t tasks() const { return next_task_; }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  void request(Lane& lane) {
    const uint32_t route = below(kRoutes);
    const uint32_t task = next_task_;
    next_task_ += kTasksPerRequest;
    lane.acceptor.put(EventKind::task_spawn, 20'000 + below(10'000),
                      {task, accept_context(route), kHandlers, handler_method(route)});
    Thread& worker = lane.worker;
    worker.wait_until(lane.acceptor.now_ns);
    worker.put(EventKind::worker_busy, 6000 + below(4000), {kHandlers, 0});
    worker.put(EventKind::task_start, 200, {task});
    for (uint32_t part = 0; part < kParts; ++part) {
      worker.put(EventKind::task_create, 2000 + below(20'000),
                 {task + 1 + part, spawn_context(route, part), part_method(route, part)});
      worker.put(EventKind::task_spawn, 300,
                 {task + 1 + part, spawn_context(route, part), kPartsPool, part_method(route, part)});
      run_part(lane.part_workers[part], worker.now_ns, task + 1 + part, route, part);
    }
    for (uint32_t part = 0; part < kParts; ++part) {
      worker.put(EventKind::wait_begin, 500, {task + 1 + part, wait_context(route, part)});
      worker.wait_until(lane.part_workers[part].now_ns);
      worker.put(EventKind::wait_end, 4000 + below(3000), {task + 1 + part, 0});
    }
    worker.put(EventKind::task_complete, 10'000 + below(30'000), {task, 0});
    worker.put(EventKind::task_end, 50, {task, 0});
    worker.put(EventKind::worker_idle, 100, {kHandlers, 0});
    lane.acceptor.wait_until(worker.now_ns - 15'000);
  }

  void run_part(Thread& thread, int64_t spawned_ns, uint32_t task, uint32_t route, uint32_t part) {
    thread.wait_until(spawned_ns);
    thread.put(EventKind::worker_busy, 5000 + below(4000), {kPartsPool, 0});
    thread.put(EventKind::task_start, 200, {task});
    for (uint32_t call = 0; call < calls_; ++call) {
      thread.put(EventKind::method_enter, 60, {part_method(route, call % kParts)});
      thread.put(EventKind::method_exit, 200, {part_method(route, call % kParts), 0});
    }
    if (part == 0) thread.now_ns += 3000 + below(2000);
    if (part == 1) {
      thread.put(EventKind::block_begin, 1000, {static_cast<uint32_t>(format::BlockReason::sleep), kNone});
      thread.put(EventKind::block_end, 250'000 + below(100'000), {static_cast<uint32_t>(format::BlockReason::sleep)});
    }
    if (part == 2) thread.now_ns += below(4) == 0 ? 150'000 + below(50'000) : 1500;
    thread.put(EventKind::task_complete, 400, {task, 0});
    thread.put(EventKind::task_end, 50, {task, 0});
    thread.put(EventKind::worker_idle, 100, {kPartsPool, 0});
  }

  std::mt19937_64 random_{1};
  uint32_t tasks_max_;
  uint32_t calls_;
  uint32_t next_task_ = 0;
  std::array<Lane, kLanes> lanes_;
};

// The tables of the trace; the first error is kept by the writer.
void write_tables(format::Writer& writer) {
  std::vector<std::string> text;
  auto string = [&](std::string value) {
    text.push_back(std::move(value));
    return format::StringId(static_cast<uint32_t>(text.size() - 1));
  };
  std::vector<format::MethodRow> methods;
  std::vector<format::ContextRow> contexts;
  for (uint32_t route = 0; route < kRoutes; ++route) {
    const format::StringId type = string(fmt::format("server.Route{}", route));
    const format::StringId file = string(fmt::format("Route{}.java", route));
    methods.push_back({type, string("handle"), file, 20});
    for (uint32_t part = 0; part < kParts; ++part)
      methods.push_back({type, string(fmt::format("part{}", part)), file, 40 + 10 * part});
    contexts.push_back({format::ContextId(), format::MethodId(kAcceptMethod), 30 + route});
    for (uint32_t part = 0; part < kParts; ++part) {
      contexts.push_back({format::ContextId(), format::MethodId(handler_method(route)), 21 + part});
      contexts.push_back({format::ContextId(), format::MethodId(handler_method(route)), 31 + part});
    }
  }
  methods.push_back({string("server.Acceptor"), string("accept"), string("Acceptor.java"), 12});
  const std::array<format::PoolRow, 2> pools{
      {{string("handlers"), format::PoolKind::thread_pool, kLanes, kLanes},
       {string("parts"), format::PoolKind::thread_pool, kLanes * kParts, kLanes * kParts}}};
  std::vector<format::ThreadRow> threads;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    threads.push_back(
        {string(fmt::format("acceptor-{}", lane)), format::ThreadKind::platform, false, 1000 + lane, 1000 + lane});
    for (uint32_t worker = 0; worker <= kParts; ++worker) {
      const uint32_t number = lane * kThreadsPerLane + worker;
      threads.push_back({string(worker == 0 ? fmt::format("handlers-{}", lane) : fmt::format("parts-{}", number)),
                         format::ThreadKind::platform, false, 2000 + number, 2000 + number});
    }
  }
  const std::vector<std::string_view> strings(text.begin(), text.end());
  (void)writer.add_strings(strings);
  (void)writer.add_methods(methods);
  (void)writer.add_contexts(contexts);
  (void)writer.add_pools(pools);
  (void)writer.add_threads(threads);
}

void write_pass(Server& server, format::EventEncoder& encoder, format::Writer& writer) {
  uint32_t thread = 0;
  for (Lane& lane : server.lanes()) {
    lane.each_thread([&](Thread& each) {
      encoder.begin_run(format::ThreadId(thread++));
      for (const Event& event : each.events) encoder.append(event.kind, event.time_ns, event.operands.data());
      each.events.clear();
    });
  }
  (void)writer.add_events(encoder);
}

base::Status make(const std::string& path, uint32_t tasks, uint32_t calls) {
  base::Result<std::unique_ptr<format::Sink>> sink = format::open_file_sink(path);
  if (!sink) return sink.error();
  base::Result<std::unique_ptr<format::Writer>> opened = format::Writer::create(*std::move(sink));
  if (!opened) return opened.error();
  format::Writer& writer = **opened;
  (void)writer.add_fact("command", "make_trace");
  (void)writer.add_fact("cores", "20");
  write_tables(writer);

  Server server(tasks, calls);
  format::EventEncoder encoder;
  while (server.more()) {
    server.pass();
    write_pass(server, encoder, writer);
  }
  int64_t end_ns = 0;
  for (Lane& lane : server.lanes()) {
    lane.each_thread([&](Thread& thread) {
      thread.put(EventKind::thread_end, 1000, {});
      end_ns = std::max(end_ns, thread.now_ns);
    });
  }
  write_pass(server, encoder, writer);
  format::Trailer trailer{"exit"};
  trailer.end_ns = end_ns;
  base::Status finished = writer.finish(trailer);
  if (finished) {
    std::printf("tasks %u events %llu bytes %llu\n", server.tasks(),
                static_cast<unsigned long long>(writer.events_written()),
                static_cast<unsigned long long>(writer.bytes_written()));
  }
  return finished;
}

}  // namespace
}  // namespace contrafact::bench

namespace {

// False if it is no number.
bool parse(const char* text, uint32_t& number) {
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, number);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace

int main(int argc, char** argv) {
  uint32_t tasks = 0, calls = 0;
  const bool understood = (argc == 3 || argc == 4) && parse(argv[2], tasks) && (argc == 3 || parse(argv[3], calls));
  if (!understood || tasks == 0 || calls > contrafact::bench::kCallsMax) {
    std::fprintf(stderr, "usage: make_trace FILE TASKS [CALLS], CALLS at most %u\n", contrafact::bench::kCallsMax);
    return 2;
  }
  contrafact::base::Status made = contrafact::bench::make(argv[1], tasks, calls);
  if (!made) std::fprintf(stderr, "make_trace: %s\n", made.error().message.c_str());
  return made ? 0 : 1;
}
