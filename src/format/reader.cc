#include "format/reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/counted.h"
#include "base/file.h"
#include "format/rows.h"

namespace contrafact::format {
namespace {

struct FoundBlock {
  BlockHeader header;
  std::span<const uint8_t> payload;
  size_t end;  // offset behind it
};

// Walks over the blocks of a file and, after damage, finds the next one.
class BlockScanner {
 public:
  BlockScanner(std::span<const uint8_t> bytes, size_t begin) : bytes_(bytes), at_(begin), hash_budget_(budget(bytes)) {}

  // The next block whose checksum fits; nullopt at the end. Adds to loss().
  std::optional<FoundBlock> next() {
    if (at_ >= bytes_.size()) return std::nullopt;
    if (const auto block = block_at(at_)) {
      at_ = block->end;
      return block;
    }
    const size_t bad = at_;
    // A block that the end of the file cuts is no damage of its own: the missing trailer says it.
    const bool cut = is_cut_block(bad);
    for (size_t at = find_marker(bad + 1); at < bytes_.size(); at = find_marker(at + 1)) {
      if (const auto block = block_at(at)) {
        ++loss_.blocks_damaged;
        loss_.bytes_skipped += at - bad;
        at_ = block->end;
        return block;
      }
    }
    if (!cut) ++loss_.blocks_damaged;
    loss_.bytes_skipped += bytes_.size() - bad;
    at_ = bytes_.size();
    return std::nullopt;
  }

  ReadLoss& loss() { return loss_; }

 private:
  // Markers with false lengths could make the search hash every byte as often as there are markers. A file is hashed 8
  // times at most (64 MiB are always granted); beyond that, bytes that cannot be identified are skipped.
  static uint64_t budget(std::span<const uint8_t> bytes) { return uint64_t{bytes.size()} * 8 + (uint64_t{64} << 20); }

  std::optional<FoundBlock> block_at(size_t at) {
    const size_t left = bytes_.size() - at;
    if (left < sizeof(BlockHeader)) return std::nullopt;
    FoundBlock block;
    std::memcpy(&block.header, &bytes_[at], sizeof(BlockHeader));
    const BlockHeader& header = block.header;
    if (std::memcmp(header.marker, kMarker, sizeof kMarker) != 0 || header.type == 0 || header.type > kBlockTypeLast ||
        header.stored_bytes > kBlockStoredBytesMax || header.stored_bytes > left - sizeof(BlockHeader)) {
      return std::nullopt;
    }
    if (header.stored_bytes > hash_budget_) return std::nullopt;
    hash_budget_ -= header.stored_bytes;
    block.payload = bytes_.subspan(at + sizeof(BlockHeader), header.stored_bytes);
    if (block_checksum(header, block.payload) != header.checksum) return std::nullopt;
    block.end = at + sizeof(BlockHeader) + header.stored_bytes;
    return block;
  }

  bool is_cut_block(size_t at) const {
    const size_t left = bytes_.size() - at;
    if (std::memcmp(&bytes_[at], kMarker, std::min(left, sizeof kMarker)) != 0) return false;
    if (left < sizeof(BlockHeader)) return true;
    BlockHeader header;
    std::memcpy(&header, &bytes_[at], sizeof header);
    return header.stored_bytes <= kBlockStoredBytesMax && header.stored_bytes > left - sizeof(BlockHeader);
  }

  size_t find_marker(size_t from) const {
    while (from + sizeof kMarker <= bytes_.size()) {
      const void* found = std::memchr(&bytes_[from], kMarker[0], bytes_.size() - from);
      if (!found) break;
      from = static_cast<size_t>(static_cast<const uint8_t*>(found) - bytes_.data());
      if (from + sizeof kMarker <= bytes_.size() && std::memcmp(found, kMarker, sizeof kMarker) == 0) return from;
      ++from;
    }
    return bytes_.size();
  }

  std::span<const uint8_t> bytes_;
  size_t at_;
  uint64_t hash_budget_;
  ReadLoss loss_;
};

// Unpacks one block after another and hands them to the visitor.
class BlockDecoder {
 public:
  explicit BlockDecoder(Visitor& visitor) : visitor_(visitor) {}

  // False if the payload does not keep the grammar; the visitor has seen nothing of it then.
  bool visit(const FoundBlock& block) {
    const uint32_t first = block.header.first;
    switch (static_cast<BlockType>(block.header.type)) {
      case BlockType::facts:
        return visit_fact(block);
      case BlockType::strings:
        return visit_rows<std::string_view>(block, [&](auto rows) { visitor_.on_strings(StringId(first), rows); });
      case BlockType::methods:
        return visit_rows<MethodRow>(block, [&](auto rows) { visitor_.on_methods(MethodId(first), rows); });
      case BlockType::contexts:
        return visit_rows<ContextRow>(block, [&](auto rows) { visitor_.on_contexts(ContextId(first), rows); });
      case BlockType::pools:
        return visit_rows<PoolRow>(block, [&](auto rows) { visitor_.on_pools(PoolId(first), rows); });
      case BlockType::threads:
        return visit_rows<ThreadRow>(block, [&](auto rows) { visitor_.on_threads(ThreadId(first), rows); });
      case BlockType::addresses:
        return visit_rows<MethodAddressRow>(block, [&](auto rows) { visitor_.on_method_addresses(rows); });
      case BlockType::locks:
        return visit_rows<LockRow>(block, [&](auto rows) { visitor_.on_locks(LockId(first), rows); });
      case BlockType::connections:
        return visit_rows<ConnectionRow>(block, [&](auto rows) { visitor_.on_connections(ConnectionId(first), rows); });
      case BlockType::endpoints:
        return visit_rows<EndpointRow>(block, [&](auto rows) { visitor_.on_endpoints(EndpointId(first), rows); });
      case BlockType::access_sets:
        return visit_access_sets(block);
      case BlockType::access_log:
        if (!visitor_.wants_access_chunks()) return true;
        return visit_rows<AccessChunk>(block, [&](auto rows) { visitor_.on_access_chunks(first, rows); });
      case BlockType::events: {
        const EventBlock* events = events_.decode(block.payload, block.header.count);
        if (events) visitor_.on_events(*events);
        return events != nullptr;
      }
      case BlockType::trailer:
        return visit_trailer(block);
    }
    return false;
  }

  // The same for the outline of a block of events.
  bool visit_outline(const FoundBlock& block) {
    const EventOutline* outline = events_.outline(block.payload, block.header.count);
    if (outline) visitor_.on_outline(*outline);
    return outline != nullptr;
  }

 private:
  std::optional<ByteReader> open(const FoundBlock& block) {
    ByteReader in(block.payload);
    const auto rows = groups_.get(in, scratch_);
    if (!rows || !in.at_end()) return std::nullopt;
    return ByteReader(*rows);
  }

  template <typename Row, typename Show>
  bool visit_rows(const FoundBlock& block, Show show) {
    auto in = open(block);
    // Every row has a byte at least, so a false count cannot ask for more memory than the block's own bound.
    if (!in || block.header.count > in->left() || block.header.first > UINT32_MAX - block.header.count) return false;
    std::vector<Row> rows(block.header.count);
    for (Row& row : rows) {
      if (!get_row(*in, row)) return false;
    }
    if (!in->at_end()) return false;
    show(std::span<const Row>(rows));
    return true;
  }

  bool visit_access_sets(const FoundBlock& block) {
    auto in = open(block);
    const uint32_t count = block.header.count;
    if (!in || count > in->left() || block.header.first > UINT32_MAX - count) return false;
    std::vector<AccessSetRow> rows(count);
    std::vector<size_t> begins;
    std::vector<AccessRange> ranges;
    for (AccessSetRow& row : rows) {
      begins.push_back(ranges.size());
      if (!get_row(*in, row, ranges)) return false;
    }
    if (!in->at_end()) return false;
    begins.push_back(ranges.size());
    for (size_t i = 0; i < count; ++i) rows[i].ranges = std::span(ranges).subspan(begins[i], begins[i + 1] - begins[i]);
    visitor_.on_access_sets(AccessSetId(block.header.first), rows);
    return true;
  }

  bool visit_fact(const FoundBlock& block) {
    auto in = open(block);
    if (!in) return false;
    const std::string_view key = in->text();
    const std::string_view value = in->text();
    if (!in->ok() || !in->at_end()) return false;
    visitor_.on_fact(key, value);
    return true;
  }

  bool visit_trailer(const FoundBlock& block) {
    auto in = open(block);
    if (!in) return false;
    Trailer trailer;
    trailer.exit_reason = in->text();
    trailer.events = in->varint();
    trailer.events_dropped = in->varint();
    trailer.end_ns = unzigzag(in->varint());
    if (!in->ok() || !in->at_end()) return false;
    visitor_.on_trailer(trailer);
    return true;
  }

  Visitor& visitor_;
  GroupReader groups_;
  EventDecoder events_;
  std::vector<uint8_t> scratch_;
};

bool begins_like_a_trace(std::span<const uint8_t> bytes) {
  return std::memcmp(bytes.data(), kMagic, std::min(bytes.size(), sizeof kMagic)) == 0;
}

void describe(ReadLoss& loss, bool header_damaged) {
  if (header_damaged) loss.notes.push_back("the file's header is damaged");
  if (loss.blocks_damaged > 0) {
    loss.notes.push_back(base::counted(loss.blocks_damaged, "damaged part", "damaged parts") +
                         " of the file skipped (" + base::counted(loss.bytes_skipped, "byte", "bytes") + ")");
  }
  if (loss.blocks_missing > 0) {
    loss.notes.push_back(base::counted(loss.blocks_missing, "block is missing", "blocks are missing"));
  }
  if (loss.cut_off && !loss.any_event && loss.blocks_damaged == 0) {
    loss.notes.push_back(
        "the file ends before the first event: the program did not start or was killed at once, is just starting, "
        "or the copy is incomplete");
  } else if (loss.cut_off) {
    loss.notes.push_back(
        "the file has no end: the program was killed, is still running, the disk was full, or the copy is incomplete");
  }
}

}  // namespace

std::string no_trace_message(std::string_view name) {
  return std::string(name) + " is no Contrafact trace; contrafact record -o run.cft -- PROGRAM makes one";
}

base::Result<Reader> Reader::open(const std::string& path) {
  auto bytes = base::read_file(path);
  if (!bytes) return bytes.error();
  return from_bytes(std::move(*bytes), path);
}

base::Result<Reader> Reader::from_bytes(std::vector<uint8_t> bytes, std::string name) {
  if (bytes.empty()) return base::Error{name + " is empty: nothing was recorded"};
  Reader reader;
  FileHeader header{};
  if (bytes.size() >= sizeof header) std::memcpy(&header, bytes.data(), sizeof header);
  const bool magic_fits = begins_like_a_trace(bytes);
  if (magic_fits && bytes.size() < sizeof header) {
    return base::Error{name + " is cut off within its header: it holds nothing"};
  }
  if (magic_fits && header.checksum == header_checksum(header)) {
    if (header.version > kFormatVersion) {
      return base::Error{name + " was written by a newer Contrafact (format " + std::to_string(header.version) +
                         ", this one reads up to " + std::to_string(kFormatVersion) + "); update this one"};
    }
    reader.begin_ = header.header_bytes;
    reader.version_ = header.version;
  } else {
    // Damaged, or something else altogether: a trace has blocks.
    if (!BlockScanner(bytes, 0).next()) {
      return base::Error{no_trace_message(name)};
    }
    reader.begin_ = sizeof header;
    reader.header_damaged_ = true;
    reader.version_ = kFormatVersion;
  }
  reader.begin_ = std::min(reader.begin_, bytes.size());
  reader.bytes_ = std::move(bytes);
  reader.name_ = std::move(name);
  return reader;
}

namespace {

void count_damaged(ReadLoss& loss, const FoundBlock& block) {
  ++loss.blocks_damaged;
  loss.bytes_skipped += sizeof(BlockHeader) + block.payload.size();
}

// Shows each block whose checksum fits, once, to `visit`, which returns whether the block keeps the grammar. The second
// argument of `visit`: whether blocks are gone since the last block of events that did.
template <typename Visit>
ReadLoss each_block(std::span<const uint8_t> bytes, size_t begin, Visit visit) {
  BlockScanner scanner(bytes, begin);
  ReadLoss& loss = scanner.loss();
  loss.cut_off = true;
  uint32_t expected = 0;
  bool hole = false;
  while (const auto block = scanner.next()) {
    const uint32_t sequence = block->header.sequence;
    hole |= sequence > expected;
    if (sequence < expected) {  // a block twice
      count_damaged(loss, *block);
      continue;
    }
    loss.blocks_missing += sequence - expected;
    expected = sequence + 1;
    if (!visit(*block, hole)) {
      hole = true;
      count_damaged(loss, *block);
      continue;
    }
    if (static_cast<BlockType>(block->header.type) == BlockType::events) hole = false;
    if (static_cast<BlockType>(block->header.type) == BlockType::trailer) loss.cut_off = false;
    if (static_cast<BlockType>(block->header.type) == BlockType::events) loss.any_event = true;
  }
  return std::move(loss);
}

}  // namespace

ReadLoss Reader::read(Visitor& visitor) const {
  BlockDecoder decoder(visitor);
  ReadLoss loss = each_block(bytes_, begin_, [&](const FoundBlock& block, bool hole) {
    if (hole && static_cast<BlockType>(block.header.type) == BlockType::events) visitor.on_hole();
    return decoder.visit(block);
  });
  describe(loss, header_damaged_);
  return loss;
}

ReadLoss Reader::read_outlines(Visitor& visitor) const {
  BlockDecoder decoder(visitor);
  ReadLoss loss = each_block(bytes_, begin_, [&](const FoundBlock& block, bool hole) {
    if (static_cast<BlockType>(block.header.type) != BlockType::events) return decoder.visit(block);
    if (hole) visitor.on_hole();
    return decoder.visit_outline(block);
  });
  describe(loss, header_damaged_);
  return loss;
}

ReadLoss Reader::read_in_passes(Visitor& visitor) const {
  BlockDecoder decoder(visitor);
  std::vector<std::pair<FoundBlock, bool>> event_blocks;  // with whether others are gone before it
  ReadLoss loss = each_block(bytes_, begin_, [&](const FoundBlock& block, bool hole) {
    if (static_cast<BlockType>(block.header.type) != BlockType::events) return decoder.visit(block);
    event_blocks.emplace_back(block, hole);
    return true;
  });
  size_t outlined = 0;
  bool broken = false;
  for (auto [block, hole] : event_blocks) {
    hole |= std::exchange(broken, false);
    if (hole) visitor.on_hole();
    if (decoder.visit_outline(block)) {
      event_blocks[outlined++] = {block, hole};
    } else {
      broken = true;
      count_damaged(loss, block);
    }
  }
  event_blocks.resize(outlined);
  loss.any_event = outlined > 0;
  for (const auto& [block, hole] : event_blocks) {
    if (hole) visitor.on_hole();
    if (!decoder.visit(block)) count_damaged(loss, block);
  }
  describe(loss, header_damaged_);
  return loss;
}

}  // namespace contrafact::format
