// AccessLog: every access of one thread, encoded (format/access_log.h) and handed on chunk by chunk, each with the two
// times between which its accesses happened: at each call of an interposed function, before and after each system call
// that translated code makes itself, and whenever the translator's log is full, after about 4,000 accesses.
//
// Thread safety: its thread only; between two calls here a signal's handler may call missed(). Neither allocates nor
// locks. What the recorder has no room for is dropped and counted. About 10 ns for an access.
#pragma once

#include <atomic>

#include "agent_native/time_window.h"
#include "format/access_log.h"
#include "recorder/access_log.h"
#include "translate/segment.h"

namespace contrafact::agent_native {

// Of all threads.
struct AccessTotals {
  std::atomic<uint64_t> accesses{0};
  std::atomic<uint64_t> lost{0};
  std::atomic<uint64_t> bytes{0};  // encoded
};

class AccessLog final : public translate::AccessSink {
 public:
  AccessLog(recorder::Client* client, TimeWindow window, AccessTotals& totals)
      : client_(client), window_(window), totals_(totals) {}

  // All that is logged from here on happened after `now_ns`.
  void begin(int64_t now_ns);
  void missed(format::SetGap gap) {
    if (gap_ == format::SetGap::complete) gap_ = gap;
  }

  void take(std::span<const translate::Access> accesses) override;
  void flushed() override;
  void missed(translate::Reason reason) override;
  bool is_wanted() const override;

 private:
  void send(int64_t now_ns);

  // Room for the translator's whole log, unless its accesses are all of unusual sizes and far from each other.
  static constexpr size_t kBytesMax = 48 << 10;

  recorder::Client* const client_;
  const TimeWindow window_;
  AccessTotals& totals_;
  int64_t begin_ns_ = 0;
  format::SetGap gap_ = format::SetGap::complete;
  uint32_t accesses_ = 0;
  uint32_t lost_ = 0;
  size_t used_ = 0;
  format::AccessEncoder encoder_;
  uint8_t bytes_[kBytesMax + 16];  // chunks are read in pieces of 16
};

}  // namespace contrafact::agent_native
