// One class file: parsed without copying, edited by adding members and replacing method bodies, and written again.
//
// Not thread-safe. No exceptions but for lack of memory. Invariants:
// 1. The input bytes are never copied or changed; they must outlive the object. All names are views into them.
// 2. write() without an edit yields the input, byte for byte; a method that was not edited keeps its bytes.
// 3. The input may be hostile: whatever is wrong with it becomes an Error or a nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "classfile/bytes.h"
#include "classfile/constant_pool.h"

namespace contrafact::classfile {

// JVMS tables 4.1-B, 4.5-A and 4.6-A: the flags that edits use.
enum AccessFlag : uint16_t {
  kAccPublic = 0x0001,
  kAccPrivate = 0x0002,
  kAccProtected = 0x0004,
  kAccStatic = 0x0008,
  kAccFinal = 0x0010,
  kAccSynchronized = 0x0020,
  kAccVolatile = 0x0040,
  kAccTransient = 0x0080,
  kAccNative = 0x0100,
  kAccInterface = 0x0200,
  kAccAbstract = 0x0400,
  kAccSynthetic = 0x1000,
};

// Versions of the format that changed what must be in it.
constexpr uint16_t kVersionMin = 45;             // JDK 1.0
constexpr uint16_t kVersionMax = 69;             // JDK 25
constexpr uint16_t kVersionFrames = 50;          // stack-map frames are used (JDK 6), with a fallback to inference
constexpr uint16_t kVersionFramesRequired = 51;  // and must be there (JDK 7)

// A named attribute; `content` excludes the name and the length.
struct Attribute {
  uint16_t name_index = 0;
  std::string_view name;
  Bytes content;
};

// Splits an attribute table (u2 count, then the attributes) and leaves the reader behind it.
base::Result<std::vector<Attribute>> read_attributes(ByteReader& reader, const ConstantPool& pool);

// A field or method.
struct Member {
  uint16_t access = 0;  // the original one, or what set_method_access made of it
  std::string_view name;
  std::string_view descriptor;
  Bytes original;                 // from the access flags to the end of the attributes; empty for an added member
  Bytes code;                     // content of the original Code attribute; empty if there is none
  std::vector<uint8_t> added;     // an added member's whole encoding
  std::vector<uint8_t> new_code;  // content of the Code attribute that replaces the original one, if not empty

  bool has(AccessFlag flag) const { return (access & flag) != 0; }
  bool has_code() const { return !code.empty(); }
  bool is_constructor() const { return name == "<init>"; }
};

class ClassFile {
 public:
  static base::Result<ClassFile> parse(Bytes bytes);

  uint16_t major_version() const { return major_version_; }
  uint16_t minor_version() const { return minor_version_; }
  uint16_t access() const { return access_; }
  std::string_view name() const { return name_; }              // java/lang/String
  std::string_view super_name() const { return super_name_; }  // empty for java/lang/Object and module-info
  std::vector<std::string_view> interfaces() const;
  std::string_view source_file() const;  // empty if the class does not say

  const ConstantPool& pool() const { return pool_; }
  ConstantPool& pool() { return pool_; }
  const std::vector<Member>& fields() const { return fields_; }
  const std::vector<Member>& methods() const { return methods_; }
  std::optional<size_t> find_method(std::string_view name, std::string_view descriptor) const;

  // The fields, methods and class attributes as they are in the file; for members use Member::original.
  base::Result<std::vector<Attribute>> attributes_of(const Member& member) const;
  base::Result<std::vector<Attribute>> class_attributes() const;

  // The source line of the instruction at `pc` of the method's original code, or nullopt if the method does not say.
  std::optional<uint16_t> line_of(const Member& method, uint32_t pc) const;

  // Errors: a field of this name and type exists already; the pool is full.
  base::Status add_field(uint16_t access, std::string_view name, std::string_view descriptor);
  // `code` is the content of a Code attribute (see Code::encode); empty for abstract and native methods.
  base::Status add_method(uint16_t access, std::string_view name, std::string_view descriptor, Bytes code);
  // `code` as above. REQUIRES: methods()[index].has_code()
  void replace_code(size_t index, std::vector<uint8_t> code);
  // REQUIRES: methods()[index] is not an added one
  void set_method_access(size_t index, uint16_t access);

  bool edited() const { return edited_; }
  std::vector<uint8_t> write() const;

 private:
  explicit ClassFile(ConstantPool pool) : pool_(std::move(pool)) {}

  base::Status parse_header(ByteReader& reader);
  base::Result<std::vector<Member>> parse_members(ByteReader& reader, bool methods);
  base::Status add_member(std::vector<Member>& members, uint16_t access, std::string_view name,
                          std::string_view descriptor, Bytes code);
  void write_members(ByteWriter& writer, const std::vector<Member>& members) const;

  ConstantPool pool_;
  uint16_t minor_version_ = 0;
  uint16_t major_version_ = 0;
  uint16_t access_ = 0;
  std::string_view name_;
  std::string_view super_name_;
  Bytes header_;      // access flags, this, super, interfaces
  Bytes attributes_;  // the class's own attribute table
  std::vector<Member> fields_;
  std::vector<Member> methods_;
  bool edited_ = false;
};

}  // namespace contrafact::classfile
