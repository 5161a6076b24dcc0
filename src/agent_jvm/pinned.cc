#include "agent_jvm/pinned.h"

#include <algorithm>
#include <string>
#include <vector>

namespace contrafact::agent_jvm {

void PinnedBlocks::note(format::ContextId place, int64_t blocked_ns) {
  std::lock_guard lock(mutex_);
  const auto add = [&](Sum& sum) {
    ++sum.blocks;
    sum.blocked_ns += blocked_ns;
  };
  add(all_);
  if (of_place_.size() < kPlacesMax || of_place_.contains(place.value)) add(of_place_[place.value]);
}

void PinnedBlocks::report(recorder::Recorder& recorder) const {
  std::lock_guard lock(mutex_);
  if (all_.blocks == 0) return;
  const auto text = [](const Sum& sum) { return std::to_string(sum.blocks) + " " + std::to_string(sum.blocked_ns); };
  recorder.add_fact("pinned", text(all_));
  std::vector<std::pair<uint32_t, Sum>> places(of_place_.begin(), of_place_.end());
  std::ranges::sort(places, [](const auto& x, const auto& y) { return x.second.blocked_ns > y.second.blocked_ns; });
  for (size_t i = 0; i < std::min(places.size(), kPlacesReported); ++i) {
    const auto& [place, sum] = places[i];
    const std::string at = format::ContextId(place).valid() ? std::to_string(place) : "-";
    recorder.add_fact("pinned." + std::to_string(i), text(sum) + " " + at);
  }
}

}  // namespace contrafact::agent_jvm
