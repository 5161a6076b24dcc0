#include "classfile/class_file.h"

#include <algorithm>

#include "base/check.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

constexpr uint32_t kMagic = 0xCAFEBABE;
constexpr size_t kInterfacesAt = 6;      // in the header: after access flags, this and super
constexpr size_t kMemberFixedBytes = 6;  // access flags, name, descriptor

}  // namespace

Result<std::vector<Attribute>> read_attributes(ByteReader& reader, const ConstantPool& pool) {
  std::vector<Attribute> attributes;
  const uint16_t count = reader.u2();
  for (int i = 0; i < count; i++) {
    Attribute attribute;
    attribute.name_index = reader.u2();
    attribute.content = reader.take(reader.u4());
    if (!reader.ok()) return Error{"attribute " + std::to_string(i) + " is cut off"};
    const auto name = pool.utf8(attribute.name_index);
    if (!name) return Error{"attribute " + std::to_string(i) + " has no name"};
    attribute.name = *name;
    attributes.push_back(attribute);
  }
  if (!reader.ok()) return Error{"the attributes are cut off"};
  return attributes;
}

Result<ClassFile> ClassFile::parse(Bytes bytes) {
  ByteReader reader(bytes);
  if (reader.u4() != kMagic) return Error{"not a class file: it does not begin with CAFEBABE"};
  const uint16_t minor = reader.u2();
  const uint16_t major = reader.u2();
  if (major < kVersionMin || major > kVersionMax) {
    return Error{"class file version " + std::to_string(major) + " is not one of " + std::to_string(kVersionMin) +
                 " to " + std::to_string(kVersionMax)};
  }
  auto pool = ConstantPool::parse(reader);
  if (!pool) return pool.error();
  ClassFile file(std::move(*pool));
  file.minor_version_ = minor;
  file.major_version_ = major;
  if (Status status = file.parse_header(reader); !status) return status.error();
  auto fields = file.parse_members(reader, false);
  if (!fields) return fields.error();
  auto methods = file.parse_members(reader, true);
  if (!methods) return methods.error();
  file.fields_ = std::move(*fields);
  file.methods_ = std::move(*methods);
  const size_t attributes_at = reader.position();
  const auto attributes = read_attributes(reader, file.pool_);
  if (!attributes) return Error{"class: " + attributes.error().message};
  if (!reader.at_end()) return Error{std::to_string(reader.remaining()) + " bytes follow the end of the class"};
  file.attributes_ = reader.since(attributes_at);
  return file;
}

Status ClassFile::parse_header(ByteReader& reader) {
  const size_t start = reader.position();
  access_ = reader.u2();
  const uint16_t this_index = reader.u2();
  const uint16_t super_index = reader.u2();
  const uint16_t interface_count = reader.u2();
  for (int i = 0; i < interface_count && reader.ok(); i++) {
    if (const uint16_t index = reader.u2(); !pool_.class_name(index)) {
      return Error{"interface " + std::to_string(i) + " is not a class constant"};
    }
  }
  if (!reader.ok()) return Error{"the class is cut off after its constant pool"};
  header_ = reader.since(start);
  const auto name = pool_.class_name(this_index);
  if (!name) return Error{"this_class is not a class constant"};
  name_ = *name;
  if (super_index == 0) return {};
  const auto super_name = pool_.class_name(super_index);
  if (!super_name) return Error{"super_class is not a class constant"};
  super_name_ = *super_name;
  return {};
}

Result<std::vector<Member>> ClassFile::parse_members(ByteReader& reader, bool methods) {
  const std::string what = methods ? "method " : "field ";
  std::vector<Member> members;
  const uint16_t count = reader.u2();
  members.reserve(std::min<size_t>(count, reader.remaining() / 8));  // the smallest member has 8 bytes
  for (int i = 0; i < count; i++) {
    const size_t start = reader.position();
    Member member;
    member.access = reader.u2();
    const auto name = pool_.utf8(reader.u2());
    const auto descriptor = pool_.utf8(reader.u2());
    if (!reader.ok()) return Error{what + std::to_string(i) + " is cut off"};
    if (!name || !descriptor) return Error{what + std::to_string(i) + " has no name or no descriptor"};
    member.name = *name;
    member.descriptor = *descriptor;
    const uint16_t attribute_count = reader.u2();
    for (int k = 0; k < attribute_count; k++) {
      const auto attribute = pool_.utf8(reader.u2());
      const Bytes content = reader.take(reader.u4());
      if (!reader.ok()) return Error{what + std::string(*name) + ": attribute " + std::to_string(k) + " is cut off"};
      if (!attribute) return Error{what + std::string(*name) + ": attribute " + std::to_string(k) + " has no name"};
      if (!methods || *attribute != "Code") continue;
      if (member.has_code()) return Error{what + std::string(*name) + " has two Code attributes"};
      if (content.empty()) return Error{what + std::string(*name) + " has an empty Code attribute"};
      member.code = content;
    }
    if (!reader.ok()) return Error{what + std::to_string(i) + " is cut off"};
    member.original = reader.since(start);
    members.push_back(std::move(member));
  }
  if (!reader.ok()) return Error{"the " + what + "table is cut off"};
  return members;
}

std::vector<std::string_view> ClassFile::interfaces() const {
  ByteReader reader(header_.subspan(kInterfacesAt));
  std::vector<std::string_view> names(reader.u2());
  for (std::string_view& name : names) name = *pool_.class_name(reader.u2());  // checked by parse_header
  return names;
}

std::string_view ClassFile::source_file() const {
  const auto attributes = class_attributes();
  if (!attributes) return {};
  for (const Attribute& attribute : *attributes) {
    if (attribute.name != "SourceFile" || attribute.content.size() != 2) continue;
    return pool_.utf8(load_u2(attribute.content.data())).value_or(std::string_view());
  }
  return {};
}

std::optional<size_t> ClassFile::find_method(std::string_view name, std::string_view descriptor) const {
  for (size_t i = 0; i < methods_.size(); i++) {
    if (methods_[i].name == name && methods_[i].descriptor == descriptor) return i;
  }
  return std::nullopt;
}

Result<std::vector<Attribute>> ClassFile::attributes_of(const Member& member) const {
  if (member.original.empty()) return std::vector<Attribute>{};
  ByteReader reader(member.original.subspan(kMemberFixedBytes));
  return read_attributes(reader, pool_);
}

Result<std::vector<Attribute>> ClassFile::class_attributes() const {
  ByteReader reader(attributes_);
  return read_attributes(reader, pool_);
}

std::optional<uint16_t> ClassFile::line_of(const Member& method, uint32_t pc) const {
  ByteReader reader(method.code);
  reader.take(4);  // max_stack, max_locals
  const uint32_t code_bytes = reader.u4();
  reader.take(code_bytes);
  reader.take(size_t{reader.u2()} * 8);  // the exception table
  const auto attributes = read_attributes(reader, pool_);
  if (!attributes || pc >= code_bytes) return std::nullopt;
  // The entry that starts last at or before pc; tables need not be in order.
  std::optional<uint16_t> line;
  uint32_t best_start = 0;
  for (const Attribute& attribute : *attributes) {
    if (attribute.name != "LineNumberTable") continue;
    ByteReader table(attribute.content);
    for (int left = table.u2(); left > 0 && table.ok(); left--) {
      const uint16_t start = table.u2();
      const uint16_t number = table.u2();
      if (!table.ok() || start > pc || (line && start < best_start)) continue;
      line = number;
      best_start = start;
    }
  }
  return line;
}

Status ClassFile::add_field(uint16_t access, std::string_view name, std::string_view descriptor) {
  return add_member(fields_, access, name, descriptor, {});
}

Status ClassFile::add_method(uint16_t access, std::string_view name, std::string_view descriptor, Bytes code) {
  return add_member(methods_, access, name, descriptor, code);
}

Status ClassFile::add_member(std::vector<Member>& members, uint16_t access, std::string_view name,
                             std::string_view descriptor, Bytes code) {
  const std::string label = std::string(name) + " " + std::string(descriptor);
  for (const Member& member : members) {
    if (member.name == name && member.descriptor == descriptor) return Error{label + ": the class has it already"};
  }
  if (members.size() >= 65535) return Error{label + ": the class has no room for another member"};
  const uint16_t name_index = pool_.add_utf8(name);
  const uint16_t descriptor_index = pool_.add_utf8(descriptor);
  const uint16_t code_index = code.empty() ? 0 : pool_.add_utf8("Code");
  if (name_index == 0 || descriptor_index == 0 || (!code.empty() && code_index == 0)) {
    return Error{label + ": the constant pool is full"};
  }
  ByteWriter writer;
  writer.u2(access);
  writer.u2(name_index);
  writer.u2(descriptor_index);
  writer.u2(code.empty() ? 0 : 1);
  if (!code.empty()) {
    writer.u2(code_index);
    writer.u4(static_cast<uint32_t>(code.size()));
    writer.append(code);
  }
  Member member;
  member.access = access;
  member.name = *pool_.utf8(name_index);
  member.descriptor = *pool_.utf8(descriptor_index);
  member.added = writer.release();
  members.push_back(std::move(member));
  edited_ = true;
  return {};
}

void ClassFile::replace_code(size_t index, std::vector<uint8_t> code) {
  CHECK(index < methods_.size() && methods_[index].has_code() && !code.empty());
  methods_[index].new_code = std::move(code);
  edited_ = true;
}

void ClassFile::set_method_access(size_t index, uint16_t access) {
  CHECK(index < methods_.size() && !methods_[index].original.empty());
  methods_[index].access = access;
  edited_ = true;
}

void ClassFile::write_members(ByteWriter& writer, const std::vector<Member>& members) const {
  writer.u2(static_cast<uint32_t>(members.size()));
  for (const Member& member : members) {
    if (!member.added.empty()) {
      writer.append(member.added);
      continue;
    }
    writer.u2(member.access);
    if (member.new_code.empty()) {
      writer.append(member.original.subspan(2));
      continue;
    }
    writer.append(member.original.subspan(2, kMemberFixedBytes - 2));
    ByteReader reader(member.original.subspan(kMemberFixedBytes));
    const uint16_t count = reader.u2();
    writer.u2(count);
    for (int i = 0; i < count; i++) {
      writer.u2(reader.u2());
      const Bytes content = reader.take(reader.u4());
      const Bytes kept = content.data() == member.code.data() ? Bytes(member.new_code) : content;
      writer.u4(static_cast<uint32_t>(kept.size()));
      writer.append(kept);
    }
  }
}

std::vector<uint8_t> ClassFile::write() const {
  ByteWriter writer;
  writer.u4(kMagic);
  writer.u2(minor_version_);
  writer.u2(major_version_);
  pool_.write(writer);
  writer.append(header_);
  write_members(writer, fields_);
  write_members(writer, methods_);
  writer.append(attributes_);
  return writer.release();
}

}  // namespace contrafact::classfile
