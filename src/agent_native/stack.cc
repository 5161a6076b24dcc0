// The callers of a call site, by the unwinder that exceptions use. Needs no frame pointers; since glibc 2.35 it finds
// its tables without a lock and allocates nothing.
#include <unwind.h>

#include "agent_native/recording.h"

namespace contrafact::agent_native {
namespace {

constexpr uint32_t kCallersMax = 6;  // enough to leave a library's wrapper and see who asked
constexpr uint32_t kOwnFramesMax = 8;

struct Walk {
  uint64_t site;
  uint32_t skipped = 0;
  bool at_site = false;
  uint32_t count = 0;
  uint64_t callers[kCallersMax] = {};
};

_Unwind_Reason_Code step(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  const auto address = static_cast<uint64_t>(_Unwind_GetIP(context));
  if (!walk.at_site) {
    walk.at_site = address == walk.site;
    return ++walk.skipped > kOwnFramesMax ? _URC_END_OF_STACK : _URC_NO_REASON;
  }
  if (address == 0) return _URC_END_OF_STACK;
  walk.callers[walk.count++] = address;
  return walk.count == kCallersMax ? _URC_END_OF_STACK : _URC_NO_REASON;
}

}  // namespace

void append_stack(Client* client, uint64_t site) {
  Inside inside;
  Walk walk{site};
  _Unwind_Backtrace(step, &walk);
  for (uint32_t i = 0; i < walk.count; i += 2) {
    Recorder::append_frames(client, walk.callers[i], i + 1 < walk.count ? walk.callers[i + 1] : 0);
  }
}

}  // namespace contrafact::agent_native
