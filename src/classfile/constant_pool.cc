#include "classfile/constant_pool.h"

#include "base/check.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;

namespace {

constexpr uint32_t kMaxCount = 65535;  // constant_pool_count is a u2
constexpr int kBadTag = -1;
constexpr int kUtf8Payload = -2;  // a u2 length, then as many bytes

int payload_bytes(uint8_t tag) {
  switch (tag) {
    case kTagUtf8:
      return kUtf8Payload;
    case kTagInteger:
    case kTagFloat:
    case kTagFieldRef:
    case kTagMethodRef:
    case kTagInterfaceMethodRef:
    case kTagNameAndType:
    case kTagDynamic:
    case kTagInvokeDynamic:
      return 4;
    case kTagLong:
    case kTagDouble:
      return 8;
    case kTagClass:
    case kTagString:
    case kTagMethodType:
    case kTagModule:
    case kTagPackage:
      return 2;
    case kTagMethodHandle:
      return 3;
    default:
      return kBadTag;
  }
}

bool takes_two(uint8_t tag) {
  return tag == kTagLong || tag == kTagDouble;
}

void put_u2(std::string& out, uint32_t value) {
  out.push_back(static_cast<char>(value >> 8));
  out.push_back(static_cast<char>(value));
}

void put_u4(std::string& out, uint32_t value) {
  put_u2(out, value >> 16);
  put_u2(out, value);
}

size_t encoded_bytes(const uint8_t* entry) {
  const int payload = payload_bytes(entry[0]);
  return 1 + (payload == kUtf8Payload ? 2 + load_u2(entry + 1) : static_cast<size_t>(payload));
}

std::string_view whole_entry(const uint8_t* entry) {
  return {reinterpret_cast<const char*>(entry), encoded_bytes(entry)};
}

}  // namespace

Result<ConstantPool> ConstantPool::parse(ByteReader& reader) {
  ConstantPool pool;
  const uint32_t count = reader.u2();
  if (!reader.ok() || count == 0) return Error{"constant pool: no entries"};
  const size_t start = reader.position();
  pool.entries_.reserve(count);
  pool.entries_.push_back(nullptr);
  while (pool.entries_.size() < count) {
    const uint8_t* entry = reader.here();
    const uint8_t tag = reader.u1();
    int payload = payload_bytes(tag);
    if (payload == kUtf8Payload) payload = reader.u2();
    if (!reader.ok() || payload < 0) {
      return Error{"constant pool: entry " + std::to_string(pool.entries_.size()) +
                   (reader.ok() ? " has the unknown tag " + std::to_string(tag) : std::string(" is cut off"))};
    }
    reader.take(static_cast<size_t>(payload));
    if (!reader.ok()) return Error{"constant pool: entry " + std::to_string(pool.entries_.size()) + " is cut off"};
    pool.entries_.push_back(entry);
    if (!takes_two(tag)) continue;
    if (pool.entries_.size() == count) return Error{"constant pool: the last entry is half a long or double"};
    pool.entries_.push_back(nullptr);
  }
  pool.original_ = reader.since(start);
  return pool;
}

ConstantTag ConstantPool::tag(uint32_t index) const {
  if (index >= entries_.size() || entries_[index] == nullptr) return kTagNone;
  return static_cast<ConstantTag>(entries_[index][0]);
}

const uint8_t* ConstantPool::entry(uint32_t index, ConstantTag wanted) const {
  return tag(index) == wanted ? entries_[index] : nullptr;
}

std::string_view ConstantPool::text_of(const uint8_t* entry) {
  return {reinterpret_cast<const char*>(entry + 3), load_u2(entry + 1)};
}

std::optional<std::string_view> ConstantPool::utf8(uint32_t index) const {
  const uint8_t* at = entry(index, kTagUtf8);
  if (at == nullptr) return std::nullopt;
  return text_of(at);
}

std::optional<std::string_view> ConstantPool::class_name(uint32_t index) const {
  const uint8_t* at = entry(index, kTagClass);
  if (at == nullptr) return std::nullopt;
  return utf8(load_u2(at + 1));
}

std::optional<NameAndType> ConstantPool::name_and_type(uint32_t index) const {
  const uint8_t* at = entry(index, kTagNameAndType);
  if (at == nullptr) return std::nullopt;
  const auto name = utf8(load_u2(at + 1));
  const auto descriptor = utf8(load_u2(at + 3));
  if (!name || !descriptor) return std::nullopt;
  return NameAndType{*name, *descriptor};
}

std::optional<MemberRef> ConstantPool::member_ref(uint32_t index) const {
  const ConstantTag found = tag(index);
  if (found != kTagFieldRef && found != kTagMethodRef && found != kTagInterfaceMethodRef) return std::nullopt;
  const auto owner = class_name(load_u2(entries_[index] + 1));
  const auto member = name_and_type(load_u2(entries_[index] + 3));
  if (!owner || !member) return std::nullopt;
  return MemberRef{found, *owner, member->name, member->descriptor};
}

std::optional<NameAndType> ConstantPool::dynamic(uint32_t index) const {
  const ConstantTag found = tag(index);
  if (found != kTagDynamic && found != kTagInvokeDynamic) return std::nullopt;
  return name_and_type(load_u2(entries_[index] + 3));
}

void ConstantPool::build_index() {
  index_.reserve(entries_.size() + 32);
  for (size_t i = 0; i < entries_.size(); i++) {
    if (entries_[i] != nullptr) index_.emplace(whole_entry(entries_[i]), static_cast<uint16_t>(i));
  }
}

uint16_t ConstantPool::add(std::string encoded) {
  if (index_.empty()) build_index();
  if (const auto found = index_.find(encoded); found != index_.end()) return found->second;
  const size_t slots = takes_two(static_cast<uint8_t>(encoded[0])) ? 2 : 1;
  if (entries_.size() + slots > kMaxCount) return 0;
  const uint16_t index = static_cast<uint16_t>(entries_.size());
  const std::string& kept = appended_.emplace_back(std::move(encoded));
  entries_.push_back(reinterpret_cast<const uint8_t*>(kept.data()));
  if (slots == 2) entries_.push_back(nullptr);
  index_.emplace(kept, index);
  return index;
}

uint16_t ConstantPool::add_utf8(std::string_view text) {
  if (text.size() > 65535) return 0;
  std::string encoded(1, kTagUtf8);
  put_u2(encoded, static_cast<uint32_t>(text.size()));
  encoded.append(text);
  return add(std::move(encoded));
}

uint16_t ConstantPool::add_integer(int32_t value) {
  std::string encoded(1, kTagInteger);
  put_u4(encoded, static_cast<uint32_t>(value));
  return add(std::move(encoded));
}

uint16_t ConstantPool::add_long(int64_t value) {
  std::string encoded(1, kTagLong);
  put_u4(encoded, static_cast<uint32_t>(static_cast<uint64_t>(value) >> 32));
  put_u4(encoded, static_cast<uint32_t>(value));
  return add(std::move(encoded));
}

uint16_t ConstantPool::add_class(std::string_view internal_name) {
  const uint16_t name = add_utf8(internal_name);
  if (name == 0) return 0;
  std::string encoded(1, kTagClass);
  put_u2(encoded, name);
  return add(std::move(encoded));
}

uint16_t ConstantPool::add_string(std::string_view text) {
  const uint16_t utf8_index = add_utf8(text);
  if (utf8_index == 0) return 0;
  std::string encoded(1, kTagString);
  put_u2(encoded, utf8_index);
  return add(std::move(encoded));
}

uint16_t ConstantPool::add_name_and_type(std::string_view name, std::string_view descriptor) {
  const uint16_t name_index = add_utf8(name);
  const uint16_t descriptor_index = add_utf8(descriptor);
  if (name_index == 0 || descriptor_index == 0) return 0;
  std::string encoded(1, kTagNameAndType);
  put_u2(encoded, name_index);
  put_u2(encoded, descriptor_index);
  return add(std::move(encoded));
}

uint16_t ConstantPool::add_member_ref(ConstantTag tag, std::string_view owner, std::string_view name,
                                      std::string_view descriptor) {
  CHECK(tag == kTagFieldRef || tag == kTagMethodRef || tag == kTagInterfaceMethodRef);
  const uint16_t owner_index = add_class(owner);
  const uint16_t member_index = add_name_and_type(name, descriptor);
  if (owner_index == 0 || member_index == 0) return 0;
  std::string encoded(1, static_cast<char>(tag));
  put_u2(encoded, owner_index);
  put_u2(encoded, member_index);
  return add(std::move(encoded));
}

void ConstantPool::write(ByteWriter& writer) const {
  writer.u2(count());
  writer.append(original_);
  for (const std::string& entry : appended_) {
    writer.append({reinterpret_cast<const uint8_t*>(entry.data()), entry.size()});
  }
}

}  // namespace contrafact::classfile
