// Objects and arrays that a method makes: by the bytecodes that do, and through the JVM's own functions.
#include "agent_jvm/analysis_probes.h"

namespace contrafact::agent_jvm {
namespace {

using classfile::Bytes;

constexpr uint16_t kVersionClassConstants = 49;  // Java 5

uint16_t operand(Bytes instruction) {
  return static_cast<uint16_t>(instruction[1] << 8 | instruction[2]);
}

}  // namespace

base::Result<size_t> add_allocation_events(Edit& edit, uint32_t method_id) {
  const auto id = static_cast<int32_t>(method_id);
  const bool has_class_constants = edit.file.major_version() >= kVersionClassConstants;
  size_t unseen = 0;
  auto inserted = insert_behind(edit.code, edit.file, [&](Bytes instruction, Sequence& s) {
    switch (instruction[0]) {
      case classfile::kNew: {
        const auto name = edit.file.pool().class_name(operand(instruction));
        if (!name || !has_class_constants) {
          ++unseen;
          break;
        }
        // The object cannot be passed before it is constructed, and after that it may have been lost by an exception.
        s.ldc_class(*name).iconst(id).invokestatic(kAnalysisClass, "allocated", "(Ljava/lang/Class;I)V");
        break;
      }
      case classfile::kNewarray:
      case classfile::kAnewarray:
        s.dup().dup().op(classfile::kArraylength).iconst(id);
        s.invokestatic(kAnalysisClass, "allocatedArray", "(Ljava/lang/Object;II)V");
        break;
      case classfile::kMultianewarray:
        s.dup().iconst(instruction[3]).iconst(id);
        s.invokestatic(kAnalysisClass, "allocatedArrays", "(Ljava/lang/Object;II)V");
        break;
      default:
        break;
    }
  });
  if (!inserted) return inserted.error();
  return unseen;
}

}  // namespace contrafact::agent_jvm
