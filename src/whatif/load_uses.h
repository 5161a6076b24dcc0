// What each recorded request that a load draws from takes of the machine and of the program's bounded resources.
// Pure; linear in the program's operations.
#pragma once

#include <cstdint>
#include <vector>

#include "whatif/load_templates.h"

namespace contrafact::whatif {

// Sums over the request's tasks and threads.
struct RequestUse {
  int64_t core_ns = 0;   // on a core
  int64_t pause_ns = 0;  // asleep, or doing I/O
};

// By drawn request.
std::vector<RequestUse> request_uses(const LoadTemplates& model);
// For how long each holds workers, or permits, of the pool: as recorded. Of LoadTemplates::hand_on_pool(), what handing it on took.
std::vector<int64_t> pool_uses_ns(const LoadTemplates& model, uint32_t pool);
// For how long each holds the lock. All 0: its sections are not recorded.
std::vector<int64_t> lock_uses_ns(const LoadTemplates& model, uint32_t lock);

}  // namespace contrafact::whatif
