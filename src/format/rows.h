// The bytes of table rows. docs/format.md draws them; an optional id is stored plus one, 0 for none.
#pragma once

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
  return in.ok() && kind <= static_cast<uint64_t>(PoolKind::other);
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
  return in.ok() && kind <= static_cast<uint64_t>(LockKind::once);
}

}  // namespace contrafact::format
