#include "agent_jvm/analysis_probes.h"

#include <algorithm>

#include "agent_jvm/agent_state.h"
#include "classfile/annotations.h"

namespace contrafact::agent_jvm {
namespace {

// The probes stand on Unsafe; and while a virtual thread is being mounted, the current thread changes within a method.
constexpr size_t kRefusalsKept = 20;  // with their reasons; all are counted

constexpr std::string_view kNever[] = {"java/lang/Contrafact", "jdk/internal/misc/Unsafe", "java/lang/VirtualThread",
                                       "jdk/internal/vm/Continuation"};

struct Field {
  std::string_view class_name;
  std::string_view name;
  std::string_view descriptor;
};
constexpr Field kFields[] = {
    {"java/lang/Thread", "contrafactNext", "J"},   {"java/lang/Thread", "contrafactEnd", "J"},
    {"java/lang/Thread", "contrafactMethod", "I"}, {"java/lang/Thread", "contrafactContext", "J"},
    {"java/lang/Class", "contrafactClass", "I"},
};

std::string dotted(std::string_view internal_name) {
  std::string out(internal_name);
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

// The JVM may have its own code for a method that the JDK marks so, which runs in place of ours once the caller is
// compiled.
constexpr std::string_view kIntrinsic = "Ljdk/internal/vm/annotation/IntrinsicCandidate;";

// Code in it would make every object of the class finalizable; the JVM does not even call it.
bool is_empty_finalizer(const classfile::Member& method) {
  constexpr size_t kCodeLength = 4;  // its offset in the attribute, JVMS 4.7.3
  return method.name == "finalize" && method.descriptor == "()V" && classfile::load_u4(&method.code[kCodeLength]) == 1;
}

// From JDK 21 on: the buffer written is that of the thread which carries the current one.
base::Status carry(Edit& edit) {
  return edit.wrap(calls("currentThread"), [](const CallOperands&, Sequence&, Sequence& after, Sequence&) {
    after.pop().invokestatic("java/lang/Thread", "currentCarrierThread", "()Ljava/lang/Thread;");
  });
}

}  // namespace

std::vector<std::string> AnalysisProbes::refusals() const {
  std::lock_guard lock(mutex_);
  return refusals_;
}

void AnalysisProbes::refuse(const std::string& place, const std::string& reason) {
  ++refused_;
  std::lock_guard lock(mutex_);
  if (refusals_.size() < kRefusalsKept) refusals_.push_back(place + ": " + reason);
}

std::optional<std::vector<uint8_t>> AnalysisProbes::instrument(std::string_view class_name,
                                                               std::span<const uint8_t> bytes) {
  const bool carrier = class_name == kAnalysisClass && jdk_ >= kJdkVirtualThreads;
  const std::string dotted_name = dotted(class_name);
  const bool never = std::any_of(std::begin(kNever), std::end(kNever),
                                 [&](std::string_view prefix) { return class_name.starts_with(prefix); });
  const bool methods = !never && config_.may_match(dotted_name);
  const bool fields = std::any_of(std::begin(kFields), std::end(kFields),
                                  [&](const Field& field) { return field.class_name == class_name; });
  if (!carrier && !methods && !fields) return std::nullopt;

  auto file = classfile::ClassFile::parse(bytes);
  if (!file || (fields && !add_fields(*file))) {
    refuse(dotted_name, file ? "has a field of a name that is ours" : file.error().message);
    return std::nullopt;
  }
  const size_t count = file->methods().size();
  for (size_t i = 0; i < count; ++i) {
    const classfile::Member& method = file->methods()[i];
    if (!method.has_code()) continue;
    if (methods && config_.chooses(dotted_name, method.name)) edit_method(*file, dotted_name, i);
    if (!carrier || method.name != "carrier") continue;
    auto code = classfile::Code::parse(*file, method);
    if (!code) continue;
    Edit edit(*file, method, *code, jdk_);
    auto encoded = carry(edit) ? code->encode(file->pool()) : base::Result<std::vector<uint8_t>>(base::Error{});
    if (encoded) file->replace_code(i, std::move(*encoded));
  }
  if (!file->edited()) return std::nullopt;
  return file->write();
}

bool AnalysisProbes::add_fields(classfile::ClassFile& file) {
  const uint16_t access = classfile::kAccPublic | classfile::kAccTransient | classfile::kAccSynthetic;
  return std::all_of(std::begin(kFields), std::end(kFields), [&](const Field& field) {
    return field.class_name != file.name() || file.add_field(access, field.name, field.descriptor);
  });
}

void AnalysisProbes::edit_method(classfile::ClassFile& file, const std::string& class_name, size_t index) {
  const classfile::Member& method = file.methods()[index];
  if (is_empty_finalizer(method)) return;
  const online::MethodId id = methods_.add({class_name, std::string(method.name), std::string(method.descriptor),
                                            std::string(file.source_file()), file.line_of(method, 0).value_or(0)});
  auto code = classfile::Code::parse(file, method);
  const std::string place = class_name + "." + std::string(method.name);
  if (!id.valid()) return refuse(place, "there are too many methods");
  if (!code) return refuse(place, code.error().message);
  Edit edit(file, method, *code, jdk_);
  if (base::Status edited = edit_code(edit, id.value); !edited) return refuse(place, edited.error().message);
  auto encoded = code->encode(file.pool());
  if (!encoded) return refuse(place, encoded.error().message);
  file.replace_code(index, std::move(*encoded));
}

base::Status AnalysisProbes::edit_code(Edit& edit, uint32_t method_id) {
  if (wants_.on_allocation || wants_.on_allocations || wants_.on_context_allocation) {
    auto unseen = add_allocation_events(edit, method_id);
    if (!unseen) return unseen.error();
    unseen_sites_ += *unseen;
  }
  return has_annotation(edit.file, edit.method, kIntrinsic) ? base::Status() : add_calls(edit, method_id);
}

base::Status AnalysisProbes::add_calls(Edit& edit, uint32_t method_id) {
  const auto id = static_cast<int32_t>(method_id);
  if (online::wants_contexts(wants_)) return add_context_calls(edit, id);
  const uint32_t caller = edit.flag();
  auto leave = [&](Sequence& s, int thrown) {
    s.iload(caller);
    if (wants_.on_exit) {
      s.iconst(id).iconst(thrown).invokestatic(kAnalysisClass, "exit", "(III)V");
    } else {
      s.invokestatic(kAnalysisClass, "exit", "(I)V");
    }
  };
  // Where an exception is caught, whatever methods it came through, the catching method is the current one again.
  Sequence caught(edit.file.pool());
  caught.iload(caller).iconst(id).invokestatic(kAnalysisClass, "caught", "(II)V");
  if (auto handlers = insert_at_handlers(edit.code, caught); !handlers) return handlers.error();
  return edit.finish([&](Sequence& s) { s.iconst(id).invokestatic(kAnalysisClass, "enter", "(I)I").istore(caller); },
                     [&](Sequence& s) { leave(s, 0); }, [&](Sequence& s) { leave(s, 1); }, true);
}

base::Status AnalysisProbes::add_context_calls(Edit& edit, int32_t id) {
  const uint32_t parent = edit.token();
  Sequence caught(edit.file.pool());
  caught.lload(parent).iconst(id).invokestatic(kAnalysisClass, "caughtInContext", "(JI)V");
  if (auto handlers = insert_at_handlers(edit.code, caught); !handlers) return handlers.error();
  auto leave = [&](Sequence& s) { s.lload(parent).invokestatic(kAnalysisClass, "exitContext", "(J)V"); };
  return edit.finish(
      [&](Sequence& s) { s.iconst(id).invokestatic(kAnalysisClass, "enterContext", "(I)J").lstore(parent); }, leave,
      leave, true);
}

}  // namespace contrafact::agent_jvm
