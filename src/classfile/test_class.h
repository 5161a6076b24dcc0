// For the unit tests: small class files made from nothing, and listings of method bodies to compare with.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "classfile/class_file.h"
#include "classfile/code.h"

namespace contrafact::classfile {

// A class `Test extends java/lang/Object` without members.
inline std::vector<uint8_t> empty_class(uint16_t major_version) {
  ByteWriter out;
  const auto utf8 = [&out](std::string_view text) {
    out.u1(kTagUtf8);
    out.u2(static_cast<uint32_t>(text.size()));
    out.append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  out.u4(0xCAFEBABE);
  out.u2(0);
  out.u2(major_version);
  out.u2(5);
  utf8("Test");  // 1
  out.u1(kTagClass), out.u2(1);
  utf8("java/lang/Object");  // 3
  out.u1(kTagClass), out.u2(3);
  out.u2(kAccPublic);
  out.u2(2), out.u2(4);
  for (int i = 0; i < 4; i++) out.u2(0);  // interfaces, fields, methods, attributes
  return out.release();
}

struct RawException {
  uint16_t start, end, handler, catch_type;
};

struct RawCode {
  uint16_t max_stack = 4;
  uint16_t max_locals = 4;
  std::vector<uint8_t> code;
  std::vector<RawException> exceptions;
  std::vector<std::pair<std::string, std::vector<uint8_t>>> attributes;
};

// The bytes of class Test with one method `m`, or another name, that has the given body. Constants that the body uses
// must be made by `constants` beforehand, with the same pool.
inline std::vector<uint8_t> class_with_method(ClassFile& file, const RawCode& raw, uint16_t access,
                                              std::string_view name, std::string_view descriptor) {
  ByteWriter out;
  out.u2(raw.max_stack);
  out.u2(raw.max_locals);
  out.u4(static_cast<uint32_t>(raw.code.size()));
  out.append(raw.code);
  out.u2(static_cast<uint32_t>(raw.exceptions.size()));
  for (const RawException& entry : raw.exceptions) {
    out.u2(entry.start), out.u2(entry.end), out.u2(entry.handler), out.u2(entry.catch_type);
  }
  out.u2(static_cast<uint32_t>(raw.attributes.size()));
  for (const auto& [attribute, content] : raw.attributes) {
    out.u2(file.pool().add_utf8(attribute));
    out.u4(static_cast<uint32_t>(content.size()));
    out.append(content);
  }
  EXPECT_TRUE(file.add_method(access, name, descriptor, out.bytes()).ok());
  return file.write();
}

// A class and the one method to look at; owns the bytes.
struct TestClass {
  explicit TestClass(const RawCode& raw, uint16_t version = 52, uint16_t access = kAccStatic,
                     std::string_view name = "m", std::string_view descriptor = "()V")
      : TestClass(version, [&](ClassFile& file) { return class_with_method(file, raw, access, name, descriptor); }) {}

  template <typename Build>
  TestClass(uint16_t version, Build build) : base(empty_class(version)) {
    auto empty = ClassFile::parse(base);
    bytes = build(*empty);
    auto parsed = ClassFile::parse(bytes);
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    file.emplace(std::move(*parsed));
  }

  const Member& method() const { return file->methods().at(0); }
  Code code() const {
    auto parsed = Code::parse(*file, method());
    EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
    return parsed.ok() ? std::move(*parsed) : Code();
  }

  std::vector<uint8_t> base;
  std::vector<uint8_t> bytes;
  std::optional<ClassFile> file;
};

// "0:aload_0 ..." by numbers: pc:opcode, for branches pc:opcode>target. Calls are listed with the name of the callee.
inline std::string listing(const ClassFile& file, const Code& code) {
  std::vector<uint32_t> pc_of_label(code.label_count, UINT32_MAX);
  uint32_t next = UINT32_MAX;
  for (size_t i = code.nodes.size(); i > 0; i--) {
    const Node& node = code.nodes[i - 1];
    if (node.is_instruction()) next = node.pc;
    if (node.kind == Node::kLabel) pc_of_label[node.label.index()] = next;
  }
  const auto target = [&](LabelId label) { return ">" + std::to_string(pc_of_label[label.index()]); };
  std::string text;
  for (const Node& node : code.nodes) {
    if (node.kind == Node::kLabel) continue;
    if (!text.empty()) text += ' ';
    text += std::to_string(node.pc) + ":" + std::to_string(node.opcode);
    if (node.kind == Node::kBranch) text += target(node.label);
    if (node.kind == Node::kSwitch) {
      for (const LabelId label : code.switches[node.offset].targets) text += target(label);
      text += " default" + target(code.switches[node.offset].default_target);
    }
    if (node.kind == Node::kPlain && is_invoke(node.opcode)) {
      const auto callee = file.pool().member_ref(load_u2(&code.bytes_of(node)[1]));
      text += callee ? "(" + std::string(callee->name) + ")" : "(?)";
    }
  }
  return text;
}

// "[start,end)->handler" for each entry.
inline std::string exceptions(const Member& method) {
  ByteReader reader(method.code);
  reader.take(4);
  reader.take(reader.u4());
  std::string text;
  for (int left = reader.u2(); left > 0; left--) {
    const uint16_t start = reader.u2(), end = reader.u2(), handler = reader.u2();
    reader.u2();
    text += "[" + std::to_string(start) + "," + std::to_string(end) + ")->" + std::to_string(handler) + " ";
  }
  return text;
}

// Replaces the method's body with `code` and parses the class again.
inline TestClass rewritten(TestClass& test, Code& code) {
  auto bytes = code.encode(test.file->pool());
  EXPECT_TRUE(bytes.ok()) << (bytes.ok() ? "" : bytes.error().message);
  if (bytes) test.file->replace_code(0, std::move(*bytes));
  return TestClass(test.file->major_version(), [&](ClassFile&) { return test.file->write(); });
}

}  // namespace contrafact::classfile
