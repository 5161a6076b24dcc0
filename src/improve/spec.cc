#include "improve/spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <utility>

#include "improve/kinds/kinds.h"
#include "improve/spec_parts.h"
#include "model/facts.h"

namespace contrafact::improve {
namespace {

using whatif::Target;

class Reader {
 public:
  explicit Reader(const SpecTrace& in) : in_(in) {}

  base::Status read(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) return base::Error{"the spec is not valid JSON"};
    if (!json.is_object() || json.value("schema", Json()) != Json(kSpecSchema)) {
      return base::Error{fmt::format("the spec's \"schema\" is not \"{}\"", kSpecSchema)};
    }
    if (!json.contains("improvements") || !json["improvements"].is_array() || json["improvements"].empty()) {
      return base::Error{"the spec has no \"improvements\""};
    }
    size_t number = 0;
    for (const Json& entry : json["improvements"]) {
      ++number;
      base::Result<Candidate> one = select_caught(entry);
      if (!one) return base::Error{fmt::format("improvement {}: {}", number, one.error().message)};
      found_.push_back(*std::move(one));
    }
    return {};
  }

  std::vector<Candidate> take() { return std::exchange(found_, {}); }

 private:
  // value() throws where a member has another type than asked for: the library has no other way.
  base::Result<Candidate> select_caught(const Json& entry) {
    try {
      return select(entry);
    } catch (const nlohmann::json::exception& error) {
      const std::string_view what = error.what();  // "[json.exception.type_error.302] type must be string, ..."
      return base::Error{fmt::format("a member is not as it must be: {}", what.substr(what.find("] ") + 2))};
    }
  }

  base::Result<Candidate> select(const Json& entry) {
    if (!entry.is_object()) return base::Error{"it is no object"};
    const std::string name = entry.value("optimisation", "");
    const auto known = std::ranges::find(all_kinds(), name, &Kind::name);
    if (known == all_kinds().end()) {
      return base::Error{fmt::format("\"{}\" is no optimisation: {}", name,
                                     fmt::join(all_kinds() | std::views::transform(&Kind::name), ", "))};
    }
    const Kind* const optimisation = *known;
    switch (optimisation->target()) {
      case Target::tasks:
        if (in_.dag == nullptr)
          return base::Error{fmt::format("{}: {}", name,
                                         in_.trace.tasks.empty()
                                             ? "this recording has no tasks"
                                             : "only locks change here: contrafact estimate takes specs of all kinds")};
        if (!tasks_) tasks_.emplace(*in_.dag);
        return tasks_->select(entry, optimisation);
      case Target::sections:
        if (in_.sections == nullptr) {
          return base::Error{fmt::format(
              "{}: {}", name,
              !model::has_lock_events(in_.trace)
                  ? "this recording has no locks"
                  : "this recording does not say what its critical sections read and wrote (record --sets)")};
        }
        if (!sections_) sections_.emplace(*in_.sections);
        return sections_->select(entry, optimisation);
      case Target::grain:
        return select_grain(in_, entry, optimisation);
      case Target::moves:
        return select_move(in_, entry, optimisation);
      case Target::pool:
      case Target::machine:
        break;
    }
    return select_size(in_, entry, optimisation);
  }

  const SpecTrace& in_;
  std::optional<TaskSelector> tasks_;
  std::optional<SectionSelector> sections_;
  std::vector<Candidate> found_;
};

}  // namespace

std::string write_spec(const SpecTrace& in, std::span<const SpecEntry> entries) {
  Json list = Json::array();
  for (const SpecEntry& entry : entries) {
    const whatif::Improvement& improvement = entry.candidate.improvement;
    switch (whatif::target_of(improvement.optimisation)) {
      case Target::tasks:
        list.push_back(task_entry(in, improvement));
        break;
      case Target::sections:
        list.push_back(section_entry(in, entry));
        break;
      case Target::grain:
        list.push_back(grain_entry(in, improvement));
        break;
      case Target::moves:
        list.push_back(move_entry(in, improvement));
        break;
      case Target::pool:
      case Target::machine:
        list.push_back(size_entry(in, improvement));
        break;
    }
  }
  const Json document{{"schema", kSpecSchema}, {"improvements", std::move(list)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

base::Result<std::vector<Candidate>> read_specs(const SpecTrace& in, std::span<const SpecText> specs) {
  Reader reader(in);
  for (const SpecText& spec : specs) {
    if (base::Status status = reader.read(spec.json); !status) {
      return base::Error{spec.name.empty() ? status.error().message
                                           : fmt::format("{}: {}", spec.name, status.error().message)};
    }
  }
  return reader.take();
}

namespace {

Json selection_of(const SpecTrace& in, const Candidate& candidate) {
  switch (whatif::target_of(candidate.improvement.optimisation)) {
    case Target::tasks:
      return task_selection(in, candidate.improvement);
    case Target::sections:
      return section_entry(in, {candidate});
    case Target::grain:
      return grain_entry(in, candidate.improvement);
    case Target::moves:
      return move_entry(in, candidate.improvement);
    case Target::pool:
    case Target::machine:
      break;
  }
  return size_entry(in, candidate.improvement);
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string write_selection(const SpecTrace& in, const Candidate& candidate) {
  return dumped({{"schema", kSpecSchema}, {"improvements", Json::array({selection_of(in, candidate)})}});
}

std::vector<base::Result<Candidate>> select_each(const SpecTrace& in, std::span<const std::string> selections) {
  Reader reader(in);
  std::vector<base::Result<Candidate>> all;
  for (const std::string& selection : selections) {
    const base::Status status = reader.read(selection);
    std::vector<Candidate> found = reader.take();
    if (status.ok()) {
      all.emplace_back(std::move(found.front()));
    } else {
      all.emplace_back(status.error());
    }
  }
  return all;
}

std::string place_key(const SpecTrace& in, const Candidate& candidate) {
  Json json = selection_of(in, candidate);
  json.erase("size");
  json.erase("sections");  // how many there are
  json.erase("parts");
  json.erase("locks_at_once");
  return dumped(json);
}

base::Status check_task_specs(const whatif::Estimator& estimator, std::span<const Candidate> candidates, bool applied) {
  const SpecTrace in{.trace = *estimator.dag().trace, .dag = &estimator.dag()};
  Json list = Json::array();
  for (const Candidate& candidate : candidates) list.push_back(selection_of(in, candidate));
  const SpecText text{.name = "", .json = dumped({{"schema", kSpecSchema}, {"improvements", std::move(list)}})};
  base::Result<std::vector<Candidate>> read = read_specs(in, std::span(&text, 1));
  if (!read) return read.error();
  const auto same = [](const Candidate& x, const Candidate& y) {
    return x.improvement.optimisation == y.improvement.optimisation && x.improvement.tasks == y.improvement.tasks;
  };
  if (applied && std::ranges::equal(*read, candidates, same)) return {};
  std::vector<whatif::Improvement> improvements;
  for (const Candidate& candidate : *read) improvements.push_back(candidate.improvement);
  base::Result<whatif::Estimate> estimate = estimator.estimate(improvements, {.trace = true, .interval = false});
  if (!estimate) return estimate.error();
  return {};
}

}  // namespace contrafact::improve
