// Objects and arrays that a method makes: by bytecodes, and by calls of the JVM's own functions. Not seen: objects that
// the JVM makes by itself (string constants, exceptions such as NullPointerException), and those of native code that is
// not in the list.
#include <algorithm>

#include "agent_jvm/analysis_probes.h"

namespace contrafact::agent_jvm {
namespace {

using classfile::Bytes;

constexpr uint16_t kVersionClassConstants = 49;  // Java 5

uint16_t operand(Bytes instruction) {
  return static_cast<uint16_t>(instruction[1] << 8 | instruction[2]);
}

// Functions without bytecodes that return a new object or array. Their callers in the JDK have probes like any method.
struct Maker {
  std::string_view owner;
  std::string_view name;
};
constexpr Maker kMakers[] = {
    {"java/lang/reflect/Array", "newArray"},
    {"jdk/internal/misc/Unsafe", "allocateInstance"},
    {"jdk/internal/misc/Unsafe", "allocateUninitializedArray"},
    {"jdk/internal/reflect/NativeConstructorAccessorImpl", "newInstance0"},                   // to JDK 21
    {"jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor", "newInstance0"},  // from JDK 22 on
};

bool makes_object(const CallSite& site) {
  if (site.name == "clone" && site.descriptor == "()Ljava/lang/Object;") {
    return site.owner.starts_with('[') ||
           (site.owner == "java/lang/Object" && site.opcode == classfile::kInvokespecial);
  }
  return std::any_of(std::begin(kMakers), std::end(kMakers),
                     [&](const Maker& maker) { return site.owner == maker.owner && site.name == maker.name; });
}

bool makes_arrays(const CallSite& site) {
  return site.owner == "java/lang/reflect/Array" && site.name == "multiNewArray";
}

base::Status add_maker_calls(Edit& edit, int32_t id) {
  CallWrap object;
  object.selects = makes_object;
  object.with_exception = false;
  object.build = [id](const CallSite&, const CallOperands&, Sequence&, Sequence& after, Sequence&) {
    after.dup().iconst(id).invokestatic(kAnalysisClass, "allocatedByVm", "(Ljava/lang/Object;I)V");
  };
  if (auto wrapped = wrap_calls(edit.code, edit.file, object); !wrapped) return wrapped.error();
  CallWrap arrays;
  arrays.selects = makes_arrays;
  arrays.with_exception = false;
  arrays.copy_operands = true;
  arrays.build = [id](const CallSite&, const CallOperands& operands, Sequence&, Sequence& after, Sequence&) {
    after.dup().aload(operands.arguments[1]).checkcast("[I").op(classfile::kArraylength).iconst(id);
    after.invokestatic(kAnalysisClass, "allocatedArrays", "(Ljava/lang/Object;II)V");
  };
  auto wrapped = wrap_calls(edit.code, edit.file, arrays);
  return wrapped ? base::Status() : base::Status(wrapped.error());
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
  if (base::Status added = add_maker_calls(edit, id); !added) return added.error();
  return unseen;
}

}  // namespace contrafact::agent_jvm
