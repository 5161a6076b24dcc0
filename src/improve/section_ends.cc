#include "improve/section_ends.h"

#include <algorithm>

namespace contrafact::improve {
namespace {

int64_t length_ns(auto begin, auto end) {
  int64_t sum_ns = 0;
  for (auto part = begin; part != end; ++part) sum_ns += part->length_ns;
  return sum_ns;
}

}  // namespace

bool SectionEnds::may_move(uint32_t s, bool is_contested, const model::SectionSets::Part& part) const {
  const model::LockId lock = uses_.section(s).lock;
  if (!uses_.facts().sets.is_complete(part.set) || unseen_.may_reach(lock, part.set)) return false;
  return is_contested ? !uses_.is_disputed(lock, part.set) : !uses_.touches_written(lock, part.set);
}

bool SectionEnds::may_move_at(uint32_t s, int64_t since_ns) const {
  const model::SectionSets& sets = uses_.facts().sets;
  const auto head = sets.parts_of(sets.head[s]), tail = sets.parts_of(sets.tail[s]);
  const bool contested = uses_.is_contested(s);
  const auto moves_in = [&](auto parts, int64_t begin_ns) {
    for (const auto& part : parts) {
      if (since_ns >= begin_ns && since_ns < begin_ns + part.length_ns) return may_move(s, contested, part);
      begin_ns += part.length_ns;
    }
    return false;
  };
  return moves_in(head, 0) || moves_in(tail, uses_.section(s).hold_ns() - length_ns(tail.begin(), tail.end()));
}

bool SectionEnds::hands_on(const std::vector<uint32_t>& of_site) const {
  constexpr size_t kSectionsMin = 20;
  const model::SectionSets& sets = uses_.facts().sets;
  size_t handing_on = 0;
  for (const uint32_t s : of_site) {
    if (!uses_.is_known(s) || uses_.ends_in_wait(s)) continue;
    // Not its beginning: there it finds out what it has.
    const auto tail = sets.parts_of(sets.tail[s]);
    const auto end = tail.subspan(std::min<size_t>(1, tail.size()));
    const auto last =
        std::ranges::find_if(end.rbegin(), end.rend(), [&](const auto& part) { return !may_move(s, true, part); });
    if (last == end.rend()) continue;
    const Passage passage = passage_of(s, *last);
    if (passage == Passage::taken) return false;
    handing_on += passage == Passage::handed_on;
  }
  return handing_on >= kSectionsMin;
}

Passage SectionEnds::passage_of(uint32_t s, const model::SectionSets::Part& part) const {
  return uses_.facts().sets.is_complete(part.set) ? uses_.passage(uses_.section(s).lock, part.set) : Passage::unknown;
}

Movable SectionEnds::ends_and_middle(uint32_t s, bool hands_on) const {
  const model::SectionSets& sets = uses_.facts().sets;
  const auto head = sets.parts_of(sets.head[s]), tail = sets.parts_of(sets.tail[s]);
  const bool contested = uses_.is_contested(s);
  const bool is_one_segment = sets.head[s].begin == sets.tail[s].begin;
  const auto first = std::ranges::find_if(head, [&](const auto& part) { return !may_move(s, contested, part); });
  Movable found;
  const auto last = std::ranges::find_if(tail.rbegin(), tail.rend(), [&](const auto& part) {
    if (may_move(s, contested, part)) return false;
    const bool is_handed_on = hands_on && passage_of(s, part) == Passage::handed_on;
    found.hands_on |= is_handed_on;
    return !is_handed_on;
  });
  const auto makes_durable = [this](const auto& part) { return uses_.makes_durable(part.set); };
  const auto has_cut = [](const auto& part) { return part.end != model::SectionSets::kNoCut; };
  // What others wrote before this section has to be there when it is made durable.
  if (!uses_.follows_wait(s)) {
    const auto stays = std::find_if(head.begin(), first, makes_durable);
    found.head_ns = length_ns(head.begin(), stays);
    const auto named = std::find_if(std::make_reverse_iterator(stays), head.rend(), has_cut);
    if (named != head.rend()) found.head_cut = named->end;
  }
  if (!uses_.ends_in_wait(s)) {
    found.tail_ns = length_ns(last.base(), tail.end());
    // The part behind that cut is the first that moves out.
    const auto named = std::find_if(last == tail.rend() ? tail.end() : last.base() - 1, tail.end(), has_cut);
    if (named != tail.end()) found.tail_cut = named->end;
    found.makes_durable = std::any_of(last.base(), tail.end(), makes_durable);
  }
  const auto middle_ns = [&](auto begin, auto end) {
    int64_t sum_ns = 0;
    for (auto part = begin; part != end; ++part) sum_ns += may_move(s, contested, *part) ? part->length_ns : 0;
    return sum_ns;
  };
  found.middle_ns = is_one_segment
                        ? middle_ns(first, first == head.end() ? first : head.begin() + (last.base() - tail.begin()))
                        : middle_ns(first, head.end()) + middle_ns(tail.begin(), last.base());
  return found;
}

}  // namespace contrafact::improve
