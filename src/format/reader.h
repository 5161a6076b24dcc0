// Reader: opens a trace, whole or damaged, and hands its blocks, decoded, to a visitor in the file's order.
//
// Damaged files: a block whose checksum does not fit is skipped, the search goes on at the next marker, and `Loss`
// counts the block. Everything handed to the visitor comes from a block whose checksum fits and whose content keeps the
// grammar; still, ids may name rows that were lost with a damaged block: the visitor must check them against the rows
// that it got.
//
// Thread safety: one thread at a time. Bounds: memory beyond the file's own bytes is at most a few times
// kBlockRawBytesMax, whatever the file says.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/event_block.h"
#include "format/writer.h"

namespace contrafact::format {

// The parts that could not be read. `model::Loss` adds the events that the recorder itself dropped (gap events,
// Trailer::events_dropped).
struct ReadLoss {
  uint64_t blocks_damaged = 0;  // unreadable blocks, as far as they could be distinguished
  uint64_t blocks_missing = 0;  // holes in the blocks' numbering, damaged ones included
  uint64_t bytes_skipped = 0;
  bool any_event = false;          // a block of events could be read
  bool cut_off = false;            // no trailer: the program was killed, or the copy is incomplete
  std::vector<std::string> notes;  // one line each, for a person
};

// Override what you need. Row ids are first, first+1, ...; views live until the call returns.
class Visitor {
 public:
  virtual ~Visitor() = default;
  virtual void on_fact(std::string_view /*key*/, std::string_view /*value*/) {}
  virtual void on_strings(StringId /*first*/, std::span<const std::string_view>) {}
  virtual void on_methods(MethodId /*first*/, std::span<const MethodRow>) {}
  virtual void on_contexts(ContextId /*first*/, std::span<const ContextRow>) {}
  virtual void on_pools(PoolId /*first*/, std::span<const PoolRow>) {}
  virtual void on_threads(ThreadId /*first*/, std::span<const ThreadRow>) {}
  virtual void on_method_addresses(std::span<const MethodAddressRow>) {}
  virtual void on_locks(LockId /*first*/, std::span<const LockRow>) {}
  virtual void on_connections(ConnectionId /*first*/, std::span<const ConnectionRow>) {}
  virtual void on_endpoints(EndpointId /*first*/, std::span<const EndpointRow>) {}
  virtual void on_access_sets(AccessSetId /*first*/, std::span<const AccessSetRow>) {}
  // Logs of accesses are most of a file that has them: they are unpacked only for readers that ask for them. Their
  // bytes live as long as the call, and may be damaged (AccessDecoder::good). `first` is the number of chunks before
  // these in the file as written: if it differs from the number that came so far, the others were lost to damage.
  virtual bool wants_access_chunks() const { return false; }
  virtual void on_access_chunks(uint32_t /*first*/, std::span<const AccessChunk>) {}
  // Blocks before the next one of events, or its outline, are gone: they may have been events of any thread.
  virtual void on_hole() {}
  virtual void on_outline(const EventOutline&) {}  // of read_in_passes() and read_outlines()
  virtual void on_events(const EventBlock&) {}
  virtual void on_trailer(const Trailer&) {}
};

// The message for opening a `name` that is no trace at all: says so, and how to get a trace.
std::string no_trace_message(std::string_view name);

class Reader {
 public:
  // Errors: the file cannot be read, is empty, is no trace, or was written by a newer Contrafact.
  static base::Result<Reader> open(const std::string& path);
  static base::Result<Reader> from_bytes(std::vector<uint8_t> bytes, std::string name);

  // Visits every readable block, once. May be called again for another pass.
  ReadLoss read(Visitor& visitor) const;
  // The same in three passes, for a visitor that needs to know how much will come: first everything but the events, so
  // that all rows come before the events that name them; then an outline of each block of events; then these blocks'
  // events in the same order. A block whose outline was seen may still turn out to break the grammar: then its events
  // do not come.
  ReadLoss read_in_passes(Visitor& visitor) const;

  // The same in one pass, with an outline in the place of each block of events, which are not unpacked.
  ReadLoss read_outlines(Visitor& visitor) const;

  uint32_t version() const { return version_; }
  uint64_t byte_count() const { return bytes_.size(); }
  const std::string& name() const { return name_; }

 private:
  Reader() = default;
  std::vector<uint8_t> bytes_;
  std::string name_;
  uint32_t version_ = 0;
  size_t begin_ = 0;  // of the first block
  bool header_damaged_ = false;
};

}  // namespace contrafact::format
