// What needs no exclusion at the beginning, at the end and in the middle of a critical section.
#pragma once

#include "improve/unseen_writes.h"

namespace contrafact::improve {

// What may move out of a section: in front of it, behind it, and from its middle.
struct Movable {
  int64_t head_ns = 0, middle_ns = 0, tail_ns = 0;
  // Of SectionSets::cuts: the last one in or at the end of the beginning that moves, and the first one at the begin of
  // or in the end that moves. kNoCut: none is.
  uint32_t head_cut = model::SectionSets::kNoCut, tail_cut = model::SectionSets::kNoCut;
  bool hands_on = false;       // some of the end is touched by others after a later section only
  bool makes_durable = false;  // likewise it makes durable what was written before
  int64_t all_ns() const { return head_ns + middle_ns + tail_ns; }
};

class SectionEnds {
 public:
  // For the sections of one site; `unseen` is of that site. Data that an unobserved section may write stays inside the
  // lock. Both must last.
  SectionEnds(const LockUses& uses, const UnseenWrites& unseen) : uses_(uses), unseen_(unseen) {}

  // `hands_on`: its end may move with what its thread hands on later.
  Movable ends_and_middle(uint32_t s, bool hands_on) const;
  // Whether what happens then, so long after the section's begin, may move: not what others touch, nor what lies
  // between its first and last inner lock.
  bool may_move_at(uint32_t s, int64_t since_ns) const;
  // Whether the sections of a site end with what their thread has alone until a later section hands it on. It is so for
  // all of them or for none: of data that any section may touch at any time, some are handed on by chance.
  bool hands_on(const std::vector<uint32_t>& of_site) const;

 private:
  bool may_move(uint32_t s, const model::SectionSets::Part& part) const;
  Passage passage_of(uint32_t s, const model::SectionSets::Part& part) const;

  const LockUses& uses_;
  const UnseenWrites& unseen_;
};

}  // namespace contrafact::improve
