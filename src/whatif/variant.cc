#include "whatif/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "whatif/lock_edits.h"

namespace contrafact::whatif {
namespace {

std::string_view words_of(Treatment treatment) {
  switch (treatment) {
    case Treatment::inline_at_spawn:
      return "be inlined";
    case Treatment::inline_at_wait:
      return "be inlined at its wait";
    case Treatment::combinator:
      return "become a combinator";
    case Treatment::merge:
      return "be merged";
    case Treatment::split:
      return "be split";
    case Treatment::keep:
      break;
  }
  return "stay";
}

base::Status treat(const model::Trace& trace, const Improvement& improvement, std::vector<Treatment>& treatments) {
  const Treatment wanted = improvement.optimisation->treatment();
  if (treatments.empty()) treatments.assign(trace.tasks.size(), Treatment::keep);
  for (const model::TaskId task : improvement.tasks) {
    if (task.index() >= treatments.size()) {
      return base::Error{fmt::format("{}: the trace has no task {}", name_of(improvement.optimisation), task.value)};
    }
    Treatment& treatment = treatments[task.index()];
    if (treatment != Treatment::keep && treatment != wanted) {
      return base::Error{fmt::format("task {} ({}) cannot both {} and {}: the improvements exclude each other",
                                     task.value, trace.method_label(trace.tasks[task.index()].body),
                                     words_of(treatment), words_of(wanted))};
    }
    treatment = wanted;
  }
  return {};
}

// Fewer or more tasks. One that is merged or split cannot be treated in another way as well.
base::Status regrain(const model::Trace& trace, const Improvement& improvement, Variant& variant,
                     std::vector<Treatment>& grains) {
  const Treatment wanted = improvement.optimisation->treatment();
  const bool regroups = wanted == Treatment::merge || wanted == Treatment::split;
  if (regroups && improvement.size_after == 0)
    return base::Error{fmt::format("{}: no size", name_of(improvement.optimisation))};
  if (base::Status status = treat(trace, improvement, regroups ? grains : variant.treatments); !status) return status;
  if (wanted == Treatment::merge) variant.merges.push_back({improvement.tasks, improvement.size_after});
  if (wanted == Treatment::split) variant.splits.push_back({improvement.tasks, improvement.size_after});
  return {};
}

// Errors: a task is merged or split, and treated in another way as well.
base::Status check_grains(const model::Trace& trace, const Variant& variant, const std::vector<Treatment>& grains) {
  if (grains.empty() || variant.treatments.empty()) return {};
  for (size_t i = 0; i < grains.size(); ++i) {
    if (grains[i] == Treatment::keep || variant.treatments[i] == Treatment::keep) continue;
    return base::Error{fmt::format("task {} ({}) cannot both {} and {}: the improvements exclude each other", i,
                                   trace.method_label(trace.tasks[i].body), words_of(grains[i]),
                                   words_of(variant.treatments[i]))};
  }
  return {};
}

base::Status resize(const model::Trace& trace, const Improvement& improvement, Variant& variant) {
  if (improvement.size_after == 0) return base::Error{fmt::format("{}: no size", name_of(improvement.optimisation))};
  if (target_of(improvement.optimisation) == Target::machine) {
    if (variant.cores != 0 && variant.cores != improvement.size_after) return base::Error{"two numbers of cores"};
    variant.cores = improvement.size_after;
    return {};
  }
  if (!improvement.threads.empty()) {
    if (std::ranges::find(variant.thread_sizes, improvement.threads, &ThreadSize::threads) !=
        variant.thread_sizes.end())
      return base::Error{fmt::format("two numbers of threads {}", improvement.threads)};
    variant.thread_sizes.push_back({improvement.threads, improvement.size_after});
    return {};
  }
  if (improvement.pool.index() >= trace.pools.size())
    return base::Error{fmt::format("{}: the trace has no such pool", name_of(improvement.optimisation))};
  if (std::ranges::find(variant.pool_sizes, improvement.pool, &PoolSize::pool) != variant.pool_sizes.end()) {
    return base::Error{fmt::format("two sizes for pool {}", trace.string(trace.pools[improvement.pool.index()].name))};
  }
  variant.pool_sizes.push_back({improvement.pool, improvement.size_after});
  return {};
}

}  // namespace

base::Result<Variant> variant_of(const model::Trace& trace, std::span<const model::CriticalSection> sections,
                                 std::span<const Improvement> improvements) {
  Variant variant;
  std::vector<Improvement> of_sections;
  std::vector<Treatment> grains;  // by task: how it is merged or split
  for (const Improvement& improvement : improvements) {
    base::Status status;
    switch (target_of(improvement.optimisation)) {
      case Target::tasks:
        status = treat(trace, improvement, variant.treatments);
        break;
      case Target::grain:
        status = regrain(trace, improvement, variant, grains);
        break;
      case Target::moves:
        improvement.optimisation->move(trace, improvement, variant);
        break;
      case Target::sections:
        of_sections.push_back(improvement);
        break;
      case Target::pool:
      case Target::machine:
        status = resize(trace, improvement, variant);
        break;
    }
    if (!status) return status.error();
  }
  if (base::Status status = check_grains(trace, variant, grains); !status) return status.error();
  if (of_sections.empty()) return variant;
  base::Result<std::vector<SectionEdit>> edits = edits_of(trace, sections, of_sections);
  if (!edits) return edits.error();
  variant.edits = *std::move(edits);
  return variant;
}

}  // namespace contrafact::whatif
