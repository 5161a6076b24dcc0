// The bytes of table rows. docs/format.md draws them; an optional id is stored plus one, 0 for none.
#pragma once

#include "format/access_log.h"
#include "format/access_set.h"
#include "format/bytes.h"
#include "format/event.h"

namespace contrafact::format {

template <typename Id>
void put_id(std::vector<uint8_t>& out, Id id) {
  put_varint(out, uint64_t{id.value + 1});  // none wraps to 0
}
template <typename Id>
Id get_id(ByteReader& in) {
  return Id(in.varint32() - 1);
}

inline void put_row(std::vector<uint8_t>& out, std::string_view row) {
  put_text(out, row);
}
inline void put_row(std::vector<uint8_t>& out, const MethodRow& row) {
  put_id(out, row.class_name);
  put_id(out, row.name);
  put_id(out, row.file);
  put_varint(out, row.line);
}
inline void put_row(std::vector<uint8_t>& out, const ContextRow& row) {
  put_id(out, row.parent);
  put_id(out, row.method);
  put_varint(out, row.line);
}
inline void put_row(std::vector<uint8_t>& out, const PoolRow& row) {
  put_id(out, row.name);
  put_varint(out, static_cast<uint64_t>(row.kind));
  put_varint(out, row.core_size);
  put_varint(out, row.max_size);
}
inline void put_row(std::vector<uint8_t>& out, const ThreadRow& row) {
  put_id(out, row.name);
  put_varint(out, static_cast<uint64_t>(row.kind) * 2 + row.daemon);
  put_varint(out, row.os_tid);
  put_varint(out, row.java_tid);
}
inline void put_row(std::vector<uint8_t>& out, const MethodAddressRow& row) {
  put_id(out, row.method);
  put_varint(out, row.is_entry);
  put_varint(out, row.address);
}
inline void put_row(std::vector<uint8_t>& out, const LockRow& row) {
  put_varint(out, static_cast<uint64_t>(row.kind));
  put_varint(out, row.address);
  put_id(out, row.name);
}
inline void put_row(std::vector<uint8_t>& out, const ConnectionRow& row) {
  put_varint(out, static_cast<uint64_t>(row.kind));
  put_varint(out, row.local_port);
  put_varint(out, row.remote_port);
}
inline void put_row(std::vector<uint8_t>& out, const EndpointRow& row) {
  put_id(out, row.name);
}
// REQUIRES: the ranges are canonical and at most kAccessRangesMax. Each begins where the last one ended, plus a gap.
inline void put_row(std::vector<uint8_t>& out, const AccessSetRow& row) {
  put_varint(out, static_cast<uint64_t>(row.gap));
  put_varint(out, row.ranges.size());
  uint64_t at = 0;
  for (const AccessRange& range : row.ranges) {
    put_varint(out, range.begin - at);
    put_varint(out, uint64_t{range.length_bytes} * 16 + code_of(range.flags));
    at = range.end();
  }
}

inline void put_row(std::vector<uint8_t>& out, const AccessChunk& row) {
  put_varint(out, row.thread);
  put_varint(out, static_cast<uint64_t>(row.gap));
  put_varint(out, zigzag(row.begin_ns));
  put_varint(out, static_cast<uint64_t>(row.end_ns - row.begin_ns));
  put_varint(out, row.lost);
  put_varint(out, row.accesses);
  put_varint(out, row.bytes.size());
  out.insert(out.end(), row.bytes.begin(), row.bytes.end());
}

// False if the bytes are no such row.
inline bool get_row(ByteReader& in, std::string_view& row) {
  row = in.text();
  return in.ok();
}
inline bool get_row(ByteReader& in, MethodRow& row) {
  row.class_name = get_id<StringId>(in);
  row.name = get_id<StringId>(in);
  row.file = get_id<StringId>(in);
  row.line = in.varint32();
  return in.ok();
}
inline bool get_row(ByteReader& in, ContextRow& row) {
  row.parent = get_id<ContextId>(in);
  row.method = get_id<MethodId>(in);
  row.line = in.varint32();
  return in.ok();
}
inline bool get_row(ByteReader& in, PoolRow& row) {
  row.name = get_id<StringId>(in);
  const uint64_t kind = in.varint();
  row.kind = static_cast<PoolKind>(kind);
  row.core_size = in.varint32();
  row.max_size = in.varint32();
  return in.ok() && kind <= static_cast<uint64_t>(kPoolKindLast);
}
inline bool get_row(ByteReader& in, ThreadRow& row) {
  row.name = get_id<StringId>(in);
  const uint64_t kind_and_daemon = in.varint();
  row.kind = static_cast<ThreadKind>(kind_and_daemon >> 1);
  row.daemon = kind_and_daemon & 1;
  row.os_tid = in.varint();
  row.java_tid = in.varint();
  return in.ok() && kind_and_daemon >> 1 <= static_cast<uint64_t>(ThreadKind::virtual_thread);
}
inline bool get_row(ByteReader& in, MethodAddressRow& row) {
  row.method = get_id<MethodId>(in);
  const uint64_t is_entry = in.varint();
  row.is_entry = is_entry != 0;
  row.address = in.varint();
  return in.ok() && is_entry <= 1;
}
inline bool get_row(ByteReader& in, LockRow& row) {
  const uint64_t kind = in.varint();
  row.kind = static_cast<LockKind>(kind);
  row.address = in.varint();
  row.name = get_id<StringId>(in);
  return in.ok() && kind <= static_cast<uint64_t>(kLockKindLast);
}
inline bool get_row(ByteReader& in, ConnectionRow& row) {
  const uint64_t kind = in.varint();
  row.kind = static_cast<ConnectionKind>(kind);
  row.local_port = in.varint32();
  row.remote_port = in.varint32();
  return in.ok() && kind <= static_cast<uint64_t>(kConnectionKindLast);
}
inline bool get_row(ByteReader& in, EndpointRow& row) {
  row.name = get_id<StringId>(in);
  return in.ok();
}
// Its bytes are those of the block, and are looked at when they are decoded.
inline bool get_row(ByteReader& in, AccessChunk& row) {
  row.thread = in.varint32();
  const uint64_t gap = in.varint();
  row.gap = static_cast<SetGap>(gap);
  row.begin_ns = unzigzag(in.varint());
  const uint64_t duration_ns = in.varint();
  row.end_ns = static_cast<int64_t>(static_cast<uint64_t>(row.begin_ns) + duration_ns);
  row.lost = in.varint();
  row.accesses = in.varint32();
  row.bytes = in.bytes(in.varint());
  return in.ok() && gap <= static_cast<uint64_t>(kSetGapLast) && row.end_ns >= row.begin_ns;
}
// The row's ranges are appended to `ranges`, whose growth moves them: the caller sets the span when all are read.
inline bool get_row(ByteReader& in, AccessSetRow& row, std::vector<AccessRange>& ranges) {
  const uint64_t gap = in.varint();
  const uint64_t count = in.varint();
  // A range has two bytes at least.
  if (!in.ok() || gap > static_cast<uint64_t>(kSetGapLast) || count > kAccessRangesMax || count > in.left() / 2) {
    return false;
  }
  row.gap = static_cast<SetGap>(gap);
  uint64_t at = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t before = in.varint();
    const uint64_t length_and_flags = in.varint();
    if (!in.ok() || before > UINT64_MAX - at || length_and_flags / 16 > kAccessLengthMax) return false;
    const AccessRange range{at + before, static_cast<uint32_t>(length_and_flags / 16),
                            flags_of_code(static_cast<uint32_t>(length_and_flags % 16))};
    if (!is_sound(range)) return false;
    ranges.push_back(range);
    at = range.end();
  }
  return true;
}

}  // namespace contrafact::format
