#include "contexts/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace contrafact::contexts {
using table::Type;
using table::Unit;

const table::Schema kTreeSchema{
    "context_tree",
    "Paths of calls, and what was allocated in them.",
    {{"total_bytes", "bytes", Type::integer, Unit::bytes, "Heap that was allocated in this context and all in it."},
     {"share", "share", Type::ratio, Unit::ratio, "Its share of the whole, of what the tree is ordered by."},
     {"own_bytes", "own bytes", Type::integer, Unit::bytes, "Of that, by the method itself."},
     {"own_objects", "own objects", Type::integer, Unit::none, "Objects and arrays that it made itself.", 2},
     {"calls", "calls", Type::integer, Unit::none, "How often the context was entered.", 1},
     {"context", "context", Type::word, Unit::none,
      "The method, below the one that called it; +N: N methods between them that only passed on."}}};

const table::Schema kContextsSchema{
    "contexts",
    "Every path of calls, and what was allocated in it.",
    {{"context", "context", Type::integer, Unit::none, "The context's number."},
     {"parent", "parent", Type::integer, Unit::none, "That of the context that called it; 0 is code outside."},
     {"method", "method", Type::name, Unit::none, "The method that was called."},
     {"place", "place", Type::text, Unit::none, "Its source file and first line.", 1},
     {"calls", "calls", Type::integer, Unit::none, "How often."},
     {"own_objects", "own objects", Type::integer, Unit::none, "Objects and arrays that it made itself."},
     {"own_bytes", "own bytes", Type::integer, Unit::bytes, "Heap that these took, with headers and padding."},
     {"total_bytes", "total bytes", Type::integer, Unit::bytes, "The same with all contexts in it."}}};

namespace {

table::Cell count(uint64_t value) {
  return static_cast<int64_t>(value);
}

std::string name_of(const Method& method) {
  return method.class_name.empty() ? method.name : method.class_name + '.' + method.name;
}

// Without the package: Feed.load, Feed$Page.render.
std::string label_of(const Method& method) {
  const size_t dot = method.class_name.rfind('.');
  const std::string type = dot == std::string::npos ? method.class_name : method.class_name.substr(dot + 1);
  return type.empty() ? method.name : type + '.' + method.name;
}

uint64_t value_of(const Counts& counts, Metric by) {
  return by == Metric::bytes ? counts.bytes : by == Metric::objects ? counts.objects : counts.calls;
}

// The part of the tree that is shown.
class Shown {
 public:
  Shown(const Profile& profile, Metric by, size_t top)
      : profile_(profile), by_(by), totals_(totals_of(profile)), children_(profile.contexts.size()) {
    std::vector<uint32_t> heaviest(profile.contexts.size());
    std::iota(heaviest.begin(), heaviest.end(), 0u);
    // No child is heavier than its parent, or comes before it: so the chosen contexts form a tree.
    std::ranges::stable_sort(heaviest, std::ranges::greater(), [&](uint32_t place) { return total(place); });
    if (heaviest.size() > top) heaviest.resize(top);
    for (const uint32_t place : heaviest) {
      if (place != 0 && total(place) != 0) children_[profile.contexts[place].parent].push_back(place);
    }
  }

  void add_rows(table::Table& out) const {
    struct Step {
      uint32_t place;
      size_t depth;
      size_t passed;  // contexts left out above it
    };
    std::vector<Step> steps{{0, 0, 0}};
    while (!steps.empty()) {
      const auto [place, depth, passed] = steps.back();
      steps.pop_back();
      const std::vector<uint32_t>& children = children_[place];
      if (passes_on(place)) {
        steps.push_back({children.front(), depth, passed + 1});
        continue;
      }
      out.add_row(row(place, depth, passed));
      for (size_t i = children.size(); i-- > 0;) steps.push_back({children[i], depth + 1, 0});
    }
  }

 private:
  uint64_t total(uint32_t place) const { return value_of(totals_[place], by_); }
  bool passes_on(uint32_t place) const {
    return place != 0 && children_[place].size() == 1 && total(children_[place].front()) == total(place);
  }
  std::vector<table::Cell> row(uint32_t place, size_t depth, size_t passed) const {
    const Context& context = profile_.contexts[place];
    const uint64_t all = total(0);
    const std::string before = passed == 0 ? "" : fmt::format("+{} ", passed);
    return {count(totals_[place].bytes), all == 0 ? 0.0 : static_cast<double>(total(place)) / static_cast<double>(all),
            count(context.own.bytes),    count(context.own.objects),
            count(context.own.calls),    std::string(depth, ' ') + before + label_of(profile_.methods[context.method])};
  }

  const Profile& profile_;
  const Metric by_;
  const std::vector<Counts> totals_;
  std::vector<std::vector<uint32_t>> children_;  // heaviest first
};

void add_notes(table::Table& out, const Profile& profile) {
  if (profile.lost != 0) out.add_note(fmt::format("{} events were lost for want of memory", profile.lost));
  if (profile.beyond.calls != 0 || profile.beyond.objects != 0) {
    out.add_note(fmt::format("{} calls and {} bytes are of contexts that had no room; more: --analysis-options max=N",
                             profile.beyond.calls, profile.beyond.bytes));
  }
}

}  // namespace

std::optional<Metric> metric_of(std::string_view name) {
  const auto found = std::ranges::find(kMetricNames, name);
  if (found == std::end(kMetricNames)) return std::nullopt;
  return static_cast<Metric>(found - std::begin(kMetricNames));
}

table::Table tree_table(const Profile& profile, Metric by, size_t top) {
  table::Table out(kTreeSchema);
  Shown(profile, by, top).add_rows(out);
  if (profile.contexts.size() > top) {
    out.add_note(fmt::format("the {} heaviest of {} contexts; more: --top", top, profile.contexts.size()));
  }
  add_notes(out, profile);
  return out;
}

table::Table context_table(const Profile& profile) {
  const std::vector<Counts> totals = totals_of(profile);
  table::Table out(kContextsSchema);
  for (size_t i = 0; i < profile.contexts.size(); ++i) {
    const Context& context = profile.contexts[i];
    const Method& method = profile.methods[context.method];
    const std::string place = method.line == 0 ? method.file : fmt::format("{}:{}", method.file, method.line);
    out.add_row({count(i), count(context.parent), name_of(method), place.empty() ? table::Cell() : table::Cell(place),
                 count(context.own.calls), count(context.own.objects), count(context.own.bytes),
                 count(totals[i].bytes)});
  }
  return out;
}

std::string folded(const Profile& profile, Metric by) {
  std::string text;
  std::vector<uint32_t> path;
  for (uint32_t i = 0; i < profile.contexts.size(); ++i) {
    const uint64_t value = value_of(profile.contexts[i].own, by);
    if (value == 0) continue;
    path.clear();
    for (uint32_t at = i; at != 0; at = profile.contexts[at].parent) path.push_back(at);
    if (path.empty()) path.push_back(0);
    for (size_t step = path.size(); step-- > 0;) {
      text += name_of(profile.methods[profile.contexts[path[step]].method]);
      text += step == 0 ? ' ' : ';';
    }
    text += std::to_string(value) + '\n';
  }
  return text;
}

}  // namespace contrafact::contexts
