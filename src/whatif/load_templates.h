// The recorded requests of a service, ready to be copied into programs of other loads (load.h).
//
// Immutable after construction; linear in the program's operations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/facts.h"
#include "whatif/idle_core_costs.h"
#include "whatif/request_costs.h"
#include "whatif/request_run.h"
#include "whatif/request_template.h"
#include "whatif/sim_program.h"
#include "whatif/sim_sections.h"
#include "whatif/waits_between.h"

namespace contrafact::whatif {

class LoadTemplates {
 public:
  static constexpr uint32_t kNoId = UINT32_MAX;

  // `recorded` must outlive it; `run` is of its trace.
  LoadTemplates(const model::Facts& recorded, RequestRun run, std::vector<uint32_t> kept_workers);
  LoadTemplates(const LoadTemplates&) = delete;
  LoadTemplates& operator=(const LoadTemplates&) = delete;

  const SimProgram& program() const { return program_; }
  const model::Trace& trace() const { return run_.trace; }
  // Of the requests that can be drawn, and how long each took in the recording (where a thread wakes those that serve: with what it
  // computed).
  const std::vector<RequestTemplate>& all() const { return templates_; }
  const std::vector<int64_t>& recorded_ns() const { return recorded_ns_; }
  // Pools of the run: the trace's, then those of threads that serve requests outside of pools, and of own resources. Behind them is the
  // pool of the threads that only hand requests on: it has a name, a kind and a size, and no row.
  const std::vector<format::PoolRow>& pools() const { return pools_; }
  uint32_t hand_on_pool() const { return static_cast<uint32_t>(run_.trace.pools.size()); }
  uint32_t hand_on_threads() const { return handed_.threads; }
  const HandOn& hand_on(uint32_t drawn) const { return handed_.of[drawn]; }
  int64_t beside_ns() const { return beside_ns_; }  // as whatif::beside_ns()
  int64_t cold_ns() const { return cold_.ns; }      // ColdStarts
  double warm_share(uint32_t drawn) const { return cold_.warm_share.empty() ? 1 : cold_.warm_share[drawn]; }
  const model::CoresLeft& cores_left() const { return cores_left_; }
  // Whether a JVM still compiled much of the program while the requests were recorded, under its own thresholds: they will
  // compute less.
  bool still_compiles() const;
  // Of what requests computed in the recording, a share was due to idle cores and is left out where no core is idle. By how much that
  // share may be wrong: two standard errors where it is measured (idle_core_costs.h), half of it where it is an estimate. Linear in the
  // requests' operations.
  double refill_error() const;
  std::string pool_name(uint32_t pool) const;
  format::PoolKind pool_kind(uint32_t pool) const;
  // Of pools that threads of the program's own make up: what their names have in common (ThreadSize); of bounded resources of its own:
  // the name; else "". And the reverse: kNoId for none.
  std::string threads_of(uint32_t pool) const;
  uint32_t pool_of_threads(std::string_view threads) const;
  // Of a pool that stands for a bounded resource of the program's own (own_resources.h); else nullptr.
  const OwnResource* resource_of(uint32_t pool) const;
  // Workers or permits; model::kUnboundedPool: unbounded. With those workers that serve no requests (model/kept_workers.h).
  uint32_t pool_size(uint32_t pool) const { return pool == hand_on_pool() ? handed_.threads : capacities_[pool]; }
  // Of a pool of that size, how many workers can serve requests: one, if none is left over.
  uint32_t workers_of(uint32_t pool, uint32_t size) const;
  // Locks that requests of several clients took; all others are one client's, or one request's, own.
  const std::vector<uint32_t>& shared_locks() const { return shared_locks_; }
  bool is_own_lock(uint32_t lock) const { return lock < is_shared_.size() && !is_shared_[lock]; }
  // Whether a copy of the template brings that stop of the virtual machine.
  bool brings_stop(uint32_t drawn, uint64_t stop) const { return stop_owner_[stop] == drawn; }
  // Requests of one simulation, so that copies of long ones do not fill the memory; and clients for which that is enough.
  uint32_t requests_most() const { return requests_most_; }
  uint32_t clients_most() const;
  // For what requests wait that is no pool of the run; nothing simulates it. The scarcest first.
  std::vector<WaitsBetween> unknown_waits() const;
  // What the simulation leaves out or supposes, a line each.
  std::vector<std::string> notes() const;
  // Of a fiber of the program, as the plan has it.
  std::span<const Op> ops_of(const SectionPlan& plan, uint32_t fiber) const;

 private:
  SimProgram compile();
  void measure_cold_cores();
  double refill_share() const;
  void skeleton_rows();
  void find_templates();
  void drop_slow_beginning();
  void find_cores_left();
  void find_costs();
  DrawnRequests drawn() const;
  double vm_share() const;
  double still_faster() const;
  // A line each; none: there is nothing to say.
  std::optional<std::string> length_note() const;
  std::optional<std::string> kept_workers_note(uint32_t pool) const;
  std::optional<std::string> outside_note() const;
  std::optional<std::string> loop_workers_note() const;
  std::string wait_note(const WaitsBetween& waits) const;
  std::optional<std::string> slow_beginning_note() const;
  std::optional<std::string> still_faster_note() const;
  std::optional<std::string> cores_left_note() const;
  std::optional<std::string> beside_note() const;
  std::optional<std::string> idle_cores_note() const;
  std::optional<std::string> vm_note() const;
  std::optional<std::string> compiles_note() const;
  void find_shared_locks();
  void bound_requests();

  const model::Facts& recorded_;
  const RequestRun run_;
  const model::Facts facts_;
  std::vector<uint32_t> marked_;  // events at which requests are answered
  LeftOut left_out_;
  SimProgram program_;
  std::vector<format::PoolRow> pools_;
  std::vector<uint32_t> capacities_;          // by pool
  const std::vector<uint32_t> kept_workers_;  // by recorded pool
  std::vector<RequestTemplate> templates_;
  std::vector<int64_t> recorded_ns_;  // by template
  HandOns handed_;
  int64_t beside_ns_ = 0;
  std::optional<MeasuredCold> measured_cold_;
  ColdStarts cold_;
  model::CoresLeft cores_left_;
  std::vector<bool> is_shared_;  // by lock
  std::vector<uint32_t> shared_locks_;
  std::vector<uint32_t> stop_owner_;  // by stop of the virtual machine: the template that brings it
  uint32_t requests_most_ = UINT32_MAX;
  size_t slow_ = 0;                       // requests at the beginning that are not drawn
  std::vector<RequestTemplate> outside_;  // requests whose answer none of their tasks sends
};

}  // namespace contrafact::whatif
