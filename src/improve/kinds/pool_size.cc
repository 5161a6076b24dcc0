// pool-size: a pool has another number of workers, or a semaphore of permits.

#include "improve/kinds/kinds.h"
#include "improve/size_change.h"

namespace contrafact::improve {
namespace {

class PoolSize final : public SizeChange {
 public:
  constexpr PoolSize() : SizeChange("pool-size", whatif::Target::pool, Effort::setting, 0) {}

  // One thread that becomes several: what it does is handed to a pool.
  Effort effort(const Candidate& candidate) const override {
    const whatif::Improvement& improvement = candidate.improvement;
    const bool is_thread = !improvement.threads.empty() && !improvement.is_resource && improvement.size_before == 1;
    return is_thread ? Effort::one_function : Effort::setting;
  }

  std::string title(const Candidate& candidate) const override {
    return SizeChange::title(candidate) +
           (candidate.waited_at.valid() || candidate.improvement.is_resource ? " permits" : "");
  }

  void add_notes(const model::Trace& trace, const Candidate& candidate,
                 std::vector<std::string>& notes) const override {
    if (!candidate.improvement.threads.empty() && !candidate.improvement.is_resource) {
      if (candidate.improvement.size_before == 1)
        notes.emplace_back(
            "one thread did all of this: what it touched alone others will touch, too; an event loop hands it to a "
            "pool of "
            "so many");
      return;
    }
    if (!candidate.improvement.is_resource &&
        trace.pools[candidate.improvement.pool.index()].kind != format::PoolKind::permits)
      return;
    notes.emplace_back(
        "of permits: whether what they stand for, as connections, allows more, the recording does not say");
  }
};

constexpr PoolSize kPoolSize;

}  // namespace

const Kind* const kinds::pool_size = &kPoolSize;

}  // namespace contrafact::improve
