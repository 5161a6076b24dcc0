#include "cli/callers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <variant>

namespace contrafact::cli {
namespace {

using model::ContextId;
using model::Trace;
using table::Location;

// "Feed.load:41", "load:41": without parentheses, which end a place.
std::string frame_text(const Trace& trace, ContextId frame) {
  const format::ContextRow& row = trace.contexts[frame.index()];
  if (!row.method.valid()) return "?";
  std::string name = trace.method_name(trace.methods[row.method.index()], true);
  name.resize(std::min(name.find('('), name.size()));
  return row.line == 0 ? name : fmt::format("{}:{}", name, row.line);
}

// Frames, the innermost first; the program's own begin at `program`.
struct Calls {
  std::vector<std::string> frames;
  size_t program = 0;
};

Calls calls_of(const Trace& trace, ContextId context) {
  Calls calls;
  const ContextId program = trace.program_frame(context);
  for (; context.valid(); context = trace.contexts[context.index()].parent) {
    if (context == program) calls.program = calls.frames.size();
    calls.frames.push_back(frame_text(trace, context));
  }
  return calls;
}

// Distinguishes rows by what the program called: of the frames inside of its own, the outermost that differs.
void tell_called(std::span<const Calls> calls, const std::vector<size_t>& alike, std::vector<std::string>& apart) {
  size_t most = 0;
  for (const size_t i : alike) most = std::max(most, calls[i].program);
  for (size_t depth = 1; depth <= most; ++depth) {
    const auto called = [&](size_t i) {
      return depth <= calls[i].program ? calls[i].frames[calls[i].program - depth] : std::string();
    };
    const std::string first = called(alike.front());
    if (std::ranges::all_of(alike, [&](size_t i) { return called(i) == first; })) continue;
    for (const size_t i : alike) {
      if (!called(i).empty()) apart[i] += fmt::format("{}in {}", apart[i].empty() ? "" : " ", called(i));
    }
    return;
  }
}

// Distinguishes rows by the first caller, from `depth` on, that not all share; those that share it, by further callers.
void tell_callers(std::span<const Calls> calls, const std::vector<size_t>& alike, size_t depth,
                  std::vector<std::string>& apart) {
  for (bool any = true; any; ++depth) {
    any = false;
    std::map<std::string, std::vector<size_t>> by_caller;
    for (const size_t i : alike) {
      const size_t at = calls[i].program + depth;
      any |= at < calls[i].frames.size();
      by_caller[at < calls[i].frames.size() ? calls[i].frames[at] : ""].push_back(i);
    }
    if (by_caller.size() == 1) continue;
    for (const auto& [caller, rows] : by_caller) {
      for (const size_t i : rows) apart[i] = caller.empty() ? "from the thread's begin" : "from " + caller;
      if (rows.size() > 1) tell_callers(calls, rows, depth + 1, apart);
    }
    return;
  }
  tell_called(calls, alike, apart);
}

// What a reader sees of a row up to `column`; other cells are figures.
std::string seen(const std::vector<table::Cell>& row, size_t column) {
  std::string text;
  for (size_t c = 0; c <= column; ++c) {
    if (const auto* word = std::get_if<std::string>(&row[c].value())) text += *word;
    if (const auto* at = std::get_if<Location>(&row[c].value()))
      text += fmt::format("{}\n{}:{}\n{}{}", at->method, at->file, at->line, at->via, at->owner);
    text += '\n';
  }
  return text;
}

}  // namespace

void name_callers(const Trace& trace, std::span<const ContextId> contexts, size_t column, Rows& rows) {
  std::map<std::string, std::vector<size_t>> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (contexts[i].valid() && std::holds_alternative<Location>(rows[i][column].value()))
      groups[seen(rows[i], column)].push_back(i);
  }
  std::vector<std::string> apart(rows.size());
  std::vector<Calls> calls(rows.size());
  for (const auto& [text, alike] : groups) {
    if (alike.size() == 1) continue;
    for (const size_t i : alike) calls[i] = calls_of(trace, contexts[i]);
    tell_callers(calls, alike, 1, apart);
    for (const size_t i : alike) {
      Location at = std::get<Location>(rows[i][column].value());
      at.apart = apart[i];
      rows[i][column] = at;
    }
  }
}

}  // namespace contrafact::cli
