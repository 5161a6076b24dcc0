// Code::encode: from the list of instructions and labels back to a Code attribute.
//
//   lay out (widen branches until all fit) -> give frames to the labels that need one -> write
#include <algorithm>

#include "classfile/code.h"
#include "classfile/types.h"

namespace contrafact::classfile {

using base::Error;
using base::Result;
using base::Status;

namespace {

constexpr uint32_t kMaxEntries = 65535;  // of any table

bool fits_16(int64_t distance) {
  return distance >= INT16_MIN && distance <= INT16_MAX;
}

class CodeWriter {
 public:
  CodeWriter(Code& code, ConstantPool& pool) : code_(code), pool_(pool) {}

  Result<std::vector<uint8_t>> write() {
    Status status = lay_out();
    if (status && code_.has_frames) status = complete_frames();
    if (!status) return status.error();
    if (code_.max_stack > 65535 || code_.max_locals > 65535) return Error{"max_stack or max_locals exceeds 65535"};
    out_.reserve(code_.bytes.size() * 2);
    out_.u2(code_.max_stack);
    out_.u2(code_.max_locals);
    out_.u4(code_pc_.back());
    for (size_t i = 0; i < code_.nodes.size(); i++) put_instruction(i);
    status = put_exceptions();
    if (status) status = put_attributes();
    if (!status) return status.error();
    return out_.release();
  }

 private:
  uint32_t pc_of(LabelId label) const { return code_pc_[node_of_label_[label.index()]]; }

  uint32_t bytes_at(const Node& node, uint32_t pc) const {
    switch (node.kind) {
      case Node::kLabel:
        return 0;
      case Node::kPlain:
        return node.length;
      case Node::kBranch:
        return has_wide_offset(node.opcode) ? 5 : 3;
      case Node::kSwitch:
        break;
    }
    const size_t targets = code_.switches[node.offset].targets.size();
    const size_t operands = node.opcode == kTableswitch ? 12 + 4 * targets : 8 + 8 * targets;
    return 1 + (3 - pc % 4) + static_cast<uint32_t>(operands);
  }

  // Widening one branch moves others apart, so it repeats until all fit: at most once for each branch.
  Status lay_out() {
    for (bool again = true; again;) {
      node_of_label_.assign(code_.label_count, 0);
      code_pc_.assign(code_.nodes.size() + 1, 0);
      uint64_t pc = 0;
      for (size_t i = 0; i < code_.nodes.size(); i++) {
        const Node& node = code_.nodes[i];
        code_pc_[i] = static_cast<uint32_t>(pc);
        if (node.kind == Node::kLabel) node_of_label_[node.label.index()] = i;
        pc += bytes_at(node, code_pc_[i]);
        if (pc > 2 * kMaxCodeBytes) break;
      }
      if (pc > kMaxCodeBytes || pc == 0) {
        return Error{
            "the code would be " +
            (pc == 0 ? "empty" : "longer than the " + std::to_string(kMaxCodeBytes) + " bytes that a method may have")};
      }
      code_pc_.back() = static_cast<uint32_t>(pc);
      again = widen();
    }
    return {};
  }

  // True if some branch had to be changed. A conditional one has no wide form:
  //     ifeq target   becomes   ifne over; goto_w target; over:
  bool widen() {
    std::vector<Node> out;
    bool changed = false;
    for (size_t i = 0; i < code_.nodes.size(); i++) {
      const Node& node = code_.nodes[i];
      const bool fits = node.kind != Node::kBranch || has_wide_offset(node.opcode) ||
                        fits_16(int64_t{pc_of(node.label)} - code_pc_[i]);
      if (fits) {
        if (changed) out.push_back(node);
        continue;
      }
      if (!changed) out.assign(code_.nodes.begin(), code_.nodes.begin() + static_cast<ptrdiff_t>(i));
      changed = true;
      code_.notes.branches_widened++;
      Node jump = node;
      jump.opcode = node.opcode == kJsr ? kJsrW : kGotoW;
      if (!is_conditional_branch(node.opcode)) {
        out.push_back(jump);
        continue;
      }
      Node inverted = node;
      inverted.opcode = inverted_branch(node.opcode);
      inverted.label = code_.new_label();
      Node over;
      over.label = inverted.label;
      jump.pc = Node::kInserted;
      out.insert(out.end(), {inverted, jump, over});
    }
    if (changed) code_.nodes = std::move(out);
    return changed;
  }

  // A frame is needed wherever something jumps to, and behind an unconditional branch. The method's own labels have
  // frames; a label that an edit inserted gets the types that flow into it.
  Status complete_frames() {
    std::vector<bool> needs_frame(code_.label_count, false);
    const auto need = [&](LabelId label) { needs_frame[label.index()] = true; };
    for (const Node& node : code_.nodes) {
      if (node.kind == Node::kBranch) need(node.label);
      if (node.kind != Node::kSwitch) continue;
      need(code_.switches[node.offset].default_target);
      for (const LabelId target : code_.switches[node.offset].targets) need(target);
    }
    for (const ExceptionEntry& entry : code_.exceptions) need(entry.handler);

    // By place, since several labels can be at one.
    std::unordered_map<uint32_t, const Frame*> frame_at;
    for (const auto& [label, frame] : code_.frames) frame_at[pc_of(label)] = &frame;
    std::vector<LabelId> missing;
    for (uint32_t i = 0; i < code_.label_count; i++) {
      if (needs_frame[i] && !frame_at.contains(pc_of(LabelId(i)))) missing.push_back(LabelId(i));
    }
    if (missing.empty()) return {};
    std::unordered_map<LabelId, Frame> inferred;
    const Status status = infer_types(code_, pool_, [&](size_t node, const Frame& before) {
      const Node& at = code_.nodes[node];
      if (at.kind != Node::kLabel || !needs_frame[at.label.index()] || frame_at.contains(code_pc_[node])) return;
      inferred.emplace(at.label, before);
    });
    if (!status) return status;
    for (const LabelId label : missing) {
      const auto found = inferred.find(label);
      if (found == inferred.end())
        return Error{"an inserted branch target cannot be reached, so its types are unknown"};
      trim(found->second.locals);
      code_.frames.emplace(label, std::move(found->second));
    }
    return {};
  }

  static void trim(std::vector<VerificationType>& locals) {
    while (!locals.empty() && locals.back().tag == VerificationType::kTop) locals.pop_back();
  }

  void put_instruction(size_t i) {
    const Node& node = code_.nodes[i];
    const uint32_t pc = code_pc_[i];
    if (node.kind == Node::kLabel) return;
    if (node.kind == Node::kPlain) return out_.append(code_.bytes_of(node));
    out_.u1(node.opcode);
    if (node.kind == Node::kSwitch) return put_switch(node, pc);
    const uint32_t distance = pc_of(node.label) - pc;
    if (has_wide_offset(node.opcode)) {
      out_.u4(distance);
    } else {
      out_.u2(distance);
    }
  }

  void put_switch(const Node& node, uint32_t pc) {
    const SwitchTable& table = code_.switches[node.offset];
    for (uint32_t padding = 3 - pc % 4; padding > 0; padding--) out_.u1(0);
    out_.u4(pc_of(table.default_target) - pc);
    const uint32_t count = static_cast<uint32_t>(table.targets.size());
    if (node.opcode == kTableswitch) {
      out_.u4(static_cast<uint32_t>(table.low));
      out_.u4(static_cast<uint32_t>(table.low) + count - 1);
    } else {
      out_.u4(count);
    }
    for (size_t i = 0; i < count; i++) {
      if (node.opcode == kLookupswitch) out_.u4(static_cast<uint32_t>(table.keys[i]));
      out_.u4(pc_of(table.targets[i]) - pc);
    }
  }

  Status put_exceptions() {
    std::vector<const ExceptionEntry*> entries;
    for (const ExceptionEntry& entry : code_.exceptions) {
      if (pc_of(entry.start) < pc_of(entry.end)) entries.push_back(&entry);
    }
    if (entries.size() > kMaxEntries) return Error{"the exception table would be too long"};
    out_.u2(static_cast<uint32_t>(entries.size()));
    for (const ExceptionEntry* entry : entries) {
      out_.u2(pc_of(entry->start));
      out_.u2(pc_of(entry->end));
      out_.u2(pc_of(entry->handler));
      out_.u2(entry->catch_type);
    }
    return {};
  }

  Status put_attributes() {
    const auto is_frames = [](const CodeAttribute& attribute) { return attribute.kind == CodeAttribute::kFrames; };
    std::vector<CodeAttribute>& attributes = code_.attributes;
    const bool wanted = code_.has_frames && !code_.frames.empty();
    if (!wanted) std::erase_if(attributes, is_frames);
    if (wanted && std::none_of(attributes.begin(), attributes.end(), is_frames)) {
      CodeAttribute frames;
      frames.kind = CodeAttribute::kFrames;
      frames.name_index = pool_.add_utf8("StackMapTable");
      if (frames.name_index == 0) return Error{"the constant pool is full"};
      attributes.push_back(std::move(frames));
    }
    if (attributes.size() > kMaxEntries) return Error{"the code has too many attributes"};
    out_.u2(static_cast<uint32_t>(attributes.size()));
    for (const CodeAttribute& attribute : attributes) {
      out_.u2(attribute.name_index);
      const size_t begin = out_.begin_length();
      if (Status status = put_attribute(attribute); !status) return status;
      out_.end_length(begin);
    }
    return {};
  }

  Status put_attribute(const CodeAttribute& attribute) {
    switch (attribute.kind) {
      case CodeAttribute::kRaw:
        out_.append(attribute.raw);
        return {};
      case CodeAttribute::kLines:
        out_.u2(static_cast<uint32_t>(attribute.lines.size()));
        for (const LineEntry& entry : attribute.lines) {
          out_.u2(pc_of(entry.start));
          out_.u2(entry.line);
        }
        return {};
      case CodeAttribute::kLocals:
        out_.u2(static_cast<uint32_t>(attribute.locals.size()));
        for (const LocalEntry& entry : attribute.locals) {
          out_.u2(pc_of(entry.start));
          out_.u2(pc_of(entry.end) - pc_of(entry.start));
          out_.u2(entry.name);
          out_.u2(entry.type);
          out_.u2(entry.slot);
        }
        return {};
      case CodeAttribute::kFrames:
        return put_frames();
    }
    return {};
  }

  Status put_frames() {
    std::vector<FrameAt> frames;
    // In the order of the nodes; of several labels at one place, the method's own frame is the last and the widest.
    for (size_t i = 0; i < code_.nodes.size(); i++) {
      if (code_.nodes[i].kind != Node::kLabel) continue;
      const auto found = code_.frames.find(code_.nodes[i].label);
      if (found == code_.frames.end()) continue;
      if (!frames.empty() && frames.back().pc == code_pc_[i]) frames.pop_back();
      frames.push_back({code_pc_[i], found->second});
    }
    const auto bytes = write_frames(frames, code_.entry, pool_, [this](LabelId site) { return pc_of(site); });
    if (!bytes) return bytes.error();
    out_.append(*bytes);
    return {};
  }

  Code& code_;
  ConstantPool& pool_;
  std::vector<uint32_t> code_pc_;      // by node, and the end
  std::vector<size_t> node_of_label_;  // by label
  ByteWriter out_;
};

}  // namespace

Result<std::vector<uint8_t>> Code::encode(ConstantPool& pool) {
  auto bytes = CodeWriter(*this, pool).write();
  if (!bytes) {
    return Error{std::string(method_name) + ": " + bytes.error().message};
  }
  return bytes;
}

}  // namespace contrafact::classfile
