#include "model/awake_turns.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace contrafact::model {
namespace {

constexpr int64_t kTurnNsMin = 1'000'000, kTurnNsMax = 60'000'000'000;
constexpr int64_t kSettles = 5;  // a fifth of a turn

}  // namespace

AwakeTurns::AwakeTurns(const Trace& trace) {
  const std::string_view text = trace.fact("cores.awake_ns");
  int64_t turn_ns = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), turn_ns);
  if (error == std::errc() && end == text.data() + text.size() && turn_ns >= kTurnNsMin && turn_ns <= kTurnNsMax)
    turn_ns_ = turn_ns;
}

Turn AwakeTurns::of(int64_t begin_ns, int64_t end_ns) const {
  if (!any() || begin_ns < 0 || end_ns < begin_ns) return Turn::both;
  const int64_t turn = begin_ns / turn_ns_;
  if (end_ns / turn_ns_ != turn) return Turn::both;
  if (turn % 2 == 0) return Turn::left_alone;
  return begin_ns % turn_ns_ < turn_ns_ / kSettles ? Turn::both : Turn::awake;
}

int64_t AwakeTurns::awake_until_ns(int64_t time_ns) const {
  if (time_ns < 0) return 0;
  return time_ns / (2 * turn_ns_) * turn_ns_ + std::max<int64_t>(0, time_ns % (2 * turn_ns_) - turn_ns_);
}

int64_t AwakeTurns::awake_ns(int64_t begin_ns, int64_t end_ns) const {
  return any() && end_ns > begin_ns ? awake_until_ns(end_ns) - awake_until_ns(begin_ns) : 0;
}

}  // namespace contrafact::model
