#include "agent_native/access_log.h"

#include "agent_native/recording.h"
#include "agent_native/set_gaps.h"

namespace contrafact::agent_native {

void AccessLog::begin(int64_t now_ns) {
  if (accesses_ > 0) send(now_ns);
  begin_ns_ = now_ns;
}

void AccessLog::take(std::span<const translate::Access> accesses) {
  for (const translate::Access& access : accesses) {
    if (used_ > kBytesMax - format::AccessEncoder::kBytesMax) send(g_clock.now_ns());
    const format::LoggedAccess logged{access.begin, access.length_bytes, access.flags};
    if (!format::is_sound(logged)) continue;
    used_ = static_cast<size_t>(encoder_.put(bytes_ + used_, logged) - bytes_);
    ++accesses_;
  }
}

void AccessLog::flushed() {
  send(g_clock.now_ns());
}

void AccessLog::missed(translate::Reason reason) {
  missed(gap_of(reason));
}

bool AccessLog::is_wanted() const {
  return window_.period_ns == 0 || window_.is_open(g_clock.now_ns());
}

void AccessLog::send(int64_t now_ns) {
  if (accesses_ == 0) return;
  const Inside inside;  // what the recorder calls is no handler's
  if (!is_original()) return;
  const format::SetGap gap = gap_;
  gap_ = format::SetGap::complete;
  const recorder::AccessChunkHead head{.begin_ns = begin_ns_,
                                       .end_ns = now_ns,
                                       .accesses = accesses_,
                                       .bytes = static_cast<uint32_t>(used_),
                                       .gap = static_cast<uint32_t>(gap),
                                       .lost = lost_};
  if (recorder::append_access_chunk(client_, head, bytes_)) {
    totals_.accesses.fetch_add(accesses_, std::memory_order_relaxed);
    totals_.bytes.fetch_add(used_, std::memory_order_relaxed);
    lost_ = 0;
  } else {
    totals_.lost.fetch_add(accesses_, std::memory_order_relaxed);
    lost_ += accesses_;
    missed(gap == format::SetGap::complete ? format::SetGap::lost : gap);
  }
  encoder_.begin_chunk();
  accesses_ = 0;
  used_ = 0;
  begin_ns_ = now_ns;
}

}  // namespace contrafact::agent_native
