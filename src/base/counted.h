// "1 event", "2 events": a count with its noun, for notes and messages. Output that groups digits has
// table::counted_text.
//
// Thread safety: pure function.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace contrafact::base {

// `one` and `several` may hold a verb, too: "event was", "events were".
inline std::string counted(uint64_t count, std::string_view one, std::string_view several) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : several);
}

}  // namespace contrafact::base
