#include "model/memory_names.h"

#include <charconv>
#include <string_view>

namespace contrafact::model {
namespace {

constexpr std::string_view kFieldFact = "field.";
constexpr uint32_t kElement = uint32_t{1} << 31;
constexpr uint32_t kPerField = 8;

}  // namespace

MemoryNames::MemoryNames(const Trace& trace) : knows_(trace.fact("sets.source") == "bytecode") {
  for (const Fact& fact : trace.facts) {
    if (!knows_ || !fact.key.starts_with(kFieldFact)) continue;
    uint32_t number = 0;
    const char* const end = fact.key.data() + fact.key.size();
    const auto read = std::from_chars(fact.key.data() + kFieldFact.size(), end, number);
    if (read.ec == std::errc() && read.ptr == end) fields_.emplace(number, fact.value);
  }
}

std::string MemoryNames::name(uint64_t address) const {
  if (!knows_) return "";
  const auto place = static_cast<uint32_t>(address);
  if ((place & kElement) != 0) return "an array's elements";
  const auto found = fields_.find(place / kPerField);
  return found == fields_.end() ? "" : found->second;
}

}  // namespace contrafact::model
