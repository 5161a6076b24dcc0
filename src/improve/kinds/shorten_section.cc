// shorten-section: work that touches no contested byte, at the beginning, at the end or in the middle of a section,
// moves before or after it. So does work at the end on data that a later section of the thread hands on to others
// (hand_over_cells.h). Once some of a site's sections touch contested data, the code of all of them changes.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/middle.h"
#include "improve/kinds/kinds.h"
#include "improve/lock_search.h"
#include "improve/section_change.h"
#include "improve/section_ends.h"

namespace contrafact::improve {
namespace {

// What one function does to its section may be asked for in two places: where it locks and, with a condition, where
// it waits. Without conditions each site is by itself.
LockUses::SectionsOfSite by_function(const LockUses& uses) {
  LockUses::SectionsOfSite groups;
  std::map<std::string, uint32_t> first_site;  // by function
  for (const auto& [site, sections] : uses.by_site()) {
    const model::ContextId context = uses.facts().sites.sites()[site].context;
    const bool is_with_condition = uses.lock_of(sections[0]).with_condition;
    uint32_t group = site;
    if (is_with_condition && context.valid() && uses.trace().contexts[context.index()].method.valid()) {
      const std::string function = uses.trace().method_label(uses.trace().contexts[context.index()].method);
      group = first_site.try_emplace(function, site).first->second;
    }
    groups[group].insert(groups[group].end(), sections.begin(), sections.end());
  }
  return groups;
}

struct Block {
  model::ContextId at;
  int64_t length_ns = 0;
};
// The longest of the blocks that may move, in the part of the section from `from_ns` to `to_ns` after its begin.
Block longest_block(const LockUses& uses, const SectionEnds& ends, uint32_t s, int64_t from_ns, int64_t to_ns) {
  Block longest;
  if (from_ns >= to_ns || !uses.section(s).release.valid()) return longest;
  const model::Trace& trace = uses.trace();
  const uint32_t acquire = uses.section(s).acquire.value, release = uses.section(s).release.value;
  int64_t begin_ns = 0;
  model::ContextId at;
  for (uint32_t i = acquire + 1; i < release; ++i) {
    if (trace.kind[i] == model::EventKind::block_begin) {
      begin_ns = trace.time_ns[i];
      at = model::ContextId(trace.b[i]);
      continue;
    }
    // What moves out may be of another recording, and its length in proportion: most of a block counts.
    const int64_t middle_ns = begin_ns + (trace.time_ns[i] - begin_ns) / 2 - trace.time_ns[acquire];
    if (trace.kind[i] == model::EventKind::block_end && trace.time_ns[i] - begin_ns > longest.length_ns &&
        middle_ns >= from_ns && middle_ns <= to_ns && ends.may_move_at(s, middle_ns))
      longest = {at, trace.time_ns[i] - begin_ns};
  }
  return longest;
}
// The longest block between the parts that move in front of the section and behind it.
Block longest_in_middle(const LockUses& uses, const SectionEnds& ends, uint32_t s, const Movable& outside) {
  return longest_block(uses, ends, s, outside.head_ns, uses.section(s).hold_ns() - outside.tail_ns);
}

Movable movable(const LockUses& uses, const SectionEnds& ends, uint32_t s, bool hands_on) {
  Movable found = ends.ends_and_middle(s, hands_on);
  // Readers that share the lock need not give it up.
  if (uses.is_reader(uses.facts().site_of[s])) found.middle_ns = 0;
  // What is computed in between may depend on what was read before, in registers, and decide what is written after.
  // Only a thread that waits for something else there is likely to need no lock meanwhile.
  constexpr int64_t kBlockedShareMin = 2;  // half of it
  if (found.middle_ns > 0 && longest_in_middle(uses, ends, s, found).length_ns * kBlockedShareMin < found.middle_ns)
    found.middle_ns = 0;
  return found;
}

// One end of a site's sections. They run the same code, so the part that moves out ends, or begins, at the same cut in
// most of them, by time. A section that was not cut there took a little less time: it is taken to move as large a
// share. Most of those that were cut there read nothing that others may write, so the few that seem to read such data
// move their part as well.
class CommonEnd {
 public:
  enum class Side { head, tail };
  explicit CommonEnd(Side side) : side_(side) {}

  // A section of `hold_ns` that moves `moved_ns`, up to the cut or from it; it would move `most_ns` if no unobserved
  // section wrote anything.
  void add(uint32_t cut, int64_t moved_ns, int64_t most_ns, int64_t hold_ns) {
    all_ns_ += most_ns;
    if (cut == model::SectionSets::kNoCut || hold_ns <= 0) return;
    Cut& at = by_cut_[cut];
    at.moved_ns += moved_ns;
    at.shares.push_back(static_cast<double>(moved_ns) / static_cast<double>(hold_ns));
    at.holds_ns.push_back(static_cast<double>(hold_ns));
  }
  // After all were added. Without a common cut there is nothing to be taken over.
  void settle() {
    const auto most = std::ranges::max_element(by_cut_, {}, [](const auto& each) { return each.second.moved_ns; });
    if (most == by_cut_.end() || 2 * most->second.moved_ns <= all_ns_) return;
    cut_ = most->first;
    share_ = base::median(std::span(most->second.shares));
    hold_ns_ = base::median(std::span(most->second.holds_ns));
  }
  std::optional<model::SectionSets::Cut> cut(const model::SectionSets& sets) const {
    return cut_ == model::SectionSets::kNoCut ? std::optional<model::SectionSets::Cut>() : sets.cuts[cut_];
  }
  // The time that a section with these parts at that end moves. A section that holds the lock for far less time does
  // something else.
  int64_t moved_ns(int64_t found_ns, int64_t most_ns, std::span<const model::SectionSets::Part> parts,
                   int64_t hold_ns) const {
    if (cut_ == model::SectionSets::kNoCut) return found_ns;
    const auto cut = std::ranges::find(parts, cut_, &model::SectionSets::Part::end);
    if (cut != parts.end()) {
      int64_t beyond_ns = 0;
      for (auto part = parts.begin(); part != parts.end(); ++part)
        beyond_ns += (side_ == Side::head) == (part <= cut) ? part->length_ns : 0;
      return beyond_ns <= most_ns ? std::max(found_ns, beyond_ns) : found_ns;
    }
    const auto hold = static_cast<double>(hold_ns);
    return 2 * hold < hold_ns_ ? found_ns : std::max<int64_t>(found_ns, std::llround(share_ * hold));
  }

 private:
  struct Cut {
    int64_t moved_ns = 0;
    std::vector<double> shares, holds_ns;
  };
  const Side side_;
  std::map<uint32_t, Cut> by_cut_;
  int64_t all_ns_ = 0;
  uint32_t cut_ = model::SectionSets::kNoCut;
  double share_ = 0, hold_ns_ = 0;
};

// The blocks in one moving part of a site's sections: in front, in the middle or behind.
class PartBlocks {
 public:
  void look(const LockUses& uses, const SectionEnds& ends, uint32_t s, int64_t from_ns, int64_t to_ns) {
    const Block block = longest_block(uses, ends, s, from_ns, to_ns);
    all_ns_ += block.length_ns;
    if (block.length_ns > longest_.length_ns) longest_ = block;
  }
  // Where the longest is; none: no block.
  model::ContextId longest() const { return longest_.at; }
  // The same, if blocks are most of the part's `part_ns`, summed over the sections.
  model::ContextId at(int64_t part_ns) const { return 2 * all_ns_ > part_ns ? longest_.at : model::ContextId(); }

 private:
  Block longest_;
  int64_t all_ns_ = 0;
};

class ShortenSection final : public SectionChange {
 public:
  constexpr ShortenSection() : SectionChange("shorten-section", Effort::one_function, 1, 3) {}

  void find(LockSearch& search) const override {
    for (const auto& [function, sections] : by_function(search)) find_at(search, sections);
  }

  std::string_view fault(const whatif::Improvement& improvement) const override {
    const size_t count = improvement.sections.size();
    return improvement.head_ns.size() == count && improvement.tail_ns.size() == count ? "" : "a section has no length";
  }

  void edit(const model::Trace&, std::span<const model::CriticalSection> sections,
            const whatif::Improvement& improvement, std::vector<whatif::SectionEdit>& edits) const override {
    for (size_t i = 0; i < improvement.sections.size(); ++i) {
      const uint32_t s = improvement.sections[i];
      const int64_t hold_ns = sections[s].hold_ns();
      edits[s].head_outside_ns = std::clamp<int64_t>(improvement.head_ns[i], 0, hold_ns);
      edits[s].tail_outside_ns = std::clamp<int64_t>(improvement.tail_ns[i], 0, hold_ns - edits[s].head_outside_ns);
    }
  }
  // What moves out on the other side leaves a wait its mutex.
  bool keeps_begin(const whatif::Improvement& improvement, size_t at) const override {
    return improvement.head_ns[at] == 0;
  }
  bool keeps_end(const whatif::Improvement& improvement, size_t at) const override {
    return improvement.tail_ns[at] == 0;
  }
  bool moves_conflicts() const override { return true; }

  void add_notes(const model::Trace& trace, const Candidate& candidate,
                 std::vector<std::string>& notes) const override {
    if (const std::string until = in_front_text(trace, candidate); !until.empty())
      notes.push_back("in front of the lock goes " + until);
    if (const std::string from = behind_text(trace, candidate); !from.empty())
      notes.push_back("behind its release goes " + from);
    if (candidate.in_middle > 0)
      notes.push_back(fmt::format(
          "from the middle of {}{}: give the lock up meanwhile, and look again at what was read before",
          sections_text(candidate.in_middle),
          candidate.blocks_at.valid() ? ", which block at " + trace.context_label(candidate.blocks_at) : ""));
    if (candidate.handing_on > 0)
      notes.push_back(
          fmt::format("{} end{} with what other threads touch only after a later section of the thread handed it on",
                      sections_text(candidate.handing_on), candidate.handing_on == 1 ? "s" : ""));
    if (candidate.making_durable > 0)
      notes.push_back(
          fmt::format("{} end{} by making durable what was written: after the change, others may see it before it is",
                      sections_text(candidate.making_durable), candidate.making_durable == 1 ? "s" : ""));
  }

 private:
  static std::string call_text(const model::SectionSets::Cut& cut) { return "the call in " + cut.call; }
  static std::string with_block(const model::Trace& trace, std::string text, model::ContextId blocks_at) {
    if (!blocks_at.valid()) return text;
    return fmt::format("{}{}what blocks at {}", text, text.empty() ? "" : ", and ", trace.context_label(blocks_at));
  }
  // Empty where it is not known.
  static std::string in_front_text(const model::Trace& trace, const Candidate& candidate) {
    std::string text;
    if (const auto& until = candidate.moves_until)
      text = fmt::format("what stands {} {}", until->is_after ? "up to the end of" : "before", call_text(*until));
    return with_block(trace, std::move(text), candidate.blocks_in_front);
  }
  static std::string behind_text(const model::Trace& trace, const Candidate& candidate) {
    std::string text;
    if (const auto& from = candidate.moves_from)
      text = fmt::format("what {} {}", from->is_after ? "follows" : "begins with", call_text(*from));
    return with_block(trace, std::move(text), candidate.blocks_behind);
  }

  void find_at(LockSearch& search, const std::vector<uint32_t>& of_site) const {
    // A shorter time is the recorder's, or that of a few instructions around the work that has to be inside.
    constexpr int64_t kLeastNs = 100;
    const model::SectionSets& sets = search.facts().sets;
    const UnseenWrites unseen(search, of_site);
    const UnseenWrites nothing(search);
    const SectionEnds ends(search, unseen), most_ends(search, nothing);
    const bool hands_on = ends.hands_on(of_site);
    std::map<uint32_t, Movable> parts, most;  // by section; if nothing unobserved were written
    CommonEnd heads(CommonEnd::Side::head), tails(CommonEnd::Side::tail);
    for (const uint32_t s : of_site) {
      if (!search.is_known(s)) continue;
      const Movable& part = parts[s] = movable(search, ends, s, hands_on);
      if (!search.is_contested(s)) continue;
      const Movable& all = most[s] = movable(search, most_ends, s, hands_on);
      heads.add(part.head_cut, part.head_ns, all.head_ns, search.section(s).hold_ns());
      tails.add(part.tail_cut, part.tail_ns, all.tail_ns, search.section(s).hold_ns());
    }
    heads.settle();
    tails.settle();
    std::vector<uint32_t> sections;
    bool any_contested = false;
    for (auto& [s, part] : parts) {
      const int64_t hold_ns = search.section(s).hold_ns();
      const bool contested = search.is_contested(s);
      const int64_t head_most_ns = contested ? most[s].head_ns : hold_ns;
      const int64_t tail_most_ns = contested ? most[s].tail_ns : hold_ns;
      const int64_t found_ns = part.head_ns + part.tail_ns;
      if (!search.follows_wait(s))
        part.head_ns = heads.moved_ns(part.head_ns, head_most_ns, sets.parts_of(sets.head[s]), hold_ns);
      if (!search.ends_in_wait(s))
        part.tail_ns = tails.moved_ns(part.tail_ns, tail_most_ns, sets.parts_of(sets.tail[s]), hold_ns);
      // An end may have grown by a part that the middle counted.
      const int64_t grown_ns = part.head_ns + part.tail_ns - found_ns;
      part.middle_ns = std::clamp<int64_t>(hold_ns - part.head_ns - part.tail_ns, 0,
                                           std::max<int64_t>(0, part.middle_ns - grown_ns));
      if (part.all_ns() < kLeastNs || (!contested && part.all_ns() >= hold_ns)) continue;
      sections.push_back(s);
      any_contested |= contested;
    }
    if (!any_contested) sections.clear();
    if (sections.empty()) {
      if (unseen.may_reach_any()) search.refuse(this, search.section(of_site[0]).lock, UnseenWrites::kReason);
      return;
    }
    Candidate made = search.candidate(this, std::move(sections));
    PartBlocks in_front, in_middle, behind;
    int64_t heads_ns = 0, tails_ns = 0, all_ns = 0;
    for (const uint32_t s : made.improvement.sections) {
      const Movable& part = parts[s];
      const int64_t hold_ns = search.section(s).hold_ns();
      // For how long the lock is held counts, not when: what is in the middle is taken to happen before.
      const int64_t in_front_ns = search.follows_wait(s) ? 0 : part.middle_ns;
      made.improvement.head_ns.push_back(part.head_ns + in_front_ns);
      made.improvement.tail_ns.push_back(part.tail_ns + part.middle_ns - in_front_ns);
      made.in_middle += part.middle_ns > 0;
      made.handing_on += part.hands_on;
      made.making_durable += part.makes_durable;
      heads_ns += part.head_ns;
      tails_ns += part.tail_ns;
      all_ns += part.all_ns();
      in_front.look(search, ends, s, 0, part.head_ns);
      if (part.middle_ns > 0) in_middle.look(search, ends, s, part.head_ns, hold_ns - part.tail_ns);
      behind.look(search, ends, s, hold_ns - part.tail_ns, hold_ns);
    }
    // An end that is a few instructions is not worth a word.
    const auto counts = [all_ns](int64_t end_ns) { return 20 * end_ns >= all_ns; };
    if (counts(heads_ns)) {
      made.moves_until = heads.cut(sets);
      made.blocks_in_front = in_front.at(heads_ns);
    }
    if (counts(tails_ns)) {
      made.moves_from = tails.cut(sets);
      made.blocks_behind = behind.at(tails_ns);
    }
    made.blocks_at = in_middle.longest();
    search.add(std::move(made));
  }
};

constexpr ShortenSection kShortenSection;

}  // namespace

const Kind* const kinds::shorten_section = &kShortenSection;

}  // namespace contrafact::improve
