#include "analysis/constant_ranges.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace contrafact::analysis {
namespace {

constexpr std::string_view kKey = "constants.";

// "LOADED_NS UNLOADED_NS ..."; an unknown module counts as unloaded.
bool stays_loaded(std::string_view module) {
  const size_t blank = module.find(' ');
  return blank != std::string_view::npos && module.substr(blank + 1).starts_with("0 ");
}

// The numbers in hexadecimal, up to what is none.
std::vector<uint64_t> numbers_of(std::string_view text) {
  std::vector<uint64_t> numbers;
  for (uint64_t number = 0; !text.empty();) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
    if (error != std::errc()) break;
    numbers.push_back(number);
    text.remove_prefix(std::min(text.size(), static_cast<size_t>(end - text.data()) + 1));
  }
  return numbers;
}

}  // namespace

ConstantRanges constant_ranges(const model::Trace& trace) {
  ConstantRanges all;
  for (const model::Fact& fact : trace.facts) {
    if (!fact.key.starts_with(kKey)) continue;
    if (!stays_loaded(trace.fact("module." + std::string(fact.key.substr(kKey.size()))))) continue;
    const std::vector<uint64_t> numbers = numbers_of(fact.value);
    for (size_t i = 0; i + 1 < numbers.size(); i += 2)
      if (numbers[i] < numbers[i + 1]) all.emplace_back(numbers[i], numbers[i + 1]);
  }
  std::ranges::sort(all);
  ConstantRanges apart;
  for (const auto& [begin, end] : all) {
    if (!apart.empty() && begin <= apart.back().second) {
      apart.back().second = std::max(apart.back().second, end);
    } else {
      apart.emplace_back(begin, end);
    }
  }
  return apart;
}

bool is_constant(const ConstantRanges& ranges, uint64_t address) {
  const auto behind = std::ranges::upper_bound(ranges, address, {}, &std::pair<uint64_t, uint64_t>::first);
  return behind != ranges.begin() && address < std::prev(behind)->second;
}

}  // namespace contrafact::analysis
