// How long at least one of several spans lasts. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace contrafact::analysis {

// `Span` has `begin_ns` and `end_ns`. Puts the spans in the order of their begins.
template <typename Span>
int64_t covered_ns(std::vector<Span>& spans) {
  std::ranges::sort(spans, {}, &Span::begin_ns);
  int64_t covered_ns = 0, until_ns = INT64_MIN;
  for (const Span& span : spans) {
    const int64_t begin_ns = std::max(span.begin_ns, until_ns);
    if (span.end_ns > begin_ns) covered_ns += span.end_ns - begin_ns;
    until_ns = std::max(until_ns, span.end_ns);
  }
  return covered_ns;
}

}  // namespace contrafact::analysis
