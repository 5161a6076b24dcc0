// give-back-early: a task gives what it has of a pool (a connection, say) back before the last thing that it blocks in
// while it has it, and does the rest without. The recording does not say whether the rest needs it: code of the pool's
// own library, or of a driver, that is on the stack of that block says that it does. Semaphores are left out: what they
// guard is whatever the program does meanwhile. So are pools of the program's own, whose users' names say nothing.

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "improve/kinds/kinds.h"
#include "improve/move_change.h"
#include "improve/source_places.h"
#include "improve/spec_frames.h"
#include "model/library_calls.h"
#include "model/processes.h"
#include "model/task_walk.h"
#include "whatif/sim_moves.h"
#include "whatif/variant.h"

namespace contrafact::improve {
namespace {

using model::ContextId;
using model::EventKind;
using model::PoolId;
using model::Trace;

// Code of pools of connections, and of what they are connections to.
constexpr std::array<std::string_view, 24> kUsers{"com.zaxxer.hikari.",
                                                  "org.apache.commons.dbcp2.",
                                                  "org.apache.commons.pool2.",
                                                  "org.apache.commons.dbcp.",
                                                  "org.apache.commons.pool.",
                                                  "com.mchange.",
                                                  "com.alibaba.druid.",
                                                  "io.agroal.",
                                                  "org.vibur.",
                                                  "org.apache.http.",
                                                  "org.apache.hc.",
                                                  "com.mongodb.",
                                                  "org.apache.tomcat.jdbc.",
                                                  "org.apache.tomcat.dbcp.",
                                                  "org.h2.",
                                                  "java.sql.",
                                                  "org.postgresql.",
                                                  "com.mysql.",
                                                  "org.mariadb.",
                                                  "oracle.jdbc.",
                                                  "com.microsoft.sqlserver.",
                                                  "org.apache.derby.",
                                                  "org.hsqldb.",
                                                  "redis.clients."};

class UsesOfPools {
 public:
  explicit UsesOfPools(const Trace& trace) : trace_(trace), known_(trace.contexts.size(), Use::unknown) {}
  // `giving_back`: it is being given back, which may take a turn over the network.
  enum class Use : uint8_t { none, use, giving_back, unknown };
  Use at(ContextId context) {
    if (!context.valid()) return Use::use;
    Use& known = known_[context.index()];
    if (known == Use::unknown) known = look(context);
    return known;
  }

 private:
  Use look(ContextId context) const {
    Use found = Use::none;
    for (; context.valid(); context = trace_.contexts[context.index()].parent) {
      const model::MethodId method = trace_.contexts[context.index()].method;
      if (!method.valid()) continue;
      const format::MethodRow& row = trace_.methods[method.index()];
      const std::string_view name = trace_.string(row.class_name);
      if (std::ranges::none_of(kUsers, [&](std::string_view user) { return name.starts_with(user); })) continue;
      found = trace_.string(row.name) == "close" ? Use::giving_back : Use::use;
    }
    return found;  // of the outermost such frame: what the program called
  }
  const Trace& trace_;
  std::vector<Use> known_;
};

bool is_of_objects(const Trace& trace, PoolId pool) {
  const format::PoolRow& row = trace.pools[pool.index()];
  const std::string_view name = trace.string(row.name);
  return row.kind == format::PoolKind::permits && !name.starts_with("java.util.concurrent.") &&
         !model::is_configured_pool(trace, name);
}

struct Place {
  PoolId pool;
  ContextId before;
  bool operator<(const Place& other) const {
    return pool.value != other.pool.value ? pool.value < other.pool.value : before.value < other.before.value;
  }
};
struct Gives {
  std::vector<whatif::EarlierGive> all;
  int64_t by_ns = 0;
};

class Finder {
 public:
  explicit Finder(const Trace& trace)
      : trace_(trace), sources_(trace), uses_(trace), gives_(whatif::permit_gives(trace)) {}

  void run() {
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) walk(model::ThreadId(i));
  }
  std::map<Place, Gives> found;
  std::map<uint32_t, int64_t> held_ns;  // by pool

 private:
  struct Held {
    int64_t since_ns = 0;
    ContextId before;  // where it last blocked; none: it did not, or in what it has of the pool
    int64_t before_ns = 0;
  };

  void walk(model::ThreadId thread) {
    held_.clear();
    for (model::TaskWalk walk(trace_, thread); walk.next();) {
      switch (walk.kind()) {
        case EventKind::permit_take:
          if (walk.a() < trace_.pools.size() && is_of_objects(trace_, PoolId(walk.a())))
            held_[walk.a()] = {walk.time_ns(), {}, 0};
          break;
        case EventKind::permit_give:
          give(walk.a(), walk.event().value, walk.time_ns());
          break;
        case EventKind::block_begin:
        case EventKind::wait_begin:
          for (auto& [pool, held] : held_) {
            const ContextId at(walk.b());
            const UsesOfPools::Use use = uses_.at(at);
            if (use == UsesOfPools::Use::giving_back) continue;
            held.before = use == UsesOfPools::Use::use ? ContextId() : sources_.of(at);
            held.before_ns = walk.time_ns();
          }
          break;
        case EventKind::task_end:
          held_.clear();
          break;
        default:
          break;
      }
    }
  }

  void give(uint32_t pool, uint32_t event, int64_t now_ns) {
    const auto at = held_.find(pool);
    if (at == held_.end()) return;
    held_ns[pool] += now_ns - at->second.since_ns;
    if (at->second.before.valid()) {
      Gives& gives = found[{PoolId(pool), at->second.before}];
      const auto number = static_cast<uint32_t>(std::ranges::lower_bound(gives_, event) - gives_.begin());
      gives.all.push_back({number, now_ns - at->second.before_ns});
      gives.by_ns += now_ns - at->second.before_ns;
    }
    held_.erase(at);
  }

  const Trace& trace_;
  const SourcePlaces sources_;
  UsesOfPools uses_;
  const std::vector<uint32_t> gives_;  // events
  std::map<uint32_t, Held> held_;      // by pool
};

class GiveBackEarly final : public MoveChange {
 public:
  constexpr GiveBackEarly() : MoveChange("give-back-early", Effort::one_function, 2) {}

  void find(const Trace& trace, std::vector<Candidate>& candidates) const override {
    constexpr int64_t kPartMin = 10;  // of the time for which they are out: a tenth
    Finder finder(trace);
    finder.run();
    const size_t first = candidates.size();
    for (auto& [place, gives] : finder.found) {
      if (gives.by_ns * kPartMin < finder.held_ns[place.pool.value]) continue;
      std::ranges::sort(gives.all, {}, &whatif::EarlierGive::number);
      Candidate candidate;
      candidate.pool = place.pool;
      candidate.improvement.optimisation = this;
      candidate.improvement.pool = place.pool;
      candidate.improvement.before = place.before;
      candidate.improvement.earlier_gives = std::move(gives.all);
      candidates.push_back(std::move(candidate));
    }
    std::stable_sort(candidates.begin() + static_cast<ptrdiff_t>(first), candidates.end(),
                     [](const Candidate& x, const Candidate& y) {
                       return x.improvement.earlier_gives.size() > y.improvement.earlier_gives.size();
                     });
  }

  void move(const Trace&, const whatif::Improvement& improvement, whatif::Variant& variant) const override {
    variant.earlier_gives.insert(variant.earlier_gives.end(), improvement.earlier_gives.begin(),
                                 improvement.earlier_gives.end());
    std::ranges::sort(variant.earlier_gives, {}, &whatif::EarlierGive::number);
  }

  void write_place(const whatif::Improvement& improvement, const Trace& trace, Json& json) const override {
    json["pool"] = model::pool_label(trace, improvement.pool);
    json["before"] = {{"frames", frames_json(trace, improvement.before)}};
  }
  bool is_named(const Json& json, const whatif::Improvement& improvement, const Trace& trace) const override {
    if (json.value("pool", "") != model::pool_label(trace, improvement.pool)) return false;
    const ProgramClasses program(trace);
    const Json frames = json.value("before", Json::object()).value("frames", Json::array());
    return frames_key(frames, program) == frames_key(frames_json(trace, improvement.before), program);
  }

  void add_notes(const Trace& trace, const Candidate& candidate, std::vector<std::string>& notes) const override {
    notes.push_back("give back to " + model::pool_label(trace, candidate.pool) +
                    " in front of this call: if neither it nor what follows needs what was taken");
  }
};

constexpr GiveBackEarly kGiveBackEarly;

}  // namespace

const Kind* const kinds::give_back_early = &kGiveBackEarly;

}  // namespace contrafact::improve
