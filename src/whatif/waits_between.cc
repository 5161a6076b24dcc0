#include "whatif/waits_between.h"

#include <algorithm>
#include <map>
#include <optional>

#include "model/library_calls.h"
#include "whatif/sim_wakes.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

// Whose work an event is a part of: a drawn request.
class Owners {
 public:
  Owners(const Trace& trace, std::span<const RequestTemplate> requests) {
    for (uint32_t i = 0; i < requests.size(); ++i) {
      for (const uint32_t task : requests[i].tasks) {
        const model::TaskRow& row = trace.tasks[task];
        if (row.start.valid() && row.end.valid()) parts_.push_back({row.start.value, row.end.value, i});
      }
    }
    std::ranges::sort(parts_, {}, &Part::begin);
  }
  std::optional<uint32_t> of(uint32_t event) const {
    // Tasks may stand within tasks, all of one request.
    auto after = std::ranges::upper_bound(parts_, event, {}, &Part::begin);
    for (int looked_at = 0; after != parts_.begin() && looked_at < kNestedMost; ++looked_at) {
      if ((--after)->end >= event) return after->request;
    }
    return std::nullopt;
  }

 private:
  static constexpr int kNestedMost = 8;
  struct Part {
    uint32_t begin, end, request;
  };
  std::vector<Part> parts_;
};

struct Pair {
  uint32_t begin, end;  // of the wait
  uint32_t cause;
};

// The block's end, if the thread did not get permits by it.
std::optional<uint32_t> end_of_block(const Trace& trace, uint32_t begin) {
  const uint32_t end = trace.thread_events(trace.thread_of(model::EventIndex(begin))).end;
  uint32_t i = begin + 1;
  while (i < end && trace.kind[i] != EventKind::block_end) ++i;
  if (i == end) return std::nullopt;
  for (uint32_t next = i + 1; next < end && next <= i + 2; ++next) {
    if (trace.kind[next] == EventKind::permit_take) return std::nullopt;
  }
  return i;
}

std::vector<Pair> pairs_of(const model::Facts& facts) {
  const Trace& trace = facts.trace();
  std::vector<Pair> pairs;
  const Tokens tokens = match_wakes(facts);
  std::vector<uint32_t> wake(tokens.count, UINT32_MAX);
  for (uint32_t i = 0; i < tokens.of_event.size(); ++i) {
    if (tokens.of_event[i] != UINT32_MAX && trace.kind[i] == EventKind::wake) wake[tokens.of_event[i]] = i;
  }
  for (uint32_t i = 0; i < tokens.of_event.size(); ++i) {
    if (tokens.of_event[i] == UINT32_MAX || trace.kind[i] != EventKind::block_begin) continue;
    const std::optional<uint32_t> end = end_of_block(trace, i);
    if (end && wake[tokens.of_event[i]] != UINT32_MAX) pairs.push_back({i, *end, wake[tokens.of_event[i]]});
  }
  if (!model::is_native(trace)) return pairs;
  for (const model::SyncWake& one : facts.wakes()) {
    const model::CriticalSection& wait = facts.sections()[one.wait];
    if (wait.request.valid() && wait.acquire.valid())
      pairs.push_back({wait.request.value, wait.acquire.value, one.cause.value});
  }
  return pairs;
}

// rho from L = p * rho / (1 - rho); `scale` 2: of equal times, of which half as many wait.
double used_share(double waiting, double waits_share, double scale) {
  return waits_share > 0 ? scale * waiting / (scale * waiting + waits_share) : 0;
}

}  // namespace

std::vector<WaitsBetween> waits_between(const model::Facts& facts, std::span<const RequestTemplate> requests) {
  constexpr uint64_t kWaitsMin = 10;
  const Trace& trace = facts.trace();
  std::vector<WaitsBetween> found;
  if (requests.empty()) return found;
  const Owners owners(trace, requests);
  std::map<uint32_t, WaitsBetween> by_place;  // by method
  for (const Pair& pair : pairs_of(facts)) {
    const std::optional<uint32_t> waits = owners.of(pair.begin), wakes = owners.of(pair.cause);
    if (!waits || !wakes || *waits == *wakes) continue;
    const model::ContextId place = trace.program_frame(model::ContextId(trace.b[pair.begin]));
    WaitsBetween& row = by_place[place.valid() ? trace.contexts[place.index()].method.value : UINT32_MAX];
    row.place = place;
    ++row.waits;
    row.waited_ns += trace.time_ns[pair.end] - trace.time_ns[pair.begin];
  }
  int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
  for (const RequestTemplate& one : requests) {
    const model::TaskRow& root = trace.tasks[one.tasks.front()];
    if (!root.start.valid()) continue;
    begin_ns = std::min(begin_ns, trace.time_ns[root.start.index()]);
    end_ns = std::max(end_ns, trace.time_ns[root.start.index()]);
  }
  for (auto& [place, row] : by_place) {
    if (row.waits < kWaitsMin || end_ns <= begin_ns) continue;
    const double waiting = static_cast<double>(row.waited_ns) / static_cast<double>(end_ns - begin_ns);
    const double share = static_cast<double>(row.waits) / static_cast<double>(requests.size());
    row.used = used_share(waiting, std::min(share, 1.0), 1);
    row.used_most = used_share(waiting, std::min(share, 1.0), 2);
    found.push_back(row);
  }
  std::ranges::stable_sort(found, std::greater(), &WaitsBetween::waited_ns);
  return found;
}

}  // namespace contrafact::whatif
