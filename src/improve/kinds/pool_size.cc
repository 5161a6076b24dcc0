// pool-size: a pool has another number of workers.

#include "improve/kinds/kinds.h"
#include "improve/size_change.h"

namespace contrafact::improve {
namespace {

class PoolSize final : public SizeChange {
 public:
  constexpr PoolSize() : SizeChange("pool-size", whatif::Target::pool, Effort::setting, 0) {}
};

constexpr PoolSize kPoolSize;

}  // namespace

const Kind* const kinds::pool_size = &kPoolSize;

}  // namespace contrafact::improve
