// block-outside: critical sections of one place block in the outside world (a sleep, a call over the network, a file) for most
// of the time for which they hold their lock; they do that without the lock. What they read and write is not looked at:
// shorten-section is the same where sets are recorded, and says what may move. The recording does not say whether what they
// do before and after the block may be done under two acquisitions.

#include <algorithm>
#include <map>

#include "improve/kinds/kinds.h"
#include "improve/move_change.h"
#include "improve/source_places.h"
#include "improve/spec_frames.h"
#include "model/critical_sections.h"
#include "whatif/variant.h"

namespace contrafact::improve {
namespace {

using format::BlockReason;
using model::ContextId;
using model::CriticalSection;
using model::EventKind;
using model::Trace;

bool is_outside(BlockReason reason) {
  return reason == BlockReason::sleep || reason == BlockReason::io || reason == BlockReason::poll ||
         reason == BlockReason::process;
}

// What one thread at a time holds, if a section is not shared.
bool excludes(format::LockKind kind) {
  return model::is_mutex(kind) || kind == format::LockKind::rwlock;
}

struct Blocked {
  int64_t ns = 0;
  ContextId longest;
  int64_t longest_ns = 0;
};

Blocked blocked_in(const Trace& trace, const CriticalSection& section) {
  Blocked found;
  int64_t since_ns = 0;
  bool counts = false;
  ContextId at;
  for (uint32_t i = section.acquire.value + 1; i < section.release.value; ++i) {
    if (trace.kind[i] == EventKind::block_begin) {
      counts = is_outside(static_cast<BlockReason>(trace.a[i]));
      since_ns = trace.time_ns[i];
      at = ContextId(trace.b[i]);
    } else if (trace.kind[i] == EventKind::block_end && counts) {
      const int64_t ns = trace.time_ns[i] - since_ns;
      found.ns += ns;
      if (ns > found.longest_ns) found.longest = at, found.longest_ns = ns;
      counts = false;
    }
  }
  return found;
}

struct OfSite {
  ContextId site;
  std::vector<uint32_t> sections;
  int64_t held_ns = 0, blocked_ns = 0;
  Blocked longest;
};

class BlockOutside final : public MoveChange {
 public:
  constexpr BlockOutside() : MoveChange("block-outside", Effort::one_function, 3) {}

  void find(const Trace& trace, std::vector<Candidate>& candidates) const override {
    constexpr int64_t kPartMin = 2;  // of the time for which they hold the lock: half of it
    const SourcePlaces sources(trace);
    std::map<uint32_t, OfSite> sites;
    const std::vector<CriticalSection> sections = model::critical_sections(trace);
    for (uint32_t s = 0; s < sections.size(); ++s) {
      const CriticalSection& section = sections[s];
      if (section.shared || section.outcome != model::Outcome::normal || !section.release.valid()) continue;
      if (!section.site.valid() || !excludes(trace.locks[section.lock.index()].kind)) continue;
      if (trace.thread_of(section.release) != section.thread) continue;
      OfSite& of = sites[sources.of(section.site).value];
      of.site = sources.of(section.site);
      of.held_ns += section.hold_ns();
      const Blocked blocked = blocked_in(trace, section);
      if (blocked.ns == 0) continue;
      of.sections.push_back(s);
      of.blocked_ns += blocked.ns;
      if (blocked.longest_ns > of.longest.longest_ns) of.longest = blocked;
    }
    const size_t first = candidates.size();
    for (auto& [number, of] : sites) {
      if (of.blocked_ns == 0 || of.blocked_ns * kPartMin < of.held_ns) continue;
      Candidate candidate;
      candidate.improvement.optimisation = this;
      candidate.improvement.spawn_context = of.site;
      candidate.improvement.before = of.longest.longest;
      candidate.improvement.sections = std::move(of.sections);
      candidates.push_back(std::move(candidate));
    }
    std::stable_sort(candidates.begin() + static_cast<ptrdiff_t>(first), candidates.end(),
                     [](const Candidate& x, const Candidate& y) {
                       return x.improvement.sections.size() > y.improvement.sections.size();
                     });
  }

  void move(const Trace& trace, const whatif::Improvement& improvement, whatif::Variant& variant) const override {
    if (variant.blocks_outside.empty()) variant.blocks_outside.resize(model::critical_sections(trace).size());
    for (const uint32_t section : improvement.sections) variant.blocks_outside[section] = true;
  }

  void write_place(const whatif::Improvement& improvement, const Trace& trace, Json& json) const override {
    json["sites"] = Json::array({{{"frames", frames_json(trace, improvement.spawn_context)}}});
    json["sections"] = {{"count", improvement.sections.size()}};
    if (improvement.before.valid()) json["blocks_at"] = {{"frames", frames_json(trace, improvement.before)}};
  }
  bool is_named(const Json& json, const whatif::Improvement& improvement, const Trace& trace) const override {
    const ProgramClasses program(trace);
    const std::string own = frames_key(frames_json(trace, improvement.spawn_context), program);
    for (const Json& site : json.value("sites", Json::array())) {
      if (site.is_object() && frames_key(site.value("frames", Json::array()), program) == own) return true;
    }
    return false;
  }

  void add_notes(const Trace& trace, const Candidate& candidate, std::vector<std::string>& notes) const override {
    notes.push_back(
        "it holds the lock while it blocks" +
        (candidate.improvement.before.valid() ? " at " + trace.context_label(candidate.improvement.before) : "") +
        ": give the lock up meanwhile, and look again at what was read before; shorten-section says what may move, "
        "where a recording with --sets is given");
  }
};

constexpr BlockOutside kBlockOutside;

}  // namespace

const Kind* const kinds::block_outside = &kBlockOutside;

}  // namespace contrafact::improve
