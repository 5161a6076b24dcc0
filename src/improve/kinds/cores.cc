// cores: the machine has another number of cores.

#include "improve/kinds/kinds.h"
#include "improve/size_change.h"

namespace contrafact::improve {
namespace {

class Cores final : public SizeChange {
 public:
  constexpr Cores() : SizeChange("cores", whatif::Target::machine, Effort::hardware, 5) {}
};

constexpr Cores kCores;

}  // namespace

const Kind* const kinds::cores = &kCores;

}  // namespace contrafact::improve
