#include "model/cold_cores.h"

#include <algorithm>
#include <charconv>
#include <compare>
#include <string_view>

#include "model/awake_turns.h"

namespace contrafact::model {
namespace {

constexpr size_t kPointsMax = 16;

bool take_number(std::string_view& text, int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

// "IDLE:NS", and the space behind it.
bool take_point(std::string_view& text, std::pair<int64_t, int64_t>& point) {
  if (!take_number(text, point.first) || !text.starts_with(':')) return false;
  text.remove_prefix(1);
  if (!take_number(text, point.second) || !(text.empty() || text.starts_with(' '))) return false;
  if (!text.empty()) text.remove_prefix(1);
  return point.first > 0 && point.second <= ColdCores::kFullNsMax;
}

}  // namespace

ColdCores::ColdCores(const Trace& trace) {
  std::string_view text = trace.fact("core.refill_ns");
  while (!text.empty() && points_.size() < kPointsMax) {
    std::pair<int64_t, int64_t> point;
    const std::pair<int64_t, int64_t> before = points_.empty() ? std::pair<int64_t, int64_t>() : points_.back();
    if (!take_point(text, point) || point.first <= before.first) {
      points_.clear();  // it is damaged
      return;
    }
    // A longer idle time leaves no more in the caches: less is the measurement's chance.
    points_.emplace_back(point.first, std::max(point.second, before.second));
  }
}

ColdCores ColdCores::with_full_ns(int64_t full_ns) const {
  constexpr int64_t kIdleNs = 500'000;
  ColdCores found;
  if (!any()) {
    found.points_ = {{kIdleNs, full_ns}};
    return found;
  }
  for (const auto& [idle_ns, lost_ns] : points_) {
    const double part = static_cast<double>(lost_ns) / static_cast<double>(this->full_ns());
    found.points_.emplace_back(idle_ns, static_cast<int64_t>(part * static_cast<double>(full_ns)));
  }
  return found;
}

double ColdCores::share(int64_t idle_ns) const {
  if (!any() || idle_ns <= 0) return 0;
  std::pair<int64_t, int64_t> before{0, 0};
  for (const auto& point : points_) {
    if (idle_ns <= point.first) {
      const double part = static_cast<double>(idle_ns - before.first) / static_cast<double>(point.first - before.first);
      return (static_cast<double>(before.second) + part * static_cast<double>(point.second - before.second)) /
             static_cast<double>(full_ns());
    }
    before = point;
  }
  return 1;
}

std::vector<std::vector<ColdStart>> cold_starts(const Trace& trace) {
  constexpr uint32_t kNoThread = UINT32_MAX;
  struct Change {
    int64_t time_ns;
    bool begins;      // ends come first
    uint32_t thread;  // that begins after it had slept; else kNoThread
    auto operator<=>(const Change&) const = default;
  };
  std::vector<Change> changes;
  for (uint32_t thread = 0; thread < trace.cpu.size(); ++thread) {
    const std::vector<CpuGap>& gaps = trace.cpu[thread];
    for (size_t i = 0; i < gaps.size(); ++i) {
      changes.push_back({gaps[i].in_ns, true, gaps[i].preempted ? kNoThread : thread});
      if (i + 1 < gaps.size()) changes.push_back({gaps[i + 1].out_ns, false, kNoThread});
    }
  }
  for (const VmStint& stint : trace.vm_stints) {
    changes.push_back({stint.begin_ns, true, kNoThread});
    changes.push_back({stint.end_ns, false, kNoThread});
  }
  std::ranges::sort(changes);
  const AwakeTurns awake(trace);
  std::vector<std::vector<ColdStart>> found(trace.threads.size());
  std::vector<int64_t> since_ns;  // by threads on cores: since when there were no more
  size_t on_cores = 0;
  for (const Change& change : changes) {
    if (!change.begins) {
      on_cores -= on_cores > 0 ? 1 : 0;
      if (on_cores < since_ns.size()) since_ns[on_cores] = change.time_ns;
      continue;
    }
    if (on_cores >= since_ns.size()) since_ns.resize(on_cores + 1, changes.front().time_ns);
    if (change.thread != kNoThread && change.thread < found.size()) {
      const int64_t since = since_ns[on_cores];
      found[change.thread].push_back({change.time_ns, change.time_ns - since - awake.awake_ns(since, change.time_ns)});
    }
    ++on_cores;
  }
  return found;
}

}  // namespace contrafact::model
