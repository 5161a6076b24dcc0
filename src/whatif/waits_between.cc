#include "whatif/waits_between.h"

#include <algorithm>
#include <map>

#include "model/event_parts.h"
#include "whatif/sim_latency.h"
#include "whatif/woken_waits.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::Trace;

// Whose work events are a part of: of which drawn request. Its tasks may stand within its tasks.
class Owners {
 public:
  static constexpr uint32_t kNobody = model::OwnedParts::kNobody;

  Owners(const Trace& trace, std::span<const RequestTemplate> requests) {
    for (uint32_t i = 0; i < requests.size(); ++i) {
      for (const uint32_t task : requests[i].tasks) {
        const model::TaskRow& row = trace.tasks[task];
        if (!row.start.valid() || !row.end.valid()) continue;
        parts_.add(row.start.value, row.end.value + 1, static_cast<uint32_t>(tasks_.size()));
        tasks_.push_back({row.end.value, i});
      }
      const model::TaskRow& root = trace.tasks[requests[i].tasks.front()];
      if (root.start.valid()) begins_.push_back({root.start.value, i});
    }
    parts_.finish();
    std::ranges::sort(begins_, {}, &Mark::event);
  }

  uint32_t of(uint32_t event) const {
    const uint32_t task = parts_.owner_of(event);
    return task == kNobody ? kNobody : tasks_[task].request;
  }
  // Whether the event is of a task that begins to serve another request behind it: idle workers wait in a task that an earlier request
  // handed out until a connection is handed to them.
  bool is_idle(uint32_t event) const {
    const uint32_t task = parts_.owner_of(event);
    if (task == kNobody) return false;
    auto next = std::ranges::upper_bound(begins_, event, {}, &Mark::event);
    for (; next != begins_.end() && next->event <= tasks_[task].event; ++next) {
      if (next->request != tasks_[task].request) return true;
    }
    return false;
  }

 private:
  struct Mark {
    uint32_t event, request;
  };
  model::OwnedParts parts_;   // by place in tasks_
  std::vector<Mark> tasks_;   // their ends
  std::vector<Mark> begins_;  // of requests
};

// rho from L = p * rho / (1 - rho); `scale` 2: of equal times, of which half as many wait.
double used_share(double waiting, double waits_share, double scale) {
  return scale * waiting / (scale * waiting + waits_share);
}

// How many of the waits another one follows that the same thread ended right afterwards.
size_t ended_together(const Trace& trace, std::vector<uint32_t> causes) {
  constexpr int64_t kTogetherNs = 200'000;
  std::ranges::sort(causes);
  size_t count = 0;
  for (size_t i = 0; i + 1 < causes.size(); ++i) {
    const bool same =
        trace.thread_of(model::EventIndex(causes[i])) == trace.thread_of(model::EventIndex(causes[i + 1]));
    count += same && trace.time_ns[causes[i + 1]] - trace.time_ns[causes[i]] < kTogetherNs;
  }
  return count;
}

// From the first event of a request's tasks to the last.
int64_t median_span(const Trace& trace, std::span<const RequestTemplate> requests) {
  std::vector<int64_t> spans_ns;
  for (const RequestTemplate& one : requests) {
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (const uint32_t task : one.tasks) {
      const model::TaskRow& row = trace.tasks[task];
      if (!row.start.valid() || !row.end.valid()) continue;
      begin_ns = std::min(begin_ns, trace.time_ns[row.start.index()]);
      end_ns = std::max(end_ns, trace.time_ns[row.end.index()]);
    }
    if (end_ns >= begin_ns) spans_ns.push_back(end_ns - begin_ns);
  }
  return median_ns(spans_ns);
}

// Requests that begin in a second.
double rate_of(const Trace& trace, std::span<const RequestTemplate> requests) {
  int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
  for (const RequestTemplate& one : requests) {
    const model::TaskRow& root = trace.tasks[one.tasks.front()];
    if (!root.start.valid()) continue;
    begin_ns = std::min(begin_ns, trace.time_ns[root.start.index()]);
    end_ns = std::max(end_ns, trace.time_ns[root.start.index()]);
  }
  return end_ns > begin_ns ? static_cast<double>(requests.size()) * 1e9 / static_cast<double>(end_ns - begin_ns) : 0;
}

}  // namespace

std::vector<WaitsBetween> waits_between(const model::Facts& facts, std::span<const RequestTemplate> requests) {
  constexpr uint64_t kWaitsMin = 10;  // fewer say how often they come to no better than a third (1 / sqrt(10))
  constexpr double kShareMin = 0.01, kTogetherMost = 0.3;
  const Trace& trace = facts.trace();
  std::vector<WaitsBetween> found;
  const double per_second = rate_of(trace, requests);
  if (per_second <= 0) return found;
  const int64_t median_span_ns = median_span(trace, requests);
  const Owners owners(trace, requests);
  struct Place {
    WaitsBetween row;
    std::vector<uint32_t> causes;
  };
  std::map<uint32_t, Place> by_method;
  for (const WokenWait& wait : woken_waits(facts)) {
    const uint32_t waits = owners.of(wait.begin), wakes = owners.of(wait.cause);
    if (waits == wakes || waits == Owners::kNobody || wakes == Owners::kNobody) continue;
    // A worker that idles in a task until it is given a request waits for its client, not for what other requests give back.
    if (trace.time_ns[wait.begin] < requests[waits].received_ns || owners.is_idle(wait.begin)) continue;
    const model::ContextId at = trace.program_frame(model::ContextId(trace.b[wait.begin]));
    Place& place = by_method[at.valid() ? trace.contexts[at.index()].method.value : UINT32_MAX];
    place.row.place = at;
    ++place.row.waits;
    place.row.waited_ns += trace.time_ns[wait.end] - trace.time_ns[wait.begin];
    place.causes.push_back(wait.cause);
  }
  const auto count = static_cast<double>(requests.size());
  for (auto& [method, place] : by_method) {
    WaitsBetween& row = place.row;
    row.share = std::min(1.0, static_cast<double>(row.waits) / count);
    if (row.waits < kWaitsMin || row.share < kShareMin || row.waited_ns <= 0) continue;
    if (row.waited_ns / static_cast<int64_t>(row.waits) > median_span_ns)
      continue;  // no part of a request lasts so long
    const double waiting = static_cast<double>(row.waited_ns) / 1e9 * per_second / count;
    row.per_second = per_second / used_share(waiting, row.share, 1);
    row.low_per_second = per_second / used_share(waiting, row.share, 2);
    row.one_by_one =
        static_cast<double>(ended_together(trace, place.causes)) <= kTogetherMost * static_cast<double>(row.waits);
    found.push_back(row);
  }
  std::ranges::stable_sort(found, {}, &WaitsBetween::per_second);
  return found;
}

}  // namespace contrafact::whatif
