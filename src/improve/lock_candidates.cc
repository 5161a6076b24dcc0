#include "improve/lock_candidates.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <string>

#include "improve/lock_splits.h"
#include "improve/lock_uses.h"

namespace contrafact::improve {
namespace {

using analysis::SectionFacts;
using graph::CellUse;
using model::LockId;
using whatif::Optimisation;

using Lock = LockUses::Lock;
using SectionsOfSite = LockUses::SectionsOfSite;

class Finder : LockUses {
 public:
  explicit Finder(const SectionFacts& facts) : LockUses(facts) {}

  Candidates run() {
    for (const std::vector<LockId>& locks : groups()) {
      look_at(locks);
      for (const auto& [site, sections] : by_site()) try_drop(sections);
      for (const auto& [function, sections] : by_function()) try_shorten(sections);
      try_readers();
      for (const auto& [site, sections] : by_site()) try_look(sections);
      try_atomic(locks);
      add_splits(*this, locks, found_);
      forget(locks);
    }
    return std::move(found_);
  }

 private:
  // What one function does to its section may be asked for in two places: where it locks and, with a condition, where
  // it waits. Without conditions each site is by itself.
  SectionsOfSite by_function() const {
    SectionsOfSite groups;
    std::map<std::string, uint32_t> first_site;  // by function
    for (const auto& [site, sections] : by_site()) {
      const model::ContextId context = facts().sites.sites()[site].context;
      const bool is_with_condition = lock_of(sections[0]).with_condition;
      uint32_t group = site;
      if (is_with_condition && context.valid() && trace().contexts[context.index()].method.valid()) {
        const std::string function = trace().method_label(trace().contexts[context.index()].method);
        group = first_site.try_emplace(function, site).first->second;
      }
      groups[group].insert(groups[group].end(), sections.begin(), sections.end());
    }
    return groups;
  }

  void try_drop(const std::vector<uint32_t>& of_site) {
    std::vector<uint32_t> sections;
    std::ranges::copy_if(of_site, std::back_inserter(sections), [&](uint32_t s) { return is_harmless(s); });
    const bool is_lone = LockUses::is_lone(facts().site_of[of_site[0]]);
    if (is_lone && std::ranges::any_of(sections, [&](uint32_t s) { return is_guarded(s); })) {
      return refuse(Optimisation::drop_lock, section(of_site[0]).lock, "only one thread ran what writes under it");
    }
    if (sections.size() < of_site.size() && is_reader(facts().site_of[of_site[0]])) {
      return refuse(Optimisation::drop_lock, section(of_site[0]).lock,
                    "which sections read what others write depends on the data: a reader-writer lock is safe");
    }
    if (sections.size() < of_site.size() && std::ranges::any_of(sections, [&](uint32_t s) { return !only_reads(s); })) {
      return refuse(Optimisation::drop_lock, section(of_site[0]).lock,
                    "which sections write what others use depends on the data");
    }
    if (!sections.empty()) found_.candidates.push_back(candidate(Optimisation::drop_lock, std::move(sections)));
  }

  // What may move out of a section: in front of it, behind it, and from its middle.
  struct Movable {
    int64_t head_ns = 0, middle_ns = 0, tail_ns = 0;
    bool hands_on = false;       // some of the end is touched by others after a later section only
    bool makes_durable = false;  // likewise it makes durable what was written before
    int64_t all_ns() const { return head_ns + middle_ns + tail_ns; }
  };

  void try_shorten(const std::vector<uint32_t>& of_site) {
    // Less than that is the recorder's, or a few instructions around what has to be inside.
    constexpr int64_t kLeastNs = 100;
    std::vector<uint32_t> sections;
    site_hands_on_ = hands_on(of_site);
    for (const uint32_t s : of_site) {
      const bool needs_lock = is_known(s) && is_contested(section(s).lock, facts().sets.of_section[s]);
      if (needs_lock && movable(s).all_ns() >= kLeastNs) sections.push_back(s);
    }
    if (sections.empty()) return;
    Candidate made = candidate(Optimisation::shorten_section, std::move(sections));
    int64_t longest_ns = 0;
    for (const uint32_t s : made.improvement.sections) {
      const Movable part = movable(s);
      // For how long the lock is held counts, not when: what is in the middle is taken to happen before.
      const int64_t in_front_ns = follows_wait(s) ? 0 : part.middle_ns;
      made.improvement.head_ns.push_back(part.head_ns + in_front_ns);
      made.improvement.tail_ns.push_back(part.tail_ns + part.middle_ns - in_front_ns);
      made.in_middle += part.middle_ns > 0;
      made.handing_on += part.hands_on;
      made.making_durable += part.makes_durable;
      if (part.middle_ns <= longest_ns) continue;
      longest_ns = part.middle_ns;
      made.blocks_at = longest_block(s, part).at;
    }
    found_.candidates.push_back(std::move(made));
  }

  struct Block {
    model::ContextId at;
    int64_t length_ns = 0;
  };
  // Between what moves out in front of the section and behind it.
  Block longest_block(uint32_t s, const Movable& outside) const {
    Block longest;
    if (!section(s).release.valid()) return longest;
    const int64_t from_ns = trace().time_ns[section(s).acquire.value] + outside.head_ns;
    const int64_t to_ns = trace().time_ns[section(s).release.value] - outside.tail_ns;
    int64_t begin_ns = 0;
    model::ContextId at;
    for (uint32_t i = section(s).acquire.value + 1; i < section(s).release.value; ++i) {
      if (trace().kind[i] == model::EventKind::block_begin) {
        begin_ns = trace().time_ns[i];
        at = model::ContextId(trace().b[i]);
        continue;
      }
      // What moves out may be of another recording, and its length in proportion: most of a block counts.
      const int64_t middle_ns = begin_ns + (trace().time_ns[i] - begin_ns) / 2;
      if (trace().kind[i] == model::EventKind::block_end && trace().time_ns[i] - begin_ns > longest.length_ns &&
          middle_ns >= from_ns && middle_ns <= to_ns)
        longest = {at, trace().time_ns[i] - begin_ns};
    }
    return longest;
  }

  bool may_move(uint32_t s, const model::SectionSets::Part& part) const {
    return facts().sets.is_complete(part.set) && !is_disputed(section(s).lock, part.set);
  }

  // Whether the sections of a site end with what their thread has alone until a later section hands it on. It is so for
  // all of them or for none: of data that any section may touch at any time, some are handed on by chance.
  bool hands_on(const std::vector<uint32_t>& of_site) const {
    constexpr size_t kSectionsMin = 20;
    const model::SectionSets& sets = facts().sets;
    size_t handing_on = 0;
    for (const uint32_t s : of_site) {
      if (!is_known(s) || ends_in_wait(s)) continue;
      // Not its beginning: there it finds out what it has.
      const auto tail = sets.parts_of(sets.tail[s]);
      const auto end = tail.subspan(std::min<size_t>(1, tail.size()));
      const auto last =
          std::ranges::find_if(end.rbegin(), end.rend(), [&](const auto& part) { return !may_move(s, part); });
      if (last == end.rend()) continue;
      const Passage passage = passage_of(s, *last);
      if (passage == Passage::taken) return false;
      handing_on += passage == Passage::handed_on;
    }
    return handing_on >= kSectionsMin;
  }

  Passage passage_of(uint32_t s, const model::SectionSets::Part& part) const {
    return facts().sets.is_complete(part.set) ? passage(section(s).lock, part.set) : Passage::unknown;
  }

  Movable movable(uint32_t s) const {
    Movable found = ends_and_middle(s);
    // Readers that share the lock need not give it up.
    if (is_reader(facts().site_of[s])) found.middle_ns = 0;
    // What is computed in between may depend on what was read before, in registers, and decide what is written after:
    // only who waits for something else is likely to need no lock meanwhile.
    constexpr int64_t kBlockedShareMin = 2;  // half of it
    if (found.middle_ns > 0 && longest_block(s, found).length_ns * kBlockedShareMin < found.middle_ns)
      found.middle_ns = 0;
    return found;
  }

  Movable ends_and_middle(uint32_t s) const {
    const model::SectionSets& sets = facts().sets;
    const auto head = sets.parts_of(sets.head[s]), tail = sets.parts_of(sets.tail[s]);
    const bool is_one_segment = sets.head[s].begin == sets.tail[s].begin;
    const auto first = std::ranges::find_if(head, [&](const auto& part) { return !may_move(s, part); });
    Movable found;
    const auto last = std::ranges::find_if(tail.rbegin(), tail.rend(), [&](const auto& part) {
      if (may_move(s, part)) return false;
      const bool is_handed_on = site_hands_on_ && passage_of(s, part) == Passage::handed_on;
      found.hands_on |= is_handed_on;
      return !is_handed_on;
    });
    const auto makes_durable = [this](const auto& part) { return LockUses::makes_durable(part.set); };
    // What others wrote before this section has to be there when it is made durable.
    if (!follows_wait(s)) found.head_ns = length_ns(head.begin(), std::find_if(head.begin(), first, makes_durable));
    if (!ends_in_wait(s)) {
      found.tail_ns = length_ns(last.base(), tail.end());
      found.makes_durable = std::any_of(last.base(), tail.end(), makes_durable);
    }
    const auto middle_ns = [&](auto begin, auto end) {
      int64_t sum_ns = 0;
      for (auto part = begin; part != end; ++part) sum_ns += may_move(s, *part) ? part->length_ns : 0;
      return sum_ns;
    };
    found.middle_ns = is_one_segment
                          ? middle_ns(first, first == head.end() ? first : head.begin() + (last.base() - tail.begin()))
                          : middle_ns(first, head.end()) + middle_ns(tail.begin(), last.base());
    return found;
  }

  static int64_t length_ns(auto begin, auto end) {
    int64_t sum_ns = 0;
    for (auto part = begin; part != end; ++part) sum_ns += part->length_ns;
    return sum_ns;
  }

  void try_readers() {
    std::vector<uint32_t> readers;
    for (const auto& [site, sections] : by_site()) {
      if (!is_reader(site)) continue;
      std::ranges::copy_if(sections, std::back_inserter(readers),
                           [&](uint32_t s) { return is_known(s) && !section(s).shared; });
    }
    if (!readers.empty()) found_.candidates.push_back(candidate(Optimisation::reader_writer_lock, std::move(readers)));
  }

  // Most sections of the site find what they look for and change nothing, others do: get or insert.
  void try_look(const std::vector<uint32_t>& of_site) {
    site_hands_on_ = false;
    const uint32_t site = facts().site_of[of_site[0]];
    if (is_reader(site) || LockUses::is_lone(site)) return;
    std::vector<uint32_t> sections;
    std::vector<int64_t> looks_ns;
    for (const uint32_t s : of_site) {
      if (is_around_wait(s)) return;
      if (!is_known(s) || section(s).shared) continue;
      sections.push_back(s);
      if (only_looks(s)) looks_ns.push_back(section(s).hold_ns());
    }
    constexpr size_t kShareMin = 2;  // half of them
    if (looks_ns.size() < 2 || kShareMin * looks_ns.size() < sections.size()) return;
    const auto middle = looks_ns.begin() + static_cast<ptrdiff_t>(looks_ns.size() / 2);
    std::ranges::nth_element(looks_ns, middle);
    Candidate made = candidate(Optimisation::shared_look, std::move(sections));
    for (const uint32_t s : made.improvement.sections) {
      made.improvement.part.push_back(only_looks(s) ? 1 : 0);
      made.improvement.look_ns.push_back(only_looks(s) ? 0 : *middle);
      // A thread that looks again before it changes something needs no lock for its work in between.
      const Movable outside = only_looks(s) ? Movable() : ends_and_middle(s);
      made.improvement.head_ns.push_back(outside.head_ns + outside.middle_ns);
      made.in_middle += outside.head_ns + outside.middle_ns > 0;
    }
    found_.candidates.push_back(std::move(made));
  }

  bool only_looks(uint32_t s) const {
    return may_share(s) && is_contested(section(s).lock, facts().sets.of_section[s]);
  }

  void refuse(Optimisation optimisation, LockId lock, std::string_view reason) {
    if (!this->lock(lock).waited) return;
    const auto is_same = [&](const Ineligible& known) {
      return known.optimisation == optimisation && known.lock == lock && known.reason == reason;
    };
    if (std::ranges::any_of(found_.ineligible, is_same)) return;  // another site of the lock
    found_.ineligible.push_back({.optimisation = optimisation, .lock = lock, .reason = std::string(reason)});
  }

  bool changes_kernel_state(const Lock& lock) const {
    for (uint32_t cell = 0; cell < lock.contested.size(); ++cell) {
      if (lock.contested[cell] && is_kernel_state(lock.cells->address(cell))) return true;
    }
    return false;
  }

  // One word under every lock: 8 bytes at most that an atomic operation can take.
  bool has_one_word(const Lock& lock) const {
    uint64_t begin = UINT64_MAX, end = 0;
    for (uint32_t cell = 0; cell < lock.contested.size(); ++cell) {
      if (!lock.contested[cell]) continue;
      begin = std::min(begin, lock.cells->address(cell));
      end = std::max(end, lock.cells->end_address(cell));
    }
    return end == 0 || begin / 8 == (end - 1) / 8;
  }

  // A section that computes the new value from the old one otherwise than by an operation that commutes.
  bool replaces(LockId id) const {
    const Lock& lock = this->lock(id);
    return std::ranges::any_of(lock.cells->sets(), [&](uint32_t set) {
      return std::ranges::any_of(lock.cells->of(set),
                                 [&](const CellUse& use) { return lock.contested[use.cell] && use.replaces; });
    });
  }

  // Who compares and exchanges a word begins anew as often as others were faster, which pays where that is seldom.
  bool are_short(LockId id) const {
    constexpr int64_t kShortNs = 1'000;
    std::vector<int64_t> holds_ns;
    each_section(std::span(&id, 1), [&](uint32_t s) { holds_ns.push_back(section(s).hold_ns()); });
    if (holds_ns.empty()) return false;
    const auto middle = holds_ns.begin() + static_cast<ptrdiff_t>(holds_ns.size() / 2);
    std::ranges::nth_element(holds_ns, middle);
    return *middle <= kShortNs;
  }

  void try_atomic(const std::vector<LockId>& locks) {
    std::vector<uint32_t> sections;
    bool any = false, exchanges = false;
    for (const LockId lock : locks) {
      const std::string_view reason = not_judged(lock);
      if (!reason.empty()) return refuse(Optimisation::make_atomic, lock, reason);
      const Lock& info = this->lock(lock);
      if (changes_kernel_state(info)) return refuse(Optimisation::make_atomic, lock, "it orders system calls");
      if (!has_one_word(info)) return;
      if (replaces(lock)) {
        if (!are_short(lock))
          return refuse(Optimisation::make_atomic, lock, "long sections need the value that they replace");
        exchanges = true;
      }
      any |= std::ranges::find(info.contested, true) != info.contested.end();
    }
    each_section(locks, [&](uint32_t s) { sections.push_back(s); });
    if (!any) return;
    found_.candidates.push_back(candidate(Optimisation::make_atomic, std::move(sections)));
    found_.candidates.back().exchanges = exchanges;
  }

  Candidates found_;
  bool site_hands_on_ = false;  // of the site that is looked at (hands_on)
};

}  // namespace

Candidates lock_candidates(const SectionFacts& facts) {
  return Finder(facts).run();
}

}  // namespace contrafact::improve
