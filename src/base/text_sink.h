// TextSink: where text goes that is made piece by piece. A trace of millions of events never lies in memory as text.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace contrafact::base {

using TextSink = std::function<void(std::string_view)>;

inline constexpr size_t kTextPieceBytes = 1 << 16;

// Hands `text` on and empties it once it is long enough to be worth a call.
inline void hand_on(std::string& text, const TextSink& sink, size_t from_bytes = kTextPieceBytes) {
  if (text.size() < from_bytes) return;
  sink(text);
  text.clear();
}

// All that make(sink) hands on, for texts that are known to be short.
template <typename Make>
std::string text_of(Make make) {
  std::string text;
  make([&text](std::string_view part) { text += part; });
  return text;
}

}  // namespace contrafact::base
