// The parts at the beginning, at the end and in the middle of a critical section that need no exclusion.
#pragma once

#include "improve/unseen_writes.h"

namespace contrafact::improve {

// The time that may move out of a section: in front of it, behind it, and from its middle.
struct Movable {
  int64_t head_ns = 0, middle_ns = 0, tail_ns = 0;
  // Of SectionSets::cuts: the last cut inside the head that moves, or at its end; and the first cut inside the tail
  // that moves, or at its begin. kNoCut: there is none.
  uint32_t head_cut = model::SectionSets::kNoCut, tail_cut = model::SectionSets::kNoCut;
  bool hands_on = false;       // others touch some of the end's data, but only after a later section
  bool makes_durable = false;  // the end makes earlier writes durable
  int64_t all_ns() const { return head_ns + middle_ns + tail_ns; }
};

class SectionEnds {
 public:
  // For the sections of one site; `unseen` is of that site. Data that an unobserved section may write stays inside the
  // lock. Both must last.
  SectionEnds(const LockUses& uses, const UnseenWrites& unseen) : uses_(uses), unseen_(unseen) {}

  // `hands_on`: the section's end may move although it touches data that its thread hands on later. A section may touch
  // nothing contested itself, as most do where neighbours rarely meet. Then its parts that touch no written data move:
  // where others of its site touch contested data, it touches written data of its own.
  Movable ends_and_middle(uint32_t s, bool hands_on) const;
  // Whether code that runs `since_ns` after the section's begin may move. It may not if it touches data that others
  // touch, or if it lies between the section's first and last inner lock.
  bool may_move_at(uint32_t s, int64_t since_ns) const;
  // Whether the sections of a site end with data that only their thread uses until a later section hands it on. This
  // holds for all of them or for none: of data that any section may touch at any time, some is handed on by chance.
  bool hands_on(const std::vector<uint32_t>& of_site) const;

 private:
  // Part: of section `s`, which `is_contested` or not.
  bool may_move(uint32_t s, bool is_contested, const model::SectionSets::Part& part) const;
  Passage passage_of(uint32_t s, const model::SectionSets::Part& part) const;

  const LockUses& uses_;
  const UnseenWrites& unseen_;
};

}  // namespace contrafact::improve
