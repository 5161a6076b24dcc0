#include "classfile/frames.h"

#include <algorithm>

#include "base/check.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;
using Type = VerificationType;
using Types = std::vector<VerificationType>;

namespace {

// Expanded frames take more memory than their encoding: hostile input could make it quadratic. 65,535 bytes of real
// code stay far below this.
constexpr size_t kMaxSlotsInAllFrames = size_t{4} << 20;

// JVMS 4.7.4: frame_type.
constexpr uint8_t kSameMax = 63;
constexpr uint8_t kSameLocals1Min = 64;
constexpr uint8_t kSameLocals1Max = 127;
constexpr uint8_t kSameLocals1Extended = 247;
constexpr uint8_t kSameExtended = 251;  // chops count down to it, appends up from it
constexpr uint8_t kFull = 255;

void push_slots(Types& slots, const Type& type) {
  slots.push_back(type);
  if (type.is_wide()) slots.push_back(Type{Type::kSecondHalf});
}

class FrameReader {
 public:
  FrameReader(Bytes content, const ConstantPool& pool, uint32_t max_stack, uint32_t max_locals,
              const std::function<LabelId(uint32_t)>& label_at)
      : reader_(content), pool_(pool), max_stack_(max_stack), max_locals_(max_locals), label_at_(label_at) {}

  Result<std::vector<FrameAt>> read(Frame current) {
    std::vector<FrameAt> frames;
    const uint16_t count = reader_.u2();
    int64_t pc = -1;
    size_t slots = 0;
    for (int i = 0; i < count; i++) {
      current.stack.clear();
      uint32_t delta = 0;
      Status status = read_one(current, delta);
      if (!reader_.ok()) status = Error{"is cut off"};
      if (status && current.locals.size() > max_locals_) status = Error{"has more locals than max_locals"};
      if (status && current.stack.size() > max_stack_) status = Error{"has a deeper stack than max_stack"};
      slots += current.locals.size() + current.stack.size();
      if (status && slots > kMaxSlotsInAllFrames) status = Error{"makes the table too large"};
      if (!status) return Error{"StackMapTable: frame " + std::to_string(i) + " " + status.error().message};
      pc += int64_t{delta} + 1;
      frames.push_back({static_cast<uint32_t>(pc), current});
    }
    if (!reader_.ok() || !reader_.at_end()) return Error{"StackMapTable: its length is wrong"};
    return frames;
  }

 private:
  Status read_one(Frame& frame, uint32_t& delta) {
    const uint8_t type = reader_.u1();
    if (type <= kSameLocals1Max) {
      delta = type % kSameLocals1Min;
      return type <= kSameMax ? Status() : read_types(frame.stack, 1);
    }
    if (type < kSameLocals1Extended) return Error{"has the unknown type " + std::to_string(type)};
    delta = reader_.u2();
    if (type == kSameLocals1Extended) return read_types(frame.stack, 1);
    if (type <= kSameExtended) return chop(frame.locals, kSameExtended - type);
    if (type < kFull) return read_types(frame.locals, type - kSameExtended);
    frame.locals.clear();
    if (Status status = read_types(frame.locals, reader_.u2()); !status) return status;
    return read_types(frame.stack, reader_.u2());
  }

  static Status chop(Types& locals, int count) {
    for (; count > 0; count--) {
      if (locals.empty()) return Error{"removes locals that are not there"};
      if (locals.back().tag == Type::kSecondHalf) locals.pop_back();
      locals.pop_back();
    }
    return {};
  }

  Status read_types(Types& slots, int count) {
    for (; count > 0 && reader_.ok(); count--) {
      Type type;
      const uint8_t tag = reader_.u1();
      if (tag > Type::kUninitialized) return Error{"has a type with the unknown tag " + std::to_string(tag)};
      type.tag = static_cast<Type::Tag>(tag);
      if (type.tag == Type::kObject) {
        type.class_index = reader_.u2();
        const auto name = pool_.class_name(type.class_index);
        if (!name) return Error{"names a type that is not a class constant"};
        type.class_name = *name;
      } else if (type.tag == Type::kUninitialized) {
        type.new_site = label_at_(reader_.u2());
        if (!type.new_site.valid()) return Error{"has an uninitialized type without an instruction"};
      }
      push_slots(slots, type);
    }
    return {};
  }

  ByteReader reader_;
  const ConstantPool& pool_;
  uint32_t max_stack_;
  uint32_t max_locals_;
  const std::function<LabelId(uint32_t)>& label_at_;
};

// The format's list: one entry for a long, not two.
Types compact(const Types& slots) {
  Types entries;
  entries.reserve(slots.size());
  for (const Type& type : slots) {
    if (type.tag != Type::kSecondHalf) entries.push_back(type);
  }
  return entries;
}

class FrameWriter {
 public:
  FrameWriter(ConstantPool& pool, const std::function<uint32_t(LabelId)>& pc_of) : pool_(pool), pc_of_(pc_of) {}

  void put_frame(const Types& previous, const Types& locals, const Types& stack, uint32_t delta) {
    const auto common = static_cast<size_t>(
        std::mismatch(previous.begin(), previous.end(), locals.begin(), locals.end()).first - previous.begin());
    const bool same = common == previous.size() && common == locals.size();
    if (same && stack.size() <= 1) return put_same(stack, delta);
    if (stack.empty() && common == locals.size() && previous.size() - common <= 3) {
      out_.u1(kSameExtended - static_cast<uint32_t>(previous.size() - common));
      return out_.u2(delta);
    }
    if (stack.empty() && common == previous.size() && locals.size() - common <= 3) {
      out_.u1(kSameExtended + static_cast<uint32_t>(locals.size() - common));
      out_.u2(delta);
      for (size_t i = common; i < locals.size(); i++) put_type(locals[i]);
      return;
    }
    out_.u1(kFull);
    out_.u2(delta);
    put_types(locals);
    put_types(stack);
  }

  void put_count(size_t count) { out_.u2(static_cast<uint32_t>(count)); }
  bool pool_full() const { return pool_full_; }
  std::vector<uint8_t> release() { return out_.release(); }

 private:
  void put_same(const Types& stack, uint32_t delta) {
    const uint8_t base = stack.empty() ? 0 : kSameLocals1Min;
    if (delta <= kSameMax) {
      out_.u1(base + delta);
    } else {
      out_.u1(stack.empty() ? kSameExtended : kSameLocals1Extended);
      out_.u2(delta);
    }
    if (!stack.empty()) put_type(stack[0]);
  }

  void put_types(const Types& types) {
    out_.u2(static_cast<uint32_t>(types.size()));
    for (const Type& type : types) put_type(type);
  }

  void put_type(const Type& type) {
    // A return address has no encoding. Only a class of version 50 with jsr can get here; the verifier then falls back.
    out_.u1(type.tag == Type::kReturnAddress ? Type::kTop : type.tag);
    if (type.tag == Type::kObject) {
      const uint16_t index = type.class_index != 0 ? type.class_index : pool_.add_class(type.class_name);
      pool_full_ |= index == 0;
      out_.u2(index);
    } else if (type.tag == Type::kUninitialized) {
      out_.u2(pc_of_(type.new_site));
    }
  }

  ByteWriter out_;
  ConstantPool& pool_;
  const std::function<uint32_t(LabelId)>& pc_of_;
  bool pool_full_ = false;
};

}  // namespace

bool Frame::this_uninitialized() const {
  return std::any_of(locals.begin(), locals.end(), [](const Type& t) { return t.tag == Type::kUninitializedThis; });
}

TypeDescriptor stored_like(const Type& type) {
  switch (type.tag) {
    case Type::kInteger:
      return {'I', "I"};
    case Type::kFloat:
      return {'F', "F"};
    case Type::kLong:
      return {'J', "J"};
    case Type::kDouble:
      return {'D', "D"};
    default:
      return {'L', "Ljava/lang/Object;"};
  }
}

void push_type(Types& slots, const TypeDescriptor& type) {
  switch (type.kind) {
    case 'V':
      return;
    case 'J':
      return push_slots(slots, Type{Type::kLong});
    case 'D':
      return push_slots(slots, Type{Type::kDouble});
    case 'F':
      return push_slots(slots, Type{Type::kFloat});
    case 'L':
    case '[':
      return push_slots(slots, Type::object(type.class_name()));
    default:
      return push_slots(slots, Type{Type::kInteger});
  }
}

void set_local(Types& locals, size_t slot, const Type& type) {
  const size_t end = slot + (type.is_wide() ? 2 : 1);
  if (locals.size() < end) locals.resize(end);
  if (locals[slot].tag == Type::kSecondHalf && slot > 0) locals[slot - 1] = Type();
  if (end < locals.size() && locals[end].tag == Type::kSecondHalf) locals[end] = Type();
  locals[slot] = type;
  if (type.is_wide()) locals[slot + 1] = Type{Type::kSecondHalf};
}

Frame entry_frame(std::string_view class_name, bool is_static, bool this_uninitialized,
                  const MethodDescriptor& descriptor) {
  Frame frame;
  if (!is_static) {
    frame.locals.push_back(this_uninitialized ? Type{Type::kUninitializedThis} : Type::object(class_name));
  }
  for (const TypeDescriptor& argument : descriptor.arguments) push_type(frame.locals, argument);
  return frame;
}

Result<std::vector<FrameAt>> read_frames(Bytes content, const ConstantPool& pool, const Frame& entry,
                                         uint32_t max_stack, uint32_t max_locals,
                                         const std::function<LabelId(uint32_t)>& label_at) {
  return FrameReader(content, pool, max_stack, max_locals, label_at).read(entry);
}

Result<std::vector<uint8_t>> write_frames(const std::vector<FrameAt>& frames, const Frame& entry, ConstantPool& pool,
                                          const std::function<uint32_t(LabelId)>& pc_of) {
  FrameWriter writer(pool, pc_of);
  writer.put_count(frames.size());
  Types previous = compact(entry.locals);
  int64_t previous_pc = -1;
  for (const FrameAt& at : frames) {
    CHECK(int64_t{at.pc} > previous_pc);
    Types locals = compact(at.frame.locals);
    writer.put_frame(previous, locals, compact(at.frame.stack), static_cast<uint32_t>(at.pc - previous_pc - 1));
    previous = std::move(locals);
    previous_pc = at.pc;
  }
  if (writer.pool_full()) return Error{"the constant pool is full"};
  return writer.release();
}

}  // namespace contrafact::classfile
