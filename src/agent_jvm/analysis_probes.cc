#include "agent_jvm/analysis_probes.h"

#include <algorithm>

#include "agent_jvm/agent_state.h"

namespace contrafact::agent_jvm {
namespace {

// The probes stand on Unsafe; and while a virtual thread is being mounted, the current thread changes within a method.
constexpr std::string_view kNever[] = {"java/lang/Contrafact", "jdk/internal/misc/Unsafe", "java/lang/VirtualThread",
                                       "jdk/internal/vm/Continuation"};

struct Field {
  std::string_view class_name;
  std::string_view name;
  std::string_view descriptor;
};
constexpr Field kFields[] = {
    {"java/lang/Thread", "contrafactBuffer", "J"},
    {"java/lang/Thread", "contrafactMethod", "I"},
    {"java/lang/Class", "contrafactClass", "I"},
};

std::string dotted(std::string_view internal_name) {
  std::string out(internal_name);
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

// From JDK 21 on: the buffer written is that of the thread which carries the current one.
base::Status carry(Edit& edit) {
  return edit.wrap(calls("currentThread"), [](const CallOperands&, Sequence&, Sequence& after, Sequence&) {
    after.pop().invokestatic("java/lang/Thread", "currentCarrierThread", "()Ljava/lang/Thread;");
  });
}

}  // namespace

std::optional<std::vector<uint8_t>> AnalysisProbes::instrument(std::string_view class_name,
                                                               std::span<const uint8_t> bytes) {
  const bool carrier = class_name == kAnalysisEventsClass && jdk_ >= kJdkVirtualThreads;
  const std::string dotted_name = dotted(class_name);
  const bool never = std::any_of(std::begin(kNever), std::end(kNever),
                                 [&](std::string_view prefix) { return class_name.starts_with(prefix); });
  const bool methods = !never && config_.may_match(dotted_name);
  const bool fields = std::any_of(std::begin(kFields), std::end(kFields),
                                  [&](const Field& field) { return field.class_name == class_name; });
  if (!carrier && !methods && !fields) return std::nullopt;

  auto file = classfile::ClassFile::parse(bytes);
  if (!file || (fields && !add_fields(*file))) {
    ++refused_;
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
  const online::MethodId id = methods_.add({class_name, std::string(method.name), std::string(method.descriptor),
                                            std::string(file.source_file()), file.line_of(method, 0).value_or(0)});
  auto code = classfile::Code::parse(file, method);
  if (!id.valid() || !code) {
    ++refused_;
    return;
  }
  Edit edit(file, method, *code, jdk_);
  auto encoded = edit_code(edit, id.value) ? code->encode(file.pool()) : base::Error{};
  if (!encoded) {
    ++refused_;
    return;
  }
  file.replace_code(index, std::move(*encoded));
}

base::Status AnalysisProbes::edit_code(Edit& edit, uint32_t method_id) {
  if (wants_.on_allocation) {
    auto unseen = add_allocation_events(edit, method_id);
    if (!unseen) return unseen.error();
    unseen_sites_ += *unseen;
  }
  return add_calls(edit, method_id);
}

base::Status AnalysisProbes::add_calls(Edit& edit, uint32_t method_id) {
  const auto id = static_cast<int32_t>(method_id);
  const uint32_t caller = edit.flag();
  auto leave = [&](Sequence& s, int thrown) {
    s.iload(caller);
    if (wants_.on_exit) {
      s.iconst(id).iconst(thrown).invokestatic(kAnalysisClass, "exit", "(III)V");
    } else {
      s.invokestatic(kAnalysisClass, "exit", "(I)V");
    }
  };
  // Where an exception is caught, whatever it came through, the method is the current one again.
  Sequence caught(edit.file.pool());
  caught.iload(caller).iconst(id).invokestatic(kAnalysisClass, "caught", "(II)V");
  if (auto handlers = insert_at_handlers(edit.code, caught); !handlers) return handlers.error();
  return edit.finish([&](Sequence& s) { s.iconst(id).invokestatic(kAnalysisClass, "enter", "(I)I").istore(caller); },
                     [&](Sequence& s) { leave(s, 0); }, [&](Sequence& s) { leave(s, 1); }, true);
}

}  // namespace contrafact::agent_jvm
