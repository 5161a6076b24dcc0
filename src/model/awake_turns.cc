#include "model/awake_turns.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "format/fact_keys.h"

namespace contrafact::model {
namespace {

constexpr int64_t kTurnNsMin = 1'000'000, kTurnNsMax = 60'000'000'000;
constexpr int64_t kSettles = 5;  // a fifth of a turn

std::optional<int64_t> awake_fact(const Trace& trace, std::string_view key) {
  const std::string_view text = trace.fact(key);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

AwakeTurns::AwakeTurns(const Trace& trace) {
  const std::optional<int64_t> turn_ns = awake_fact(trace, format::kAwakeFact);
  if (turn_ns && *turn_ns >= kTurnNsMin && *turn_ns <= kTurnNsMax) turn_ns_ = *turn_ns;
  if (trace.fact(format::kAwakeUntilFact).empty()) return;
  until_ns_ = awake_fact(trace, format::kAwakeUntilFact).value_or(INT64_MIN);  // damaged: at no known time
}

Turn AwakeTurns::of(int64_t begin_ns, int64_t end_ns) const {
  if (!any() || begin_ns < 0 || end_ns < begin_ns || end_ns > until_ns_) return Turn::both;
  const int64_t turn = begin_ns / turn_ns_;
  if (end_ns / turn_ns_ != turn) return Turn::both;
  if (turn % 2 == 0) return Turn::left_alone;
  return begin_ns % turn_ns_ < turn_ns_ / kSettles ? Turn::both : Turn::awake;
}

int64_t AwakeTurns::awake_before_ns(int64_t time_ns) const {
  const int64_t last_ns = std::min(time_ns, until_ns_);
  if (last_ns < 0) return 0;
  return last_ns / (2 * turn_ns_) * turn_ns_ + std::max<int64_t>(0, last_ns % (2 * turn_ns_) - turn_ns_);
}

int64_t AwakeTurns::awake_ns(int64_t begin_ns, int64_t end_ns) const {
  return any() && end_ns > begin_ns ? awake_before_ns(end_ns) - awake_before_ns(begin_ns) : 0;
}

}  // namespace contrafact::model
