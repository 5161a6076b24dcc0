#include "classfile/flow_code.h"

#include <algorithm>

#include "classfile/node_list.h"

namespace contrafact::classfile {

using base::Status;

namespace {

constexpr uint32_t kNoVariable = UINT32_MAX;

}  // namespace

FlowCode::FlowCode(Code& code, ClassFile& file, std::string_view tracker)
    : code_(code), file_(file), tracker_(tracker), locals_(code.max_locals) {
  needed_.assign(locals_, false);
}

void FlowCode::begin_writing(bool asks_depth, bool asks_inputs) {
  writing_ = true;
  variables_.assign(locals_, kNoVariable);
  for (uint32_t local = 0; local < locals_; ++local) {
    if (needed_[local]) defined_.push_back(variables_[local] = code_.new_local("I"));
  }
  if (asks_depth) defined_.push_back(depth_local_ = code_.new_local("I"));
  if (asks_inputs) defined_.push_back(inputs_local_ = code_.new_local("I"));
  for (auto& [label, frame] : code_.frames) {
    for (const uint32_t variable : defined_) set_local(frame.locals, variable, {VerificationType::kInteger});
  }
  out_.reserve(4 * code_.nodes.size());
}

uint32_t FlowCode::variable(Shadow shadow) {
  if (shadow >= variables_.size()) variables_.resize(shadow + 1, kNoVariable);
  if (variables_[shadow] == kNoVariable) variables_[shadow] = code_.new_local("I");
  return variables_[shadow];
}

void FlowCode::load(Sequence& sequence, const Taint& taint) {
  if (taint.empty()) return number(sequence, 0);
  bool first = true;
  for (const Shadow part : taint.parts()) {
    if (!writing_) {
      if (is_of_local(part)) needed_[part] = true;
      continue;
    }
    sequence.iload(variable(part));
    if (!first) call(sequence, "joined", "(II)I");
    first = false;
  }
}

void FlowCode::store(Sequence& sequence, Shadow shadow) {
  if (writing_) {
    sequence.istore(variable(shadow));
  } else if (is_of_local(shadow)) {
    needed_[shadow] = true;
  }
}

void FlowCode::clear_variables(Sequence& entry, const std::vector<bool>& except) const {
  if (!writing_) return;
  std::vector<uint32_t> set;
  for (uint32_t local = 0; local < locals_; ++local) {
    if (except[local]) set.push_back(variables_[local]);
  }
  for (const uint32_t variable : defined_) {
    if (std::ranges::find(set, variable) == set.end()) entry.iconst(0).istore(variable);
  }
}

void FlowCode::define_at(LabelId label, Shadow shadow) {
  const auto found = code_.frames.find(label);
  if (found != code_.frames.end()) set_local(found->second.locals, variable(shadow), {VerificationType::kInteger});
}

void FlowCode::append(const Sequence& sequence) {
  if (sequence.empty() || !status_) return;
  status_ = sequence.append_to(code_, out_);
  code_.raise_max_stack(code_.original_max_stack + sequence.stack_growth());
}

uint32_t FlowCode::spill_local(size_t position) {
  while (spill_.size() <= position) spill_.push_back(code_.new_local("J"));
  return spill_[position];
}

// start: sequence; end:    and behind the method    handler: pop; goto end
// The range comes before all others, so that nothing else sees what it catches.
void FlowCode::guard(const Sequence& sequence) {
  const LabelId start = code_.new_label(), end = code_.new_label(), handler = code_.new_label();
  out_.push_back(label_node(start));
  append(sequence);
  out_.push_back(label_node(end));
  handlers_.push_back(label_node(handler));
  append_plain(code_, handlers_, kPop);
  Node jump;
  jump.kind = Node::kBranch;
  jump.opcode = kGoto;
  jump.label = end;
  handlers_.push_back(jump);
  guards_.push_back({start, end, handler, 0});
  code_.raise_max_stack(1);
}

void FlowCode::append_guarded(const Sequence& sequence, const std::vector<VerificationType>& stack) {
  if (sequence.empty()) return;
  Sequence spill(file_.pool()), reload(file_.pool());
  for (size_t i = stack.size(); i-- > 0;) {
    if (stack[i].tag != VerificationType::kSecondHalf) spill.store(stored_like(stack[i]), spill_local(i));
  }
  for (size_t i = 0; i < stack.size(); ++i) {
    if (stack[i].tag != VerificationType::kSecondHalf) reload.load(stored_like(stack[i]), spill_local(i));
  }
  append(spill);
  guard(sequence);
  append(reload);
}

void FlowCode::append_guarded_at_handler(const Sequence& before, const Sequence& sequence) {
  Sequence keep(file_.pool()), back(file_.pool());
  keep.astore(spill_local(0));
  back.aload(spill_local(0));
  append(before);
  append(keep);
  guard(sequence);
  append(back);
}

Status FlowCode::finish() {
  if (!status_) return status_;
  out_.insert(out_.end(), handlers_.begin(), handlers_.end());
  code_.nodes = std::move(out_);
  guards_.insert(guards_.end(), code_.exceptions.begin(), code_.exceptions.end());
  code_.exceptions = std::move(guards_);
  return {};
}

}  // namespace contrafact::classfile
