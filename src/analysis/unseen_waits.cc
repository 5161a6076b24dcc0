#include "analysis/unseen_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/system_call_names.h"
#include "base/saturating.h"
#include "model/on_core.h"
#include "model/thread_label.h"

namespace contrafact::analysis {
namespace {

using model::EventKind;

bool begins_wait(EventKind kind) {
  return kind == EventKind::wait_begin || kind == EventKind::block_begin || kind == EventKind::lock_request ||
         kind == EventKind::lock_request_shared || kind == EventKind::sync_wait;
}
bool ends_wait(EventKind kind) {
  return kind == EventKind::wait_end || kind == EventKind::block_end || kind == EventKind::lock_acquired ||
         kind == EventKind::lock_acquired_shared || kind == EventKind::sync_woken;
}

// The thread's outermost waits that events report, in order of time; a wait without an end lasts for the rest.
std::vector<std::pair<int64_t, int64_t>> seen_waits(const model::Trace& trace, model::EventRange range) {
  std::vector<std::pair<int64_t, int64_t>> waits;
  int depth = 0;
  for (uint32_t i = range.begin; i < range.end; ++i) {
    if (begins_wait(trace.kind[i]) && depth++ == 0) waits.emplace_back(trace.time_ns[i], INT64_MAX);
    if (ends_wait(trace.kind[i]) && depth > 0 && --depth == 0) waits.back().second = trace.time_ns[i];
  }
  return waits;
}

// From its first event to its last, or to its last switch: threads of a Go program end with it, without an event.
std::pair<int64_t, int64_t> life_of(const model::Trace& trace, size_t thread) {
  const model::EventRange range = trace.thread_ranges[thread];
  const bool has_gaps = thread < trace.cpu.size() && !trace.cpu[thread].empty();
  const int64_t last_ns = trace.time_ns[range.end - 1];
  return {trace.time_ns[range.begin], has_gaps ? std::max(last_ns, trace.cpu[thread].back().in_ns) : last_ns};
}

int64_t unseen_ns(const model::Trace& trace, size_t thread) {
  const model::EventRange range = trace.thread_ranges[thread];
  const std::vector<std::pair<int64_t, int64_t>> waits = seen_waits(trace, range);
  const auto [begin_ns, end_ns] = life_of(trace, thread);
  int64_t sum_ns = 0;
  auto wait = waits.begin();
  for (const model::CpuGap& gap : trace.cpu[thread]) {
    const int64_t from_ns = std::max(gap.out_ns, begin_ns), to_ns = std::min(gap.in_ns, end_ns);
    if (gap.preempted || to_ns <= from_ns) continue;
    sum_ns += to_ns - from_ns;
    while (wait != waits.end() && wait->second <= from_ns) ++wait;
    for (auto each = wait; each != waits.end() && each->first < to_ns; ++each)
      sum_ns -= std::max<int64_t>(0, std::min(to_ns, each->second) - std::max(from_ns, each->first));
  }
  return sum_ns;
}

// Takes a word from the front.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  return word;
}

template <typename Number>
Number number_in(std::string_view word, int base = 10) {
  Number number = 0;
  std::from_chars(word.data(), word.data() + word.size(), number, base);
  return number;
}

// "LOOKS THREAD SYSTEM_CALL FUTEX METHOD"
std::vector<BlockedPlace> blocked_places(const model::Trace& trace) {
  constexpr std::string_view kKey = "blocked.";
  std::map<std::tuple<uint32_t, uint64_t, uint32_t>, uint64_t> looks;
  for (const model::Fact& fact : trace.facts) {
    if (!fact.key.starts_with(kKey) || fact.key.find_first_not_of("0123456789", kKey.size()) != std::string::npos)
      continue;
    std::string_view text = fact.value;
    const auto count = number_in<uint64_t>(take_word(text));
    take_word(text);
    const auto system_call = number_in<uint32_t>(take_word(text));
    const auto futex = number_in<uint64_t>(take_word(text), 16);
    const auto method = number_in<uint32_t>(take_word(text));
    if (method < trace.methods.size()) looks[{system_call, futex, method}] += count;
  }
  std::vector<BlockedPlace> places;
  for (const auto& [at, count] : looks) {
    const auto [system_call, futex, method] = at;
    places.push_back({count, system_call, futex, model::MethodId(method)});
  }
  std::ranges::stable_sort(places, std::greater(), &BlockedPlace::looks);
  return places;
}

// ", in 92 % of 120 looks in futex at gomp_barrier_wait (bar.c:44)"; empty where `record` saw nothing.
std::string places_text(const model::Trace& trace, const UnseenWaits& unseen) {
  if (unseen.looks == 0) return "";
  std::map<std::pair<uint32_t, std::string>, uint64_t> looks;  // futexes of one place together
  for (const BlockedPlace& place : unseen.places)
    looks[{place.system_call, trace.method_label(place.method)}] += place.looks;
  const auto most = std::ranges::max_element(looks, {}, [](const auto& each) { return each.second; });
  return fmt::format(", in {:.0f} % of {} looks in {} at {}",
                     100 * static_cast<double>(most->second) / static_cast<double>(unseen.looks), unseen.looks,
                     system_call_name(most->first.first), most->first.second);
}

}  // namespace

std::optional<UnseenWaits> unseen_waits(const model::Trace& trace) {
  if (!model::has_switches(trace) || trace.fact("agent") != "native") return std::nullopt;
  UnseenWaits out;
  for (size_t thread = 0; thread < trace.thread_ranges.size(); ++thread) {
    if (trace.thread_ranges[thread].size() == 0) continue;
    const auto [begin_ns, end_ns] = life_of(trace, thread);
    out.threads_ns = base::add_saturated(out.threads_ns, end_ns - begin_ns);
    if (thread >= trace.cpu.size()) continue;
    const int64_t of_thread_ns = unseen_ns(trace, thread);
    out.blocked_ns = base::add_saturated(out.blocked_ns, of_thread_ns);
    if (of_thread_ns <= out.longest_ns) continue;
    out.longest_ns = of_thread_ns;
    out.longest = model::ThreadId(static_cast<uint32_t>(thread));
  }
  out.places = blocked_places(trace);
  for (const BlockedPlace& place : out.places) out.looks += place.looks;
  return out;
}

std::string unseen_waits_text(const model::Trace& trace) {
  const std::optional<UnseenWaits> unseen = unseen_waits(trace);
  if (!unseen || unseen->share() < kUnseenShareReported) return "";
  return fmt::format(
      "threads were blocked for {:.0f} % of their time, longest {}, for something that the recorder does not see{}",
      100 * unseen->share(), model::thread_label(trace, unseen->longest), places_text(trace, *unseen));
}

}  // namespace contrafact::analysis
