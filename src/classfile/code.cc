#include "classfile/code.h"

#include "base/check.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

Error at_pc(uint32_t pc, std::string_view what) {
  return Error{std::string(what) + " at pc " + std::to_string(pc)};
}

// Turns a Code attribute into a Code. Labels are made on demand, while everything that refers to them is read, and only
// then put between the instructions.
class CodeParser {
 public:
  CodeParser(const ClassFile& file, Code& code) : file_(file), code_(code) {}

  Status parse(Bytes content) {
    ByteReader reader(content);
    code_.max_stack = code_.original_max_stack = reader.u2();
    code_.max_locals = reader.u2();
    const uint32_t length = reader.u4();
    const Bytes bytes = reader.take(length);
    if (!reader.ok() || length == 0 || length > kMaxCodeBytes) return Error{"the code is cut off, empty or too long"};
    code_.bytes.assign(bytes.begin(), bytes.end());
    if (code_.entry.locals.size() > code_.max_locals) return Error{"the arguments need more locals than max_locals"};
    Status status = find_instructions();
    if (status) status = decode_instructions();
    if (status) status = read_exceptions(reader);
    if (status) status = read_code_attributes(reader);
    if (!status) return status;
    if (!reader.at_end()) return Error{"the Code attribute has bytes after its end"};
    place_labels();
    return {};
  }

 private:
  uint32_t code_bytes() const { return static_cast<uint32_t>(label_of_pc_.size() - 1); }

  // The label before the instruction at `pc`, or none() if none starts there; the end of the code counts as a start.
  LabelId label_at(uint32_t pc) {
    if (pc > code_bytes() || !starts_[pc]) return LabelId::none();
    if (!label_of_pc_[pc].valid()) label_of_pc_[pc] = code_.new_label();
    return label_of_pc_[pc];
  }

  LabelId instruction_label_at(int64_t pc) {
    return pc < 0 || pc >= code_bytes() ? LabelId::none() : label_at(static_cast<uint32_t>(pc));
  }

  Status find_instructions() {
    const uint32_t size = static_cast<uint32_t>(code_.bytes.size());
    starts_.resize(size + 1);
    label_of_pc_.resize(size + 1);
    for (uint32_t pc = 0; pc < size;) {
      const auto length = instruction_bytes(code_.bytes, pc);
      if (!length) return at_pc(pc, "unknown or malformed instruction " + std::to_string(code_.bytes[pc]));
      starts_[pc] = true;
      pc += *length;
    }
    starts_[size] = true;
    return {};
  }

  Status decode_instructions() {
    const uint32_t size = static_cast<uint32_t>(code_.bytes.size());
    for (uint32_t pc = 0; pc < size; pc += instructions_.back().length) {
      Node node;
      node.kind = Node::kPlain;
      node.opcode = code_.bytes[pc];
      node.pc = node.offset = pc;
      node.length = *instruction_bytes(code_.bytes, pc);
      if (is_branch(node.opcode)) {
        node.kind = Node::kBranch;
        const uint8_t* operand = &code_.bytes[pc + 1];
        const int32_t distance = has_wide_offset(node.opcode) ? static_cast<int32_t>(load_u4(operand))
                                                              : static_cast<int16_t>(load_u2(operand));
        node.label = instruction_label_at(int64_t{pc} + distance);
        if (!node.label.valid()) return at_pc(pc, "a branch goes to no instruction");
      } else if (is_switch(node.opcode)) {
        node.kind = Node::kSwitch;
        if (Status status = decode_switch(node); !status) return status;
      }
      if (node.opcode == kNew) label_at(pc);  // what uninitialized types refer to
      code_.has_jsr |= is_jsr(node.opcode) || code_.effective_opcode(node) == kRet;
      instructions_.push_back(node);
    }
    return {};
  }

  Status decode_switch(Node& node) {
    ByteReader reader(code_.bytes);
    reader.take(node.pc + 4 - node.pc % 4);
    SwitchTable table;
    bool targets_exist = true;
    const auto target = [&] {
      const LabelId label = instruction_label_at(int64_t{node.pc} + static_cast<int32_t>(reader.u4()));
      targets_exist &= label.valid();
      return label;
    };
    table.default_target = target();
    if (node.opcode == kTableswitch) {
      table.low = static_cast<int32_t>(reader.u4());
      const int64_t count = int64_t{static_cast<int32_t>(reader.u4())} - table.low + 1;
      for (int64_t i = 0; i < count; i++) table.targets.push_back(target());
    } else {
      const uint32_t count = reader.u4();
      for (uint32_t i = 0; i < count; i++) {
        table.keys.push_back(static_cast<int32_t>(reader.u4()));
        table.targets.push_back(target());
      }
    }
    if (!targets_exist) return at_pc(node.pc, "a switch goes to no instruction");
    node.offset = static_cast<uint32_t>(code_.switches.size());
    code_.switches.push_back(std::move(table));
    return {};
  }

  Status read_exceptions(ByteReader& reader) {
    const uint16_t count = reader.u2();
    for (int i = 0; i < count; i++) {
      const uint16_t start = reader.u2();
      const uint16_t end = reader.u2();
      const uint16_t handler = reader.u2();
      const uint16_t catch_type = reader.u2();
      if (!reader.ok()) return Error{"the exception table is cut off"};
      const ExceptionEntry entry{instruction_label_at(start), label_at(end), instruction_label_at(handler), catch_type};
      const bool typed = catch_type == 0 || file_.pool().class_name(catch_type);
      if (!entry.start.valid() || !entry.end.valid() || !entry.handler.valid() || start >= end || !typed) {
        return Error{"exception table: entry " + std::to_string(i) + " is malformed"};
      }
      code_.exceptions.push_back(entry);
    }
    return reader.ok() ? Status() : Status(Error{"the exception table is cut off"});
  }

  Status read_code_attributes(ByteReader& reader) {
    const auto attributes = read_attributes(reader, file_.pool());
    if (!attributes) return Error{"Code: " + attributes.error().message};
    bool frames_seen = false;
    for (const Attribute& attribute : *attributes) {
      CodeAttribute kept;
      kept.name_index = attribute.name_index;
      Status status;
      if (attribute.name == "LineNumberTable") {
        kept.kind = CodeAttribute::kLines;
        status = read_lines(attribute.content, kept.lines);
      } else if (attribute.name == "LocalVariableTable" || attribute.name == "LocalVariableTypeTable") {
        kept.kind = CodeAttribute::kLocals;
        status = read_locals(attribute.content, kept.locals);
      } else if (attribute.name == "StackMapTable" && file_.major_version() >= kVersionFrames) {
        if (frames_seen) return Error{"the code has two StackMapTables"};
        kept.kind = CodeAttribute::kFrames;
        frames_seen = true;
        status = read_stack_map(attribute.content);
      } else if (holds_offsets(attribute.name)) {
        code_.notes.attributes_dropped++;
        continue;
      } else {
        kept.raw = attribute.content;
      }
      if (!status) return status;
      code_.attributes.push_back(std::move(kept));
    }
    decide_on_frames(frames_seen);
    return {};
  }

  static bool holds_offsets(std::string_view name) {
    return name == "RuntimeVisibleTypeAnnotations" || name == "RuntimeInvisibleTypeAnnotations" || name == "StackMap" ||
           name == "StackMapTable" || name == "CharacterRangeTable";
  }

  // Version 50 may lack frames although its code branches: then the verifier falls back to inference of its own, and
  // must go on doing so.
  void decide_on_frames(bool frames_seen) {
    bool branches = !code_.exceptions.empty();
    for (const Node& node : instructions_) branches |= node.kind == Node::kBranch || node.kind == Node::kSwitch;
    code_.has_frames = file_.major_version() >= kVersionFramesRequired ||
                       (file_.major_version() == kVersionFrames && (frames_seen || !branches) && !code_.has_jsr);
  }

  Status read_lines(Bytes content, std::vector<LineEntry>& lines) {
    ByteReader reader(content);
    for (int left = reader.u2(); left > 0 && reader.ok(); left--) {
      const LabelId start = label_at(reader.u2());
      const uint16_t line = reader.u2();
      if (start.valid()) {
        lines.push_back({start, line});
      } else {
        code_.notes.debug_entries_dropped++;
      }
    }
    return reader.ok() && reader.at_end() ? Status() : Status(Error{"LineNumberTable: its length is wrong"});
  }

  Status read_locals(Bytes content, std::vector<LocalEntry>& locals) {
    ByteReader reader(content);
    for (int left = reader.u2(); left > 0 && reader.ok(); left--) {
      LocalEntry entry;
      const uint32_t start = reader.u2();
      entry.start = label_at(start);
      entry.end = label_at(start + reader.u2());
      entry.name = reader.u2();
      entry.type = reader.u2();
      entry.slot = reader.u2();
      if (entry.start.valid() && entry.end.valid()) {
        locals.push_back(entry);
      } else {
        code_.notes.debug_entries_dropped++;
      }
    }
    return reader.ok() && reader.at_end() ? Status() : Status(Error{"a local variable table's length is wrong"});
  }

  Status read_stack_map(Bytes content) {
    auto frames = read_frames(content, file_.pool(), code_.entry, code_.max_stack, code_.max_locals,
                              [this](uint32_t pc) { return instruction_label_at(pc); });
    if (!frames) return frames.error();
    for (FrameAt& at : *frames) {
      const LabelId label = instruction_label_at(at.pc);
      if (!label.valid()) return at_pc(at.pc, "StackMapTable: a frame belongs to no instruction");
      code_.frames.emplace(label, std::move(at.frame));
    }
    return {};
  }

  void place_labels() {
    code_.nodes.reserve(instructions_.size() + code_.label_count);
    const auto place = [&](uint32_t pc) {
      if (!label_of_pc_[pc].valid()) return;
      Node node;
      node.label = label_of_pc_[pc];
      code_.nodes.push_back(node);
    };
    for (const Node& instruction : instructions_) {
      place(instruction.pc);
      code_.nodes.push_back(instruction);
    }
    place(code_bytes());
  }

  const ClassFile& file_;
  Code& code_;
  std::vector<bool> starts_;          // by pc: an instruction starts there
  std::vector<LabelId> label_of_pc_;  // by pc, up to and including the end of the code
  std::vector<Node> instructions_;
};

}  // namespace

Result<Code> Code::empty(const ClassFile& file, uint16_t access, std::string_view name, std::string_view descriptor) {
  Code code;
  auto parsed = parse_method_descriptor(descriptor);
  if (!parsed) return Error{"malformed method descriptor " + std::string(descriptor)};
  code.class_name = file.name();
  code.method_name = name;
  code.major_version = file.major_version();
  code.access = access;
  code.descriptor = std::move(*parsed);
  const bool this_uninitialized = name == "<init>" && file.name() != "java/lang/Object";
  code.entry = entry_frame(code.class_name, (access & kAccStatic) != 0, this_uninitialized, code.descriptor);
  code.max_locals = static_cast<uint32_t>(code.entry.locals.size());
  code.has_frames = file.major_version() >= kVersionFrames;
  return code;
}

Result<Code> Code::parse(const ClassFile& file, const Member& method) {
  const std::string label = std::string(method.name) + std::string(method.descriptor) + ": ";
  if (!method.has_code()) return Error{label + "no code (abstract or native)"};
  auto code = empty(file, method.access, method.name, method.descriptor);
  if (!code) return Error{label + code.error().message};
  if (Status status = CodeParser(file, *code).parse(method.code); !status) return Error{label + status.error().message};
  return code;
}

bool becomes_huge(Bytes original, Bytes edited) {
  const auto code_bytes = [](Bytes content) {
    ByteReader reader(content);
    reader.take(4);  // max_stack, max_locals
    return reader.u4();
  };
  return code_bytes(original) <= kHugeCodeBytes && code_bytes(edited) > kHugeCodeBytes;
}

uint32_t Code::new_local(std::string_view type) {
  const auto parsed = parse_field_descriptor(type);
  CHECK(parsed.has_value());
  const uint32_t slot = max_locals;
  max_locals += static_cast<uint32_t>(parsed->slots());
  return slot;
}

}  // namespace contrafact::classfile
