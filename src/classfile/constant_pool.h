// The constant pool of one class: the original entries stay where they are in the class's bytes, new ones are appended.
//
// Not thread-safe. Invariants:
// 1. Entries never change or move: an index and a string_view handed out stay valid for the life of the pool (and of
//    the class's bytes, which the pool does not own).
// 2. Adding what is there already yields the existing index.
// 3. Accessors take any index, also one from hostile input, and answer nullopt where it does not lead to such an entry.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "classfile/bytes.h"

namespace contrafact::classfile {

// JVMS table 4.4-B.
enum ConstantTag : uint8_t {
  kTagNone = 0,  // index 0, and the second index of a long or double
  kTagUtf8 = 1,
  kTagInteger = 3,
  kTagFloat = 4,
  kTagLong = 5,
  kTagDouble = 6,
  kTagClass = 7,
  kTagString = 8,
  kTagFieldRef = 9,
  kTagMethodRef = 10,
  kTagInterfaceMethodRef = 11,
  kTagNameAndType = 12,
  kTagMethodHandle = 15,
  kTagMethodType = 16,
  kTagDynamic = 17,
  kTagInvokeDynamic = 18,
  kTagModule = 19,
  kTagPackage = 20,
};

struct NameAndType {
  std::string_view name;
  std::string_view descriptor;
};

struct MemberRef {
  ConstantTag tag = kTagNone;
  std::string_view owner;
  std::string_view name;
  std::string_view descriptor;
};

class ConstantPool {
 public:
  // Reads the count and the entries. The bytes must outlive the pool.
  static base::Result<ConstantPool> parse(ByteReader& reader);

  ConstantPool(ConstantPool&&) = default;
  ConstantPool& operator=(ConstantPool&&) = default;

  // One more than the greatest index.
  uint32_t count() const { return static_cast<uint32_t>(entries_.size()); }
  ConstantTag tag(uint32_t index) const;

  std::optional<std::string_view> utf8(uint32_t index) const;
  std::optional<std::string_view> class_name(uint32_t index) const;  // internal form: java/lang/Object, [I
  std::optional<NameAndType> name_and_type(uint32_t index) const;
  std::optional<MemberRef> member_ref(uint32_t index) const;  // the three Ref tags
  std::optional<NameAndType> dynamic(uint32_t index) const;   // Dynamic and InvokeDynamic

  // Each yields the index, or 0 if the pool is full (65,535 entries) or the text is too long (65,535 bytes).
  uint16_t add_utf8(std::string_view text);
  uint16_t add_integer(int32_t value);
  uint16_t add_long(int64_t value);
  uint16_t add_class(std::string_view internal_name);
  uint16_t add_string(std::string_view text);
  uint16_t add_name_and_type(std::string_view name, std::string_view descriptor);
  // REQUIRES: tag is one of the three Ref tags
  uint16_t add_member_ref(ConstantTag tag, std::string_view owner, std::string_view name, std::string_view descriptor);

  bool grown() const { return !appended_.empty(); }
  void write(ByteWriter& writer) const;

 private:
  ConstantPool() = default;

  const uint8_t* entry(uint32_t index, ConstantTag tag) const;
  uint16_t add(std::string encoded);
  void build_index();
  static std::string_view text_of(const uint8_t* entry);

  Bytes original_;                       // the entries' bytes, without the count
  std::vector<const uint8_t*> entries_;  // at each tag byte; nullptr where the tag is kTagNone
  std::deque<std::string> appended_;     // whole entries; a deque, because entries_ points into the strings
  // Whole entry (tag and payload) to its index: built when something is added first, since most classes are never
  // edited.
  std::unordered_map<std::string_view, uint16_t> index_;
};

}  // namespace contrafact::classfile
