// Builds the program of one load (load.h): copies of recorded requests, and the clients that ask for them. A part of
// load.h. Linear in the copies' operations. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "whatif/load_templates.h"

namespace contrafact::whatif {

class RequestCopier {
 public:
  static constexpr uint32_t kNoCopy = UINT32_MAX;

  // Of `model`, as `plan` and `treatments` (by recorded task) change it; all must outlive it, and it the program.
  RequestCopier(const LoadTemplates& model, const SectionPlan& plan, std::span<const Treatment> treatments);

  struct Copied {
    uint32_t handed;  // the task that a client hands out
    uint32_t answer;  // the future that it waits for
    uint32_t beside;  // what else it hands out; kNoCopy: nothing
  };
  // Copies the template. The time of its answer is that of the mark behind `begin_mark`.
  Copied copy(uint32_t drawn, uint32_t begin_mark);

  // A thread of a client that does these operations.
  void add_client(int64_t begins_ns, const std::vector<Op>& ops) { clients_.push_back({begins_ns, ops}); }

  // Uses it up, but for its memory, which the program refers to.
  std::pair<SimProgram, SectionPlan> finish(uint32_t marks);

  std::vector<Treatment> take_treatments() { return std::move(made_treatments_); }

 private:
  struct Client {
    int64_t begins_ns;
    std::vector<Op> ops;
  };
  void add_pool(std::string name, format::PoolKind kind, uint32_t size);
  uint32_t copy_of(const RequestTemplate& from, uint32_t task) const;
  uint32_t add_row(const model::TaskRow& row, bool is_dynamic, bool is_called, bool by_op);
  void add_task(uint32_t task);
  uint32_t add_future();

  // Pools that no recorded one is: of the threads that only hand requests on, and of what is computed beside requests.
  uint32_t hand_on_pool() const { return model_.hand_on_pool(); }
  uint32_t beside_pool() const { return model_.hand_on_pool() + 1; }

  // A task that computes, and then hands out another one, if that is one.
  uint32_t add_own_task(uint32_t pool, int64_t cpu_ns, int64_t refill_ns, uint32_t then);

  // Wake-ups within the request, which are copied; and signals of conditions, each of which stands for the wait at the
  // same place in their order. (A fiber cannot wake itself: then another request's signal had ended the wait.)
  struct Wakes {
    bool waits = false, fires = false, wakes_itself = false;
    uint32_t waits_in = kNoCopy;  // fiber
    void wait(uint32_t fiber) { waits = true, waits_in = fiber; }
    void fire(uint32_t fiber) { fires = true, wakes_itself = waits && waits_in == fiber; }
  };
  using WakeKey = std::pair<OpCode, uint64_t>;  // token_wait and its number; credit_wait and condition, count

  // Of a template: what is the same in all of its copies, and found for the first.
  struct Known {
    std::vector<WakeKey> wakes;  // that are copied, sorted: the n-th is the n-th of the copy's tokens
    // Pools of permits, sorted, that a request takes and does not give back, or gives without having taken them: these are signals between
    // it and others, not something bounded that it uses.
    std::vector<uint32_t> signals;
    // By fiber, sorted: the positions of acquisitions whose release is outside of the stretch, and of such releases. Such a lock would stay
    // held for ever.
    std::unordered_map<uint32_t, std::vector<size_t>> unpaired;
  };
  struct Copying {
    uint32_t drawn;
    const RequestTemplate& from;
    const Known& known;
  };

  template <typename Visit>
  void each_op(const RequestTemplate& from, Visit visit) const;

  static uint64_t nth(uint64_t condition, uint32_t count) { return (condition & UINT32_MAX) << 32 | count; }

  Known find_known(const RequestTemplate& from) const;
  std::vector<WakeKey> find_wakes(const RequestTemplate& from) const;
  std::vector<uint32_t> find_signals(const RequestTemplate& from) const;
  static std::vector<size_t> find_unpaired(std::span<const Op> ops);
  void add_tokens(const Known& known);
  uint32_t token_at(const Known& known, const Op& op);
  void put(OpCode code, uint64_t value) { made_.ops.push_back({value, kNoCopy, code}); }

  void answer();
  void copy_fiber(const Copying& copying, uint32_t fiber, uint32_t as_task);
  void copy_thread(const Copying& copying, uint32_t thread);
  void copy_ops(const Copying& copying, uint32_t fiber, uint32_t as_task);
  std::optional<Op> copied(const Copying& copying, const Op& recorded);
  static std::optional<Op> with_value(Op op, OpCode code, uint32_t value);
  void copy_ties(const RequestTemplate& from);

  const LoadTemplates& model_;
  const SectionPlan& plan_;
  const std::span<const Treatment> treatments_;
  std::vector<uint32_t> local_;  // by recorded fiber: its position in the template that was copied last
  SimProgram made_;
  model::Trace trace_;
  std::vector<model::ThreadUse> uses_;
  model::HandOverCosts costs_;
  std::vector<Fiber> task_fibers_, thread_fibers_;
  std::vector<bool> background_;
  std::vector<Treatment> made_treatments_;
  std::vector<std::pair<uint32_t, uint32_t>> ties_;  // source, dependent
  std::vector<Client> clients_;
  std::vector<std::optional<Known>> known_;  // by template
  // Of the request that is being copied:
  uint32_t first_task_ = 0, answer_ = 0, answer_mark_ = 0;
  uint32_t first_token_ = 0;
  std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> credit_counts_;
};

}  // namespace contrafact::whatif
