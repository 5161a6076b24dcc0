#include "cli/option_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/nearest.h"

namespace contrafact::cli {
namespace {

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Doublings: "" 0, "k" 10, "M" or "mib" 20. None if it is no unit.
std::optional<unsigned> shift_of(std::string unit) {
  std::ranges::transform(unit, unit.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  constexpr std::string_view kUnits = "kmgt";
  if (unit.empty() || unit == "b") return 0;
  const size_t at = kUnits.find(unit.front());
  const std::string rest = unit.substr(1);
  if (at == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return std::nullopt;
  return static_cast<unsigned>(10 * (at + 1));
}

std::optional<uint64_t> bytes_of(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<uint64_t> count = number<uint64_t>(std::string_view(text).substr(0, digits));
  const std::optional<unsigned> shift = shift_of(text.substr(digits));
  if (!count || !shift || *count > UINT64_MAX >> *shift) return std::nullopt;
  return *count << *shift;
}

}  // namespace

ValueCheck whole_number(uint32_t least, uint32_t most) {
  return {.refusal = [=](std::string& text) {
    const std::optional<uint32_t> value = number<uint32_t>(text);
    if (value && *value >= least && *value <= most) return std::string();
    if (most == UINT32_MAX) return fmt::format("'{}' is no whole number of at least {}", text, least);
    return fmt::format("'{}' is no whole number from {} to {}", text, least, most);
  }};
}

ValueCheck decimal_number(double least) {
  return {.refusal = [least](std::string& text) {
    const std::optional<double> value = number<double>(text);
    const bool good = value && std::isfinite(*value) && *value >= least;
    return good ? "" : fmt::format("'{}' is no number of at least {}", text, least);
  }};
}

ValueCheck size_value() {
  auto refusal = [](std::string& text) {
    const std::optional<uint64_t> bytes = bytes_of(text);
    if (!bytes) return fmt::format("'{}' is no size; give a number with k, M or G behind it, e.g. 256M", text);
    text = std::to_string(*bytes);
    return std::string();
  };
  return {.refusal = refusal, .rewrites = true};
}

ValueCheck one_of(std::vector<std::string> words) {
  const std::string list = fmt::format("{{{}}}", fmt::join(words, ","));
  auto refusal = [words = std::move(words)](std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("'{}' is none of {}{}", text, fmt::join(words, ", "),
                       did_you_mean(text, {words.begin(), words.end()}));
  };
  return {.refusal = refusal, .shown = list};
}

}  // namespace contrafact::cli
