#include "cli/progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "base/clock.h"
#include "table/value_text.h"

namespace contrafact::cli {
namespace {

constexpr int64_t kIntervalNs = 100'000'000;

}  // namespace

Progress::Progress(const Session& session, std::string what)
    : what_(std::move(what)), enabled_(session.progress), width_(session.err.width) {
  if (enabled_) show(what_ + " ...");
}

void Progress::update(size_t count, size_t total) {
  if (!enabled_ || base::monotonic_ns() - shown_ns_ < kIntervalNs) return;
  show(total == 0 ? fmt::format("{}: {}", what_, count) : fmt::format("{}: {} of {}", what_, count, total));
}

void Progress::done() {
  if (!visible_) return;
  std::fputs("\r\x1b[K", stderr);
  visible_ = false;
}

void Progress::show(const std::string& text) {
  std::string line = table::elide_middle(table::printable(text, false), width_ > 1 ? width_ - 1 : 1, false);
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
  visible_ = true;
  shown_ns_ = base::monotonic_ns();
}

}  // namespace contrafact::cli
