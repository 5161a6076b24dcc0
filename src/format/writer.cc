#include "format/writer.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "format/rows.h"

namespace contrafact::format {
namespace {

// A block of rows is closed when it reaches this; one row more (a text, cut at kTextBytesMax) still fits in a block.
constexpr size_t kRowBytesTarget = 1 << 20;
constexpr size_t kTextBytesMax = 1 << 20;

std::string_view cut(std::string_view text) {
  return text.substr(0, kTextBytesMax);
}

std::span<const uint8_t> bytes_of(const std::vector<uint8_t>& bytes) {
  return bytes;
}

}  // namespace

uint64_t header_checksum(const FileHeader& header) {
  return XXH64(&header, offsetof(FileHeader, checksum), 0);
}
uint64_t block_checksum(const BlockHeader& header, std::span<const uint8_t> payload) {
  return XXH64(payload.data(), payload.size(), XXH64(&header, offsetof(BlockHeader, checksum), 0));
}

Writer::Writer(std::unique_ptr<Sink> sink, int compression_level)
    : sink_(std::move(sink)), groups_(compression_level) {}

base::Result<std::unique_ptr<Writer>> Writer::create(std::unique_ptr<Sink> sink, int compression_level) {
  std::unique_ptr<Writer> writer(new Writer(std::move(sink), compression_level));
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFormatVersion;
  header.header_bytes = sizeof(FileHeader);
  header.checksum = header_checksum(header);
  const auto* first = reinterpret_cast<const uint8_t*>(&header);
  if (base::Status written = writer->sink_->write({first, sizeof header}); !written) return written.error();
  writer->bytes_written_ = sizeof header;
  return writer;
}

base::Status Writer::write_block(BlockType type, uint32_t first, uint32_t count) {
  const std::span<uint8_t> payload = std::span(block_).subspan(sizeof(BlockHeader));
  BlockHeader header{};
  std::memcpy(header.marker, kMarker, sizeof kMarker);
  header.type = static_cast<uint8_t>(type);
  header.stored_bytes = static_cast<uint32_t>(payload.size());
  header.count = count;
  header.first = first;
  header.sequence = sequence_;
  header.checksum = block_checksum(header, payload);
  std::memcpy(block_.data(), &header, sizeof header);
  if (base::Status written = sink_->write(block_); !written) {
    if (status_.ok()) status_ = written;
    return written;
  }
  ++sequence_;
  bytes_written_ += block_.size();
  last_blocks_.push_back({block_.size(), type == BlockType::events ? count : 0});
  last_blocks_bytes_ += block_.size();
  while (last_blocks_bytes_ - last_blocks_.front().bytes >= kKnownBytes) {
    last_blocks_bytes_ -= last_blocks_.front().bytes;
    last_blocks_.pop_front();
  }
  return {};
}

template <typename Row>
base::Status Writer::add_rows(BlockType type, uint32_t& next_id, std::span<const Row> rows) {
  size_t done = 0;
  while (done < rows.size() && status_.ok()) {
    rows_.clear();
    const size_t begin = done;
    while (done < rows.size() && rows_.size() < kRowBytesTarget) {
      if constexpr (std::is_same_v<Row, std::string_view>) {
        put_row(rows_, cut(rows[done++]));
      } else {
        put_row(rows_, rows[done++]);
      }
    }
    begin_block();
    const auto section = bytes_of(rows_);
    groups_.put(block_, std::span(&section, 1));
    const auto count = static_cast<uint32_t>(done - begin);
    if (base::Status written = write_block(type, next_id, count); !written) return written;
    next_id += count;
  }
  return status_;
}

base::Status Writer::add_strings(std::span<const std::string_view> rows) {
  return add_rows(BlockType::strings, strings_, rows);
}
base::Status Writer::add_methods(std::span<const MethodRow> rows) {
  return add_rows(BlockType::methods, methods_, rows);
}
base::Status Writer::add_contexts(std::span<const ContextRow> rows) {
  return add_rows(BlockType::contexts, contexts_, rows);
}
base::Status Writer::add_pools(std::span<const PoolRow> rows) {
  return add_rows(BlockType::pools, pools_, rows);
}
base::Status Writer::add_threads(std::span<const ThreadRow> rows) {
  return add_rows(BlockType::threads, threads_, rows);
}
base::Status Writer::add_method_addresses(std::span<const MethodAddressRow> rows) {
  return add_rows(BlockType::addresses, addresses_, rows);
}
base::Status Writer::add_locks(std::span<const LockRow> rows) {
  return add_rows(BlockType::locks, locks_, rows);
}
base::Status Writer::add_connections(std::span<const ConnectionRow> rows) {
  return add_rows(BlockType::connections, connections_, rows);
}
base::Status Writer::add_endpoints(std::span<const EndpointRow> rows) {
  return add_rows(BlockType::endpoints, endpoints_, rows);
}
base::Status Writer::add_access_sets(std::span<const AccessSetRow> rows) {
  return add_rows(BlockType::access_sets, access_sets_, rows);
}

base::Status Writer::add_access_chunks(std::span<const AccessChunk> chunks) {
  return add_rows(BlockType::access_log, access_chunks_, chunks);
}

base::Status Writer::add_fact(std::string_view key, std::string_view value) {
  if (!status_.ok()) return status_;
  rows_.clear();
  put_text(rows_, cut(key));
  put_text(rows_, cut(value));
  begin_block();
  const auto section = bytes_of(rows_);
  groups_.put(block_, std::span(&section, 1));
  return write_block(BlockType::facts, 0, 1);
}

base::Status Writer::add_events(EventEncoder& encoder) {
  const uint32_t count = encoder.event_count();
  if (count == 0 || !status_.ok()) {
    encoder.clear();
    return status_;
  }
  begin_block();
  encoder.encode(groups_, block_);
  encoder.clear();
  if (base::Status written = write_block(BlockType::events, 0, count); !written) return written;
  events_written_ += count;
  return {};
}

base::Status Writer::finish(Trailer trailer) {
  CHECK(!has_ended_);
  rows_.clear();
  put_text(rows_, cut(trailer.exit_reason));
  put_varint(rows_, events_written_);
  put_varint(rows_, trailer.events_dropped);
  put_varint(rows_, zigzag(trailer.end_ns));
  begin_block();
  const auto section = bytes_of(rows_);
  groups_.put(block_, std::span(&section, 1));
  if (base::Status written = write_block(BlockType::trailer, 0, 1); !written) return status_;
  has_ended_ = true;
  const base::Status closed = sink_->close();
  return status_.ok() ? closed : status_;
}

std::optional<uint32_t> Writer::take_back() {
  CHECK(!status_.ok() && !has_ended_);
  if (last_blocks_.empty() || !sink_->take_back(last_blocks_.back().bytes)) return std::nullopt;
  const Written last = last_blocks_.back();
  last_blocks_.pop_back();
  last_blocks_bytes_ -= last.bytes;
  bytes_written_ -= last.bytes;
  events_written_ -= last.events;
  --sequence_;
  return last.events;
}

}  // namespace contrafact::format
