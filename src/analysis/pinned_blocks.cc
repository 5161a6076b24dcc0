#include "analysis/pinned_blocks.h"

#include <fmt/format.h>

#include <charconv>

namespace contrafact::analysis {
namespace {

// Reads a number and the space behind it; whether there was one.
template <typename Number>
bool take_number(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

}  // namespace

PinnedBlocks pinned_blocks(const model::Trace& trace) {
  PinnedBlocks pinned;
  std::string_view all = trace.fact("pinned");
  if (!take_number(all, pinned.blocks) || !take_number(all, pinned.blocked_ns)) return {};
  for (size_t i = 0;; ++i) {
    std::string_view text = trace.fact(fmt::format("pinned.{}", i));
    PinnedPlace place;
    if (!take_number(text, place.blocks) || !take_number(text, place.blocked_ns)) break;
    uint32_t context = 0;
    if (take_number(text, context) && context < trace.contexts.size()) place.place = model::ContextId(context);
    pinned.places.push_back(place);
  }
  return pinned;
}

std::string pinned_text(const model::Trace& trace) {
  const PinnedBlocks pinned = pinned_blocks(trace);
  if (pinned.blocks == 0) return "";
  std::string text = fmt::format("virtual threads were blocked {}, for {:.3g} ms in all, and kept their carriers",
                                 pinned.blocks == 1 ? "once" : fmt::format("{} times", pinned.blocks),
                                 static_cast<double>(pinned.blocked_ns) / 1e6);
  if (!pinned.places.empty() && pinned.places.front().place.valid())
    text += ", longest at " + trace.context_label(pinned.places.front().place);
  return text;
}

}  // namespace contrafact::analysis
