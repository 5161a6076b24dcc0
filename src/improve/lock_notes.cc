#include "improve/lock_notes.h"

#include <fmt/format.h>

namespace contrafact::improve {
namespace {

std::string sections_text(uint64_t count) {
  return fmt::format("{} section{}", count, count == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> lock_notes(const model::Trace& trace, const Candidate& candidate) {
  using whatif::Optimisation;
  const Optimisation optimisation = candidate.improvement.optimisation;
  std::vector<std::string> notes;
  if (candidate.unknown > 0) notes.push_back(sections_text(candidate.unknown) + " not known");
  if (optimisation == Optimisation::drop_lock &&
      candidate.improvement.sections.size() + candidate.unknown < candidate.of_sections)
    notes.emplace_back("only where nothing shared is touched");
  if (optimisation == Optimisation::shared_look) {
    notes.emplace_back("look with the lock shared; to change something, take it alone and look again");
    if (candidate.in_middle > 0)
      notes.push_back(fmt::format(
          "{} compute{} without the lock between the looks: what another thread was faster with is thrown away",
          sections_text(candidate.in_middle), candidate.in_middle == 1 ? "s" : ""));
  } else if (candidate.in_middle > 0) {
    notes.push_back(
        fmt::format("from the middle of {}{}: give the lock up meanwhile, and look again at what was read before",
                    sections_text(candidate.in_middle),
                    candidate.blocks_at.valid() ? ", which block at " + trace.context_label(candidate.blocks_at) : ""));
  }
  if (candidate.handing_on > 0)
    notes.push_back(
        fmt::format("{} end{} with what other threads touch only after a later section of the thread handed it on",
                    sections_text(candidate.handing_on), candidate.handing_on == 1 ? "s" : ""));
  if (candidate.making_durable > 0)
    notes.push_back(
        fmt::format("{} end{} with making durable what was written: others see it before it is, after the change",
                    sections_text(candidate.making_durable), candidate.making_durable == 1 ? "s" : ""));
  if (!candidate.guarded_at.empty())
    notes.push_back(fmt::format(
        "what is shared is guarded inside, too, by the lock of {}: not where several such calls have to be one step",
        candidate.guarded_at));
  if (candidate.is_guard_made)
    notes.push_back(fmt::format(
        "{} seems to make that lock of a mutex and a word: look whether it excludes others until it is given up",
        candidate.guarded_at));
  if (candidate.exchanges)
    notes.emplace_back(
        "the new value follows from the old one: fetch_add where one is added, else compare_exchange in a loop");
  if (candidate.taking_two > 0)
    notes.push_back(fmt::format(
        "{} take{} two locks: that of the lower address first, always; if what the first guards says which the second "
        "is, look, give it up, take both in order and look again",
        sections_text(candidate.taking_two), candidate.taking_two == 1 ? "s" : ""));
  if (candidate.moves) notes.emplace_back("what moves between the parts is guarded by the lock of where it is");
  if (candidate.taking_all > 0)
    notes.push_back(fmt::format("{} touch{} more: {} all locks", sections_text(candidate.taking_all),
                                candidate.taking_all == 1 ? "es" : "",
                                candidate.taking_all == 1 ? "it takes" : "they take"));
  if (candidate.dividing > 0)
    notes.push_back(
        fmt::format("divide the data too: {} change what all parts share", sections_text(candidate.dividing)));
  return notes;
}

}  // namespace contrafact::improve
