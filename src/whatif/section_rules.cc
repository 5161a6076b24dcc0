#include "whatif/section_rules.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/glob.h"
#include "model/processes.h"

namespace contrafact::whatif {
namespace {

using Mode = SectionEdit::Mode;

constexpr char kGrammar[] =
    "; an edit is lock=NAME[,site=TEXT][,as=NAME][,also=NAME][,mode=exclusive|shared|none][,head=80%][,tail=20us]";

base::Error wrong(std::string_view text, const std::string& why) {
  return base::Error{"'" + std::string(text) + "': " + why};
}

std::optional<HoldPart> part_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < 0) return {};
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit == "%" && value <= 100) return HoldPart{0, value / 100};
  if (unit == "ns") return HoldPart{static_cast<int64_t>(value), 0};
  if (unit == "us") return HoldPart{static_cast<int64_t>(value * 1e3), 0};
  if (unit == "ms") return HoldPart{static_cast<int64_t>(value * 1e6), 0};
  return {};
}

std::optional<Mode> mode_of(std::string_view text) {
  if (text == "exclusive") return Mode::exclusive;
  if (text == "shared") return Mode::shared;
  if (text == "none") return Mode::none;
  return {};
}

bool set_field(SectionRule& rule, std::string_view key, std::string_view value) {
  if (key == "lock") {
    rule.lock = value;
  } else if (key == "site") {
    rule.site = value;
  } else if (key == "as") {
    rule.as = value;
  } else if (key == "also") {
    rule.also = value;
  } else if (key == "mode") {
    rule.mode = mode_of(value);
    return rule.mode.has_value();
  } else if (key == "head" || key == "tail") {
    const std::optional<HoldPart> part = part_of(value);
    if (part) (key == "head" ? rule.head : rule.tail) = *part;
    return part.has_value();
  } else {
    return false;
  }
  return !value.empty();
}

// Why set_field() did not take the field.
std::string why_wrong(std::string_view key, std::string_view value) {
  const std::string field = std::string(key) + "=";
  const std::string given = value.empty() ? "has no value" : "cannot be '" + std::string(value) + "'";
  if (key == "mode") return field + " " + given + ": it is exclusive, shared or none";
  if (key == "head" || key == "tail")
    return field + " " + given + ": it is a share of the hold or a time, as 80% or 20us";
  if (key == "lock" || key == "site" || key == "as" || key == "also") return field + " " + given + kGrammar;
  return "there is no " + field + kGrammar;
}

std::string name_of(const model::Trace& trace, uint32_t lock) {
  return model::lock_label(trace, model::LockId(lock));
}

bool is_at(const model::Trace& trace, model::ContextId site, const std::string& text) {
  for (; site.valid(); site = trace.contexts[site.index()].parent) {
    if (trace.frame_label(site).find(text) != std::string::npos) return true;
  }
  return false;
}

// "mutex 1" is no part of "mutex 12".
bool has_part(std::string_view name, std::string_view part) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    if (end == name.size() || !is_digit(part.back()) || !is_digit(name[end])) return true;
  }
  return false;
}

std::string listed(const std::set<std::string>& names) {
  constexpr size_t kShown = 8;
  std::string text;
  size_t shown = 0;
  for (const std::string& name : names) {
    if (shown++ == kShown) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text.empty() ? "none" : text;
}

class Applier {
 public:
  Applier(const model::Trace& trace, std::span<const model::CriticalSection> sections, std::vector<SectionEdit> edits)
      : trace_(trace), sections_(sections), edits_(std::move(edits)), next_lock_(first_new_lock()) {}

  base::Status apply(SectionRule rule) {
    base::Result<std::string> lock = lock_of(rule.lock);
    if (!lock) return lock.error();
    rule.lock = *std::move(lock);
    std::vector<uint32_t> chosen = choose(rule);
    if (chosen.empty()) return base::Error{reason(rule)};
    std::vector<int64_t> holds_ns;
    for (const uint32_t s : chosen) holds_ns.push_back(sections_[s].hold_ns());
    const auto usual = holds_ns.begin() + static_cast<int64_t>((holds_ns.size() - 1) * 9 / 10);
    std::nth_element(holds_ns.begin(), usual, holds_ns.end());
    const int64_t usual_ns = *usual;  // nine of ten holds are no longer
    for (const uint32_t s : chosen) {
      SectionEdit& edit = edits_[s];
      if (!rule.as.empty()) {
        edit.lock = new_lock(rule.lock + " " + rule.as);
        edit.also = SectionEdit::kNoLock;
      }
      if (!rule.also.empty()) edit.also = new_lock(rule.lock + " " + rule.also);
      if (rule.mode) {
        edit.mode = *rule.mode;
        edit.look_ns = 0;
      }
      edit.head_outside_ns = std::max(edit.head_outside_ns, part_ns(rule.head, sections_[s], usual_ns));
      edit.tail_outside_ns = std::max(edit.tail_outside_ns, part_ns(rule.tail, sections_[s], usual_ns));
    }
    return {};
  }

  std::vector<SectionEdit> take() { return std::move(edits_); }

 private:
  bool fits_lock(const model::CriticalSection& section, const std::string& name) const {
    return section.outcome == model::Outcome::normal && section.release.valid() &&
           model::is_held(trace_.locks[section.lock.index()].kind) && name_of(trace_, section.lock.value) == name;
  }

  // The name of the lock that is meant by it, or by a part of it; with a star, by a pattern of it.
  base::Result<std::string> lock_of(const std::string& text) const {
    std::set<std::string> names, fitting;
    for (const model::CriticalSection& section : sections_) {
      if (model::is_held(trace_.locks[section.lock.index()].kind)) names.insert(name_of(trace_, section.lock.value));
    }
    if (names.contains(text)) return text;
    const bool is_pattern = text.find('*') != std::string::npos;
    for (const std::string& name : names) {
      if (is_pattern ? base::matches_glob(text, name) : has_part(name, text)) fitting.insert(name);
    }
    if (fitting.empty()) {
      return base::Error{"no lock named '" + text + "' was held" +
                         (is_pattern ? ", and none that fits it" : ", and none whose name has that in it") +
                         "; those that were: " + listed(names)};
    }
    if (fitting.size() > 1)
      return base::Error{"'" + text + "' may be any of " + std::to_string(fitting.size()) +
                         " locks: " + listed(fitting) + "; write more of the name"};
    return *fitting.begin();
  }

  std::vector<uint32_t> choose(const SectionRule& rule) const {
    std::vector<uint32_t> chosen;
    for (uint32_t s = 0; s < sections_.size(); ++s) {
      if (!fits_lock(sections_[s], rule.lock)) continue;
      if (rule.site.empty() || is_at(trace_, sections_[s].site, rule.site)) chosen.push_back(s);
    }
    return chosen;
  }

  std::string reason(const SectionRule& rule) const {
    std::set<std::string> sites;
    for (const model::CriticalSection& section : sections_) {
      if (fits_lock(section, rule.lock) && section.site.valid()) sites.insert(trace_.frame_label(section.site));
    }
    if (sites.empty()) return "'" + rule.lock + "' has no section whose end was recorded, or whose place is known";
    return "'" + rule.lock + "' was not acquired at '" + rule.site + "'; it was at: " + listed(sites);
  }

  // A hold that lost its core on the way has done no more than a usual one: it counts as at most kLonger times as long.
  static int64_t part_ns(const HoldPart& part, const model::CriticalSection& section, int64_t usual_ns) {
    constexpr int64_t kLonger = 2;
    const int64_t hold_ns = std::min(section.hold_ns(), kLonger * usual_ns);
    return part.ns + static_cast<int64_t>(part.share * static_cast<double>(hold_ns));
  }

  // The first number after the locks of the trace and of the edits so far.
  uint32_t first_new_lock() const {
    auto next = static_cast<uint32_t>(trace_.locks.size());
    for (const SectionEdit& edit : edits_) {
      for (const uint32_t lock : {edit.lock, edit.also}) {
        if (lock < SectionEdit::kAllLocks) next = std::max(next, lock + 1);
      }
    }
    return next;
  }

  uint32_t new_lock(const std::string& name) {
    const auto [lock, is_new] = new_locks_.try_emplace(name, next_lock_);
    if (is_new) ++next_lock_;
    return lock->second;
  }

  const model::Trace& trace_;
  const std::span<const model::CriticalSection> sections_;
  std::vector<SectionEdit> edits_;
  uint32_t next_lock_;
  std::map<std::string, uint32_t> new_locks_;
};

}  // namespace

base::Result<SectionRule> parse_section_rule(std::string_view text) {
  SectionRule rule;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    const std::string_view field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos) return wrong(text, "'" + std::string(field) + "' has no '='" + kGrammar);
    if (!set_field(rule, field.substr(0, equals), field.substr(equals + 1)))
      return wrong(text, why_wrong(field.substr(0, equals), field.substr(equals + 1)));
  }
  if (rule.lock.empty()) return wrong(text, std::string("no lock is named") + kGrammar);
  const auto is_nothing = [](const HoldPart& part) { return part.ns == 0 && part.share == 0; };
  if (rule.head.share + rule.tail.share > 1)
    return wrong(text, "head= and tail= are more than the whole hold together");
  if (rule.as.empty() && rule.also.empty() && !rule.mode && is_nothing(rule.head) && is_nothing(rule.tail))
    return wrong(text,
                 "it names a lock and no change of it; add mode=none, mode=shared, as=NAME, head=80% or tail=20us");
  return rule;
}

base::Result<std::vector<SectionEdit>> edits_of(const model::Trace& trace,
                                                std::span<const model::CriticalSection> sections,
                                                std::span<const SectionRule> rules, std::vector<SectionEdit> before) {
  if (before.empty()) before = unedited(sections);
  Applier applier(trace, sections, before);
  for (const SectionRule& rule : rules) {
    if (base::Status status = applier.apply(rule); !status) return status.error();
  }
  std::vector<SectionEdit> edits = applier.take();
  if (!rules.empty() && edits == before) return base::Error{"nothing changes: the sections are so already"};
  return edits;
}

}  // namespace contrafact::whatif
