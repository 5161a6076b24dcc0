#include "model/request_endpoints.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "model/facts.h"
#include "model/hand_outs.h"
#include "model/request_work.h"
#include "model/task_walk.h"

namespace contrafact::model {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

// Gives numbers to names.
class Names {
 public:
  explicit Names(Requests& requests) : requests_(requests) {}
  uint32_t number(std::string name) {
    if (name.empty()) name = kUnknownEndpoint;
    const auto [found, added] = numbers_.try_emplace(std::move(name), static_cast<uint32_t>(numbers_.size()));
    if (added) requests_.endpoints.push_back(found->first);
    return found->second;
  }

 private:
  Requests& requests_;
  std::map<std::string, uint32_t> numbers_;
};

class Namer {
 public:
  Namer(const Trace& trace, Requests& requests)
      : trace_(trace),
        requests_(requests),
        is_native_(is_native(trace)),
        hand_outs_(trace),
        work_(trace, hand_outs_, requests.all),
        names_(requests) {}

  void run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) {
      for (TaskWalk walk(trace_, ThreadId(i)); walk.next();) {
        hand_outs_.note(walk);
        if (walk.kind() == EventKind::endpoint && walk.a() != kNone) said_.push_back({walk.event(), walk.task()});
      }
    }
    if (!by_events()) by_code();
  }

 private:
  struct Said {
    EventIndex event;
    TaskId task;
  };

  bool by_events() {
    std::vector<uint32_t> best(requests_.all.size(), kNone);  // by request: the event
    bool found = false;
    for (const Said& said : said_) {
      const uint32_t request = work_.request_of(said.event, said.task);
      if (request == RequestWork::kNoRequest) continue;
      found = true;
      uint32_t& held = best[request];
      if (held == kNone || is_better(said.event.value, held)) held = said.event.value;
    }
    if (!found) return false;
    for (size_t i = 0; i < best.size(); ++i) {
      const std::string_view name =
          best[i] == kNone ? kUnknownEndpoint : trace_.string(trace_.endpoints[trace_.a[best[i]]].name);
      requests_.all[i].endpoint = names_.number(std::string(name));
    }
    return true;
  }

  bool is_better(uint32_t event, uint32_t held) const {
    if (trace_.b[event] != trace_.b[held]) return trace_.b[event] > trace_.b[held];
    return trace_.time_ns[event] < trace_.time_ns[held];
  }

  // The methods that requests pass through, in their order.
  struct Passed {
    std::vector<uint32_t> methods;
    uint32_t begins_with = kNone;  // its thread or task
  };

  void by_code() {
    requests_.named_by_code = true;
    passed_.resize(requests_.all.size());
    for (size_t i = 0; i < requests_.all.size(); ++i) {
      const TaskId task = requests_.all[i].task;
      if (task.valid()) add_method(static_cast<uint32_t>(i), trace_.tasks[task.index()].body);
    }
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk_contexts(ThreadId(i));
    std::vector<uint32_t> passing(trace_.methods.size());  // requests, by method
    for (const Passed& passed : passed_) {
      for (const uint32_t method : passed.methods) ++passing[method];
    }
    for (size_t i = 0; i < passed_.size(); ++i) {
      const uint32_t method = choose(passed_[i], passing);
      requests_.all[i].endpoint = names_.number(method == kNone ? std::string(kUnknownEndpoint)
                                                                : trace_.method_name(trace_.methods[method], true));
    }
  }

  uint32_t choose(const Passed& passed, std::span<const uint32_t> passing) const {
    constexpr double kNearlyAll = 0.95, kRare = 0.005;
    const auto requests = static_cast<double>(passed_.size());
    uint32_t common = kNone;
    for (const uint32_t method : passed.methods) {
      const bool is_common = passing[method] > kNearlyAll * requests;
      if (!is_common && passing[method] >= kRare * requests) return method;
      if (is_common && common == kNone && method != passed.begins_with) common = method;
    }
    return common != kNone || passed.methods.empty() ? common : passed.methods.front();
  }

  // Whether it is recorded each time. Of a JVM's waits for sockets only long ones are.
  bool has_place(EventKind kind, uint32_t a) const {
    switch (kind) {
      case EventKind::task_spawn:
      case EventKind::task_create:
      case EventKind::wait_begin:
      case EventKind::lock_acquire:
      case EventKind::lock_acquire_shared:
      case EventKind::lock_request:
      case EventKind::lock_request_shared:
        return true;
      case EventKind::block_begin:
        return static_cast<BlockReason>(a) == BlockReason::sleep ||
               static_cast<BlockReason>(a) == BlockReason::process ||
               (is_native_ && static_cast<BlockReason>(a) == BlockReason::io);
      default:
        return false;
    }
  }

  void walk_contexts(ThreadId thread) {
    for (TaskWalk walk(trace_, thread); walk.next();) {
      const bool starts = walk.kind() == EventKind::task_start;
      if (!starts && !has_place(walk.kind(), walk.a())) continue;
      const uint32_t request = work_.request_of(walk.event(), walk.task());
      if (request == RequestWork::kNoRequest) continue;
      starts ? add_method(request, trace_.tasks[walk.a()].body) : add_place(request, walk.b());
    }
  }

  void add_place(uint32_t request, uint32_t context) {
    constexpr size_t kMethodsMost = 64;
    Passed& passed = passed_[request];
    if (context >= trace_.contexts.size() || passed.methods.size() >= kMethodsMost) return;
    const auto [known, added] = frames_.try_emplace(context);
    if (added) {
      for (ContextId node(context); node.valid(); node = trace_.contexts[node.index()].parent) {
        const MethodId method = trace_.contexts[node.index()].method;
        if (is_own(method)) known->second.push_back(method.value);
        if (is_native_ && !known->second.empty()) break;
      }
      std::ranges::reverse(known->second);
    }
    const bool is_first = passed.methods.empty();
    if (is_first && known->second.size() > 1) passed.begins_with = known->second.front();
    for (const uint32_t method : known->second) add_method(request, MethodId(method));
  }

  void add_method(uint32_t request, MethodId method) {
    if (!is_own(method)) return;
    std::vector<uint32_t>& methods = passed_[request].methods;
    if (std::ranges::find(methods, method.value) == methods.end()) methods.push_back(method.value);
  }

  bool is_own(MethodId method) const {
    return method.index() < trace_.methods.size() && trace_.owner_name(method).empty() &&
           trace_.methods[method.index()].name.valid();
  }

  const Trace& trace_;
  Requests& requests_;
  const bool is_native_;
  HandOuts hand_outs_;
  RequestWork work_;
  Names names_;
  std::vector<Said> said_;
  std::vector<Passed> passed_;                        // by request
  std::map<uint32_t, std::vector<uint32_t>> frames_;  // by context: the program's methods, outermost first
};

}  // namespace

void name_endpoints(const Trace& trace, Requests& requests) {
  requests.endpoints.clear();
  requests.named_by_code = false;
  if (!requests.all.empty()) Namer(trace, requests).run();
}

}  // namespace contrafact::model
