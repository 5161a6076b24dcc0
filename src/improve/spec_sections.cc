#include <fmt/format.h>

#include <algorithm>

#include "analysis/lock_profile.h"
#include "improve/lock_candidates.h"
#include "improve/spec_parts.h"

namespace contrafact::improve {
namespace {

Json frame_json(const model::Trace& trace, model::ContextId id) {
  Json frame = Json::object();
  if (!id.valid()) return frame;
  const format::ContextRow& row = trace.contexts[id.index()];
  if (row.method.valid()) {
    const format::MethodRow& method = trace.methods[row.method.index()];
    frame["class"] = trace.string(method.class_name);
    frame["method"] = trace.string(method.name);
    if (method.file.valid()) frame["file"] = trace.string(method.file);
  }
  if (row.line > 0) frame["line"] = row.line;
  return frame;
}

std::string key_of(const Json& frame) {
  const std::string class_name = frame.value("class", "");
  const std::string file = frame.value("file", "");
  std::string key = fmt::format("{}{}{}", class_name, class_name.empty() ? "" : ".", frame.value("method", ""));
  if (frame.contains("line")) key += fmt::format(" ({}:{})", file.empty() ? "?" : file, frame.value("line", 0u));
  return key;
}

// What an entry names.
struct Named {
  std::vector<std::string> sites;  // frame_key of each
  std::vector<std::string> locks;  // in the recording that it is from
  std::string program;             // file name of what ran there; may be empty
};

Named named_by(const Json& entry) {
  Named named;
  for (const Json& site : entry.value("sites", Json::array())) {
    const Json frames = site.is_object() ? site.value("frames", Json::array()) : Json::array();
    if (frames.is_array() && !frames.empty() && frames[0].is_object()) named.sites.push_back(key_of(frames[0]));
  }
  for (const Json& lock : entry.value("locks", Json::array())) {
    if (lock.is_string()) named.locks.push_back(lock);
  }
  named.program = entry.value("program", "");
  return named;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

std::string program_of(const model::Trace& trace) {
  if (const std::string_view main = trace.fact("jvm.main"); !main.empty()) return std::string(main);
  const std::string_view command = trace.fact("command");
  const std::string_view path = command.substr(0, command.find(' '));
  return std::string(path.substr(path.rfind('/') + 1));
}

std::string frame_key(const model::Trace& trace, model::ContextId id) {
  return key_of(frame_json(trace, id));
}

Json section_entry(const SpecTrace& in, const SpecEntry& entry) {
  const Candidate& candidate = entry.candidate;
  Json json;
  json["optimisation"] = name_of(candidate.improvement.optimisation);
  if (!entry.verdict.empty()) json["verdict"] = entry.verdict;
  if (const std::string program = program_of(in.trace); !program.empty()) json["program"] = program;
  json["locks"] = Json::array();
  for (const model::LockId lock : candidate.locks) json["locks"].push_back(analysis::lock_name(in.trace, lock));
  json["sites"] = Json::array();
  for (const uint32_t site : candidate.sites) {
    const model::ContextId context = in.sections->sites.sites()[site].context;
    json["sites"].push_back({{"frames", Json::array({frame_json(in.trace, context)})}});
  }
  json["sections"] = {{"count", candidate.improvement.sections.size()}, {"of", candidate.of_sections}};
  if (candidate.parts > 0) json["parts"] = candidate.parts;
  if (candidate.taking_two + candidate.taking_all > 0)
    json["locks_at_once"] = {{"two", candidate.taking_two}, {"all", candidate.taking_all}};
  for (const auto& [key, cut] : {std::pair{"moves_until", candidate.moves_until}, {"moves_from", candidate.moves_from}})
    if (cut) json[key] = {{"call", cut->call}, {"after", cut->is_after}};
  return json;
}

SectionSelector::SectionSelector(const analysis::SectionFacts& facts)
    : facts_(facts), left_(lock_candidates(facts).candidates) {}

// Of several candidates at one site, that of the lock that is named.
base::Result<Candidate> SectionSelector::select(const Json& entry, const whatif::Optimisation* optimisation) {
  const Named named = named_by(entry);
  if (named.sites.empty()) return base::Error{"it names no \"sites\" with \"frames\""};
  const model::Trace& trace = *facts_.trace;
  const std::string program = program_of(trace);
  if (!named.program.empty() && !program.empty() && named.program != program) {
    return base::Error{fmt::format(
        "the spec of {} at {} is of another program, '{}', and this is a recording of '{}'; without its \"program\" it "
        "is tried all the same",
        name_of(optimisation), named.sites[0], named.program, program)};
  }
  const auto fits = [&](const Candidate& candidate) {
    return candidate.improvement.optimisation == optimisation &&
           std::ranges::any_of(candidate.sites, [&](uint32_t site) {
             return contains(named.sites, frame_key(trace, facts_.sites.sites()[site].context));
           });
  };
  const auto has_lock = [&](const Candidate& candidate) {
    return std::ranges::any_of(
        candidate.locks, [&](model::LockId lock) { return contains(named.locks, analysis::lock_name(trace, lock)); });
  };
  auto found =
      std::ranges::find_if(left_, [&](const auto& candidate) { return fits(candidate) && has_lock(candidate); });
  if (found == left_.end()) found = std::ranges::find_if(left_, fits);
  if (found == left_.end()) {
    return base::Error{
        fmt::format("{} at {}: no such remedy in this recording", name_of(optimisation), named.sites[0])};
  }
  Candidate selected = std::move(*found);
  left_.erase(found);
  return selected;
}

}  // namespace contrafact::improve
