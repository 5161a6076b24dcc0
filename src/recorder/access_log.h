// How a working thread hands on a log of all its accesses (format/access_log.h): append_access_chunk(), a chunk at a
// time, as calls of 16 bytes through the thread's own buffer. AccessLogTable is the drainer's side.
//
// The thread neither locks nor allocates. A chunk for which there is no room is dropped as a whole; the thread's next
// chunk reports how many accesses that were.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "format/access_log.h"
#include "recorder/recorder.h"

namespace contrafact::recorder {

// Travels in front of the chunk's bytes.
struct AccessChunkHead {
  int64_t begin_ns;
  int64_t end_ns;
  uint32_t accesses;
  uint32_t bytes;
  uint32_t gap;
  uint32_t lost;
};
static_assert(sizeof(AccessChunkHead) == 32, "two calls");

// False if there was no room. About a nanosecond for four bytes. REQUIRES: as for Recorder::append; `bytes` has the
// length that `head` says, at most kAccessChunkBytesMax, and may be read up to the next multiple of 16.
bool append_access_chunk(Client* client, const AccessChunkHead& head, const uint8_t* bytes);

// Puts chunks together again. Thread safety: the drainer's thread only. Bounds: one chunk of each stream, and the
// chunks that wait to be taken.
class AccessLogTable {
 public:
  // The words of a kAccessLogCall of producer `stream`.
  void add(uint32_t stream, const uint32_t* words);
  // Events of the stream were lost.
  void forget(uint32_t stream);
  // Whole chunks that were not taken yet. They live until the next call of any member.
  std::vector<format::AccessChunk> take_new();
  bool is_empty() const { return new_chunks_.empty(); }
  // So much is waiting that it should be taken before more is added.
  bool is_heavy() const { return new_bytes_.size() >= kHeavyBytes; }

 private:
  static constexpr size_t kHeavyBytes = 2 << 20;
  struct Unfinished {
    uint32_t words = 0;  // of the head that have come
    AccessChunkHead head{};
    std::vector<uint8_t> bytes;
  };
  struct NewChunk {
    uint32_t stream;
    AccessChunkHead head;
    size_t begin;
  };
  void finish(uint32_t stream, Unfinished& chunk);

  std::unordered_map<uint32_t, Unfinished> unfinished_;  // by stream
  std::vector<NewChunk> new_chunks_;
  std::vector<uint8_t> new_bytes_;
  std::vector<uint8_t> taken_bytes_;
};

}  // namespace contrafact::recorder
