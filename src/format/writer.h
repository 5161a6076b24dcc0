// Writer: a trace as a sequence of checksummed blocks into a Sink. Each call writes whole blocks at once.
//
// Thread safety: one thread at a time.
// Invariants:
//  1. The caller writes a table's row before the first event (or row) that names it.
//  2. The rows of a table are written in the order of their ids, without holes.
//  3. After an error nothing more is written but the trailer, by finish(); every call returns the error.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/access_log.h"
#include "format/access_set.h"
#include "format/event.h"
#include "format/event_block.h"
#include "format/file_layout.h"
#include "format/sink.h"

namespace contrafact::format {

struct Trailer {
  std::string exit_reason;      // "exit", "disk full", ...
  uint64_t events = 0;          // filled by the writer
  uint64_t events_dropped = 0;  // counted by the recorder
  int64_t end_ns = 0;
};

class Writer {
 public:
  // Writes the file header. `compression_level` is zstd's, 0 for none.
  static base::Result<std::unique_ptr<Writer>> create(std::unique_ptr<Sink> sink, int compression_level = 1);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  base::Status add_fact(std::string_view key, std::string_view value);
  // The next rows of a table; ids go on where the last call ended.
  base::Status add_strings(std::span<const std::string_view> rows);
  base::Status add_methods(std::span<const MethodRow> rows);
  base::Status add_contexts(std::span<const ContextRow> rows);
  base::Status add_pools(std::span<const PoolRow> rows);
  base::Status add_threads(std::span<const ThreadRow> rows);
  // Not numbered: each row names its method.
  base::Status add_method_addresses(std::span<const MethodAddressRow> rows);
  base::Status add_locks(std::span<const LockRow> rows);
  base::Status add_connections(std::span<const ConnectionRow> rows);
  base::Status add_endpoints(std::span<const EndpointRow> rows);
  // REQUIRES: each is canonical and has at most kAccessRangesMax ranges.
  base::Status add_access_sets(std::span<const AccessSetRow> rows);
  // Each has at most kAccessChunkBytesMax bytes.
  base::Status add_access_chunks(std::span<const AccessChunk> chunks);
  // Writes the encoder's events as one block, and clears it. Nothing happens if it is empty.
  base::Status add_events(EventEncoder& encoder);
  // The trailer. Nothing may follow it. Where it could not be written (has_ended()), take_back() may make room for it.
  base::Status finish(Trailer trailer);
  bool has_ended() const { return has_ended_; }
  // Removes the last block, and returns how many events it has. None: the sink cannot, or no block is known that is so
  // young. The blocks that are known have kKnownBytes together, or are all. REQUIRES: finish() failed.
  std::optional<uint32_t> take_back();

  const Sink& sink() const { return *sink_; }
  const base::Status& status() const { return status_; }
  uint64_t bytes_written() const { return bytes_written_; }
  uint64_t events_written() const { return events_written_; }

 private:
  // More than a trailer has: its text names a file (4 KiB at most), beside 100 bytes of words and numbers.
  static constexpr uint64_t kKnownBytes = 8 << 10;
  struct Written {
    uint64_t bytes;
    uint32_t events;
  };

  Writer(std::unique_ptr<Sink> sink, int compression_level);
  template <typename Row>
  base::Status add_rows(BlockType type, uint32_t& next_id, std::span<const Row> rows);
  base::Status write_block(BlockType type, uint32_t first, uint32_t count);  // of what is in block_, after the header
  void begin_block() { block_.resize(sizeof(BlockHeader)); }

  std::unique_ptr<Sink> sink_;
  base::Status status_;
  GroupWriter groups_;
  std::vector<uint8_t> rows_;
  std::vector<uint8_t> block_;
  uint32_t sequence_ = 0;
  uint64_t bytes_written_ = 0;
  uint64_t events_written_ = 0;
  std::deque<Written> last_blocks_;  // the youngest is the last
  uint64_t last_blocks_bytes_ = 0;   // theirs
  uint32_t strings_ = 0, methods_ = 0, contexts_ = 0, pools_ = 0, threads_ = 0, addresses_ = 0, locks_ = 0,
           access_sets_ = 0, access_chunks_ = 0, connections_ = 0, endpoints_ = 0;
  bool has_ended_ = false;
};

}  // namespace contrafact::format
