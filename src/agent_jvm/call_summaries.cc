#include "agent_jvm/call_summaries.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/edits.h"
#include "agent_jvm/field_numbers.h"
#include "agent_jvm/probes.h"
#include "agent_jvm/probes_sets.h"
#include "classfile/accesses.h"
#include "classfile/annotations.h"
#include "classfile/descriptor.h"

namespace contrafact::agent_jvm {
namespace {

enum class Summary : uint8_t {
  none,
  arraycopy,
  clone_array,
  clone_object,
  copy_of,
  compare,          // two arrays
  at_offset,        // Unsafe: an object, or null, and an offset
  in_scope,         // the same behind a scope of memory
  copies_in_scope,  // from one place to another
  compares_in_scope,
  state_read,  // of kStates
  state_write,
  awaits,      // a task's result
  field_read,  // by reflection
  field_write,
  element_read,
  element_write,
  makes,      // an array
  sorts,      // an array, as HotSpot does it
  arrays,     // reads the arrays that it gets, and may write one of them
  builder,    // makes a String of what a StringBuilder holds
  file,       // reads or writes a file, or moves its position
  intrinsic,  // of the class's own: reads them, and what else it does is not known
  unknown,
};

// format::kAccess*
constexpr int32_t kReads = 1, kWrites = 2 | 4, kUpdates = 1 | 2 | 4, kAdds = 1 | 2 | 4 | 16 | 32;

constexpr std::string_view kObject = "(Ljava/lang/Object;)V";
constexpr std::string_view kObjectAndOffset = "(Ljava/lang/Object;J";
bool begins_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// ---- Unsafe, and what stands before it

int32_t flags_at_offset(std::string_view name) {
  if (name.starts_with("getAndAdd")) return kAdds;
  if (name.starts_with("getAnd") || name.starts_with("compareAnd") || name.starts_with("weakCompareAnd"))
    return kUpdates;
  return name.starts_with("put") ? kWrites : name.starts_with("get") ? kReads : 0;
}

// Bytes; 0: one element of an array, whatever its size.
int32_t width_of(const classfile::TypeDescriptor& type) {
  switch (type.kind) {
    case 'B':
    case 'Z':
      return 1;
    case 'S':
    case 'C':
      return 2;
    case 'I':
    case 'F':
      return 4;
    case 'J':
    case 'D':
      return 8;
    default:
      return 0;
  }
}

// The value stands behind the offset, whose argument is `offset`, or is what the call returns.
int32_t width_at_offset(const CallSite& site, size_t offset) {
  const auto descriptor = classfile::parse_method_descriptor(site.descriptor);
  if (!descriptor) return 0;
  const bool is_result = descriptor->result.kind != 'V' && descriptor->result.kind != 'Z';
  const auto& arguments = descriptor->arguments;
  if (is_result || site.name.starts_with("get")) return width_of(descriptor->result);
  return arguments.size() > offset + 1 ? width_of(arguments[offset + 1]) : 0;
}

// Memory outside of the heap is one unknown place.
Summary summary_of_unsafe(const CallSite& site) {
  constexpr std::string_view kAccesses[] = {"get", "put", "copy", "set", "compareAnd", "weakCompareAnd"};
  if (!begins_with_any(site.name, kAccesses)) return Summary::none;
  const bool of_object = site.descriptor.starts_with(kObjectAndOffset);
  if (of_object && flags_at_offset(site.name) != 0) return Summary::at_offset;
  return of_object || site.descriptor.starts_with("(J") ? Summary::unknown : Summary::none;
}

Summary summary_of_scoped(const CallSite& site) {
  const auto descriptor = classfile::parse_method_descriptor(site.descriptor);
  if (!descriptor) return Summary::unknown;
  const auto& arguments = descriptor->arguments;
  const bool is_place = arguments.size() >= 3 && arguments[1].text == "Ljava/lang/Object;" && arguments[2].kind == 'J';
  if (is_place && flags_at_offset(site.name) != 0) return Summary::in_scope;
  if (site.name == "copyMemory" && arguments.size() == 7) return Summary::copies_in_scope;
  if (site.name == "vectorizedMismatch" && arguments.size() == 8) return Summary::compares_in_scope;
  return Summary::unknown;
}

// ---- natives

// Of the JDK's classes whose natives others call.
constexpr std::string_view kNativeOwners[] = {"sun/nio/ch/IOUtil",
                                              "sun/nio/ch/Net",
                                              "sun/nio/ch/EPoll",
                                              "sun/nio/ch/FileDispatcherImpl",
                                              "sun/nio/ch/UnixFileDispatcherImpl",
                                              "sun/nio/ch/DatagramDispatcher",
                                              "sun/nio/fs/UnixNativeDispatcher",
                                              "sun/nio/fs/LinuxNativeDispatcher",
                                              "java/io/FileSystem"};
constexpr std::string_view kFileNatives[] = {"getFilePointer", "length", "setLength", "sync"};
constexpr std::string_view kStreams[] = {"setIn", "setOut", "setErr"};
constexpr std::string_view kFileSystemNames[] = {"normalize",   "resolve",          "isAbsolute",       "prefixLength",
                                                 "fromURIPath", "getSeparator",     "getPathSeparator", "compare",
                                                 "hashCode",    "getDefaultParent", "isInvalid"};

bool is_known_native(const CallSite& site) {
  if (site.owner == "java/io/RandomAccessFile" || site.owner == "java/io/FileDescriptor") {
    return is_one_of(site.name, kFileNatives);
  }
  if (site.owner == "java/lang/System") return is_one_of(site.name, kStreams);
  if (site.owner == "java/io/FileSystem" && is_one_of(site.name, kFileSystemNames)) return false;
  return site.name != "<init>" && is_one_of(site.owner, kNativeOwners);
}

// How a native changes a file. An open file, which its descriptor stands for, has one position. The content of all files
// is one place, to which a write adds: writes to different files commute, a read needs all of them before it. Natives
// that other classes call stay unknown.
struct FileNative {
  enum Content : uint8_t { none, reads, writes };

  std::string_view name;
  bool moves;  // the position, or only asks for it
  Content content;
  bool has_array;  // its first argument, which it fills or writes out
};
constexpr FileNative kFileNativesKnown[] = {
    {"read0", true, FileNative::reads, false},       {"readBytes", true, FileNative::reads, true},
    {"readBytes0", true, FileNative::reads, true},   {"seek0", true, FileNative::none, false},
    {"skip0", true, FileNative::none, false},        {"position0", false, FileNative::none, false},
    {"available0", false, FileNative::reads, false}, {"getFilePointer", false, FileNative::none, false},
    {"length", false, FileNative::reads, false},     {"length0", false, FileNative::reads, false},
    {"write", true, FileNative::writes, false},      {"write0", true, FileNative::writes, false},
    {"writeBytes", true, FileNative::writes, true},  {"writeBytes0", true, FileNative::writes, true}};
constexpr std::string_view kFiles[] = {"java/io/RandomAccessFile", "java/io/FileInputStream",
                                       "java/io/FileOutputStream"};
constexpr std::string_view kDescriptor = "java/io/FileDescriptor";

const FileNative* file_native(const CallSite& site, const classfile::ClassFile& file, const FieldNumbers& fields) {
  if (site.owner != file.name() || !is_one_of(site.owner, kFiles)) return nullptr;
  if (!fields.is_native(site.owner, site.name, site.descriptor)) return nullptr;
  const auto found = std::ranges::find(kFileNativesKnown, site.name, &FileNative::name);
  return found == std::end(kFileNativesKnown) ? nullptr : found;
}

// Whether anybody clears it, is all that matters of a reference.
bool is_harmless(const CallSite& site) {
  return site.owner.starts_with("java/lang/ref/") && site.name != "clear0";
}

// HotSpot may have code of its own for it.
bool is_intrinsic(const CallSite& site, const classfile::ClassFile& file) {
  if (site.owner != file.name() || file.name().starts_with("java/math/")) return false;  // those only make numbers
  if (!contains(site.descriptor, "[") && !contains(site.descriptor, "Ljava/lang/Object;J")) return false;
  const auto method = file.find_method(site.name, site.descriptor);
  return method && has_annotation(file, file.methods()[*method], "Ljdk/internal/vm/annotation/IntrinsicCandidate;");
}

// ---- classes that are left as they are

bool takes_array(const CallSite& site) {
  return contains(site.descriptor.substr(0, site.descriptor.find(')')), "[");
}

// Of a method of java.lang or jdk.internal that gets arrays, the one that it writes: none, the first or the last.
enum class Written : uint8_t { none, first, last };
Written written_by(const CallSite& site) {
  constexpr std::string_view kFirst[] = {"put", "set", "reverse", "sort"};
  constexpr std::string_view kLast[] = {"getChars", "getBytes",  "inflate", "compress", "toChars", "enumerate",
                                        "fill",     "copyChars", "insert",  "append",   "replace"};
  constexpr std::string_view kReaders[] = {"mismatch", "vectorized", "hashCode", "equals",  "get",    "count",   "has",
                                           "is",       "new",        "check",    "compare", "signed", "unsigned"};
  if (begins_with_any(site.name, kFirst)) return Written::first;
  if (begins_with_any(site.name, kLast)) return Written::last;
  const bool may_write = site.owner.starts_with("jdk/internal/") && site.name != "<init>";
  return may_write && !begins_with_any(site.name, kReaders) ? Written::last : Written::none;
}

Summary summary_of_reflection(const CallSite& site) {
  const bool is_read = site.name.starts_with("get"), is_write = site.name.starts_with("set");
  if (site.owner == "java/lang/reflect/Field" && site.descriptor.starts_with("(Ljava/lang/Object;")) {
    return is_read ? Summary::field_read : is_write ? Summary::field_write : Summary::none;
  }
  if (site.owner != "java/lang/reflect/Array") return Summary::none;
  if (site.name == "newInstance") return Summary::makes;
  if (!site.descriptor.starts_with("(Ljava/lang/Object;I")) return Summary::none;
  return is_read ? Summary::element_read : is_write ? Summary::element_write : Summary::none;
}

// A handle of a method leads there; one of a field or an element does not say what it does.
bool is_opaque(const CallSite& site) {
  if (site.owner == "java/lang/invoke/MethodHandle") return site.name.starts_with("invoke");
  constexpr std::string_view kOfSegments[] = {"get", "set", "copy", "fill", "mismatch", "toArray", "allocateFrom"};
  return site.owner.starts_with("java/lang/foreign/") && begins_with_any(site.name, kOfSegments);
}

// State that methods of unobserved classes keep. `field` may be only a name for it.
struct HiddenState {
  std::string_view class_name;  // or one that is derived from it
  std::string_view field;
  std::string_view reads[3];  // methods
  std::string_view writes[3];
};
constexpr HiddenState kStates[] = {
    {"java/util/concurrent/locks/AbstractQueuedSynchronizer",
     "state",
     {"getState"},
     {"setState", "compareAndSetState"}},
    {"java/util/concurrent/locks/AbstractQueuedLongSynchronizer",
     "state",
     {"getState"},
     {"setState", "compareAndSetState"}},
    {"java/lang/Thread", "interrupted", {"isInterrupted"}, {"interrupt"}},
    {"java/lang/Thread", "name", {"getName"}, {"setName"}},
    {"java/lang/Thread", "priority", {"getPriority"}, {"setPriority"}},
    {"java/lang/Thread", "daemon", {"isDaemon"}, {"setDaemon"}},
    {"java/lang/Thread", "uncaughtExceptionHandler", {"getUncaughtExceptionHandler"}, {"setUncaughtExceptionHandler"}},
    {"java/lang/Throwable", "suppressedExceptions", {"getSuppressed", "printStackTrace"}, {"addSuppressed"}},
    {"java/lang/Throwable", "cause", {"getCause", "printStackTrace"}, {"initCause"}},
    {"java/lang/Throwable", "stackTrace", {"getStackTrace", "printStackTrace"}, {"setStackTrace"}},
};

// Index of kStates by an access.
std::optional<size_t> state_of(const CallSite& site, const FieldNumbers& fields, bool& writes) {
  if (site.opcode == classfile::kInvokestatic || site.name.empty()) return std::nullopt;
  for (size_t i = 0; i < std::size(kStates); ++i) {
    writes = is_one_of(site.name, kStates[i].writes);
    if (!writes && !is_one_of(site.name, kStates[i].reads)) continue;
    if (fields.derives_from(site.owner, kStates[i].class_name)) return i;
  }
  return std::nullopt;
}

Summary summary_of_state(const CallSite& site, const FieldNumbers& fields) {
  bool writes = false;
  if (!state_of(site, fields, writes)) return Summary::none;
  return writes ? Summary::state_write : Summary::state_read;
}

// The work of other threads becomes part of the section, and they are not observed.
Summary summary_of_tasks(const CallSite& site, const FieldNumbers& fields) {
  constexpr std::string_view kOfOthers[] = {"invokeAll", "invokeAny"};
  constexpr std::string_view kTasks[] = {
      "java/util/concurrent/Future",         "java/util/concurrent/RunnableFuture",
      "java/util/concurrent/FutureTask",     "java/util/concurrent/CompletableFuture",
      "java/util/concurrent/ForkJoinTask",   "java/util/concurrent/RecursiveTask",
      "java/util/concurrent/RecursiveAction"};
  if (is_one_of(site.name, kOfOthers)) return Summary::unknown;
  if (site.name == "fork" && site.descriptor == "()Ljava/util/concurrent/ForkJoinTask;") return Summary::unknown;
  if (site.name == "join" && fields.derives_from(site.owner, "java/lang/Thread")) return Summary::unknown;
  const bool awaits = (site.name == "get" || site.name == "join") && is_one_of(site.owner, kTasks);
  return awaits && site.opcode != classfile::kInvokestatic ? Summary::awaits : Summary::none;
}

// Of Arrays.equals only the forms with two whole arrays: the others are Java code.
bool is_of_two_arrays(const CallSite& site) {
  const auto descriptor = classfile::parse_method_descriptor(site.descriptor);
  return descriptor && descriptor->arguments.size() == 2;
}

Summary summary_of_library(const CallSite& site) {
  if (site.owner == "java/lang/System" && site.name == "arraycopy") return Summary::arraycopy;
  if (site.name == "clone" && site.descriptor == "()Ljava/lang/Object;") {
    if (site.owner.starts_with('[')) return Summary::clone_array;
    return site.owner == "java/lang/Object" ? Summary::clone_object : Summary::none;
  }
  if (site.owner == "java/lang/String" && site.name == "<init>" &&
      site.descriptor.starts_with("(Ljava/lang/AbstractStringBuilder;"))
    return Summary::builder;
  if (site.owner == "java/util/Arrays") {
    if (site.name.starts_with("copyOf")) return Summary::copy_of;
    return site.name == "equals" && is_of_two_arrays(site) ? Summary::compare : Summary::none;
  }
  if (site.owner == "jdk/internal/misc/Unsafe" || site.owner == "sun/misc/Unsafe") return summary_of_unsafe(site);
  if (site.owner == "jdk/internal/misc/ScopedMemoryAccess") return summary_of_scoped(site);
  if (is_opaque(site) || is_known_native(site)) return Summary::unknown;
  return summary_of_reflection(site);
}

Summary summary_of(const CallSite& site, const classfile::ClassFile& file, const FieldNumbers& fields) {
  if (site.opcode == classfile::kInvokedynamic) return Summary::none;
  if (file_native(site, file, fields)) return Summary::file;
  if (const Summary known = summary_of_library(site); known != Summary::none) return known;
  if (fields.is_native(site.owner, site.name, site.descriptor)) {
    return is_harmless(site) ? Summary::none : Summary::unknown;
  }
  if (is_intrinsic(site, file)) {
    return site.owner == "java/util/DualPivotQuicksort" ? Summary::sorts : Summary::intrinsic;
  }
  if (site.owner.starts_with('[')) return Summary::none;
  const bool is_left_alone = site.owner != file.name() && !may_be_observed(site.owner);
  if (is_left_alone && takes_array(site)) return Summary::arrays;
  if (const Summary tasks = summary_of_tasks(site, fields); tasks != Summary::none) return tasks;
  return summary_of_state(site, fields);
}

// ---- the code

class Telling {
 public:
  Telling(const CallSite& site, const CallOperands& operands, bool with_flow, Sequence& before, Sequence& after)
      : site_(site), operands_(operands), with_flow_(with_flow), before_(before), after_(after) {}

  void build(Summary summary, FieldNumbers& fields) {
    switch (summary) {
      case Summary::arraycopy:
        load(0, "LILII");
        tell("copying", "(Ljava/lang/Object;ILjava/lang/Object;II)V");
        if (with_flow_) {
          load(0, "LILII");
          flow(before_, "copying", "(Ljava/lang/Object;ILjava/lang/Object;II)V");
        }
        return;
      case Summary::clone_array:
        before_.aload(operands_.receiver);
        tell("readingAll", kObject);
        copied(operands_.receiver, UINT32_MAX);
        return made();
      case Summary::clone_object:
        tell("unknown", "()V");
        return made();
      case Summary::copy_of:
        load(0, "L");
        tell("readingAll", kObject);
        copied(operands_.arguments[0], site_.name == "copyOfRange" ? operands_.arguments[1] : UINT32_MAX);
        return made();
      case Summary::compare:
        return arrays(Written::none);
      case Summary::at_offset:
        return at_offset(0);
      case Summary::in_scope:
        return at_offset(1);
      case Summary::copies_in_scope:
        load(2, "LJLJJ");
        return tell("copying", "(Ljava/lang/Object;JLjava/lang/Object;JJ)V");
      case Summary::compares_in_scope:
        load(2, "LJLJII");
        return tell("comparing", "(Ljava/lang/Object;JLjava/lang/Object;JII)V");
      case Summary::state_read:
      case Summary::state_write:
        return state(fields);
      case Summary::awaits:
        before_.aload(operands_.receiver);
        return tell("awaiting", kObject);
      case Summary::field_read:
      case Summary::field_write:
        before_.aload(operands_.receiver);
        load(0, "L");
        before_.iconst(summary == Summary::field_read ? kReads : kWrites);
        return tell("ofField", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
      case Summary::element_read:
        load(0, "LI");
        return tell("readElement", "(Ljava/lang/Object;I)V");
      case Summary::element_write:
        load(0, "LI");
        return tell("writingElement", "(Ljava/lang/Object;I)V");
      case Summary::makes:
        return made();
      case Summary::sorts:
        load(1, "L");
        tell("readingAll", kObject);
        load(1, "L");
        return tell("writingAll", kObject);
      case Summary::arrays:
        return arrays(written_by(site_));
      case Summary::file:
        return file(fields);
      case Summary::intrinsic:
        tell("unknown", "()V");
        return arrays(Written::none);
      case Summary::unknown:
        return tell("unknown", "()V");
      case Summary::builder:
        if (!with_flow_) return;
        after_.aload(operands_.arguments[0]);
        return flow(after_, "readingBuilder", kObject);
      case Summary::none:
        return;
    }
  }

 private:
  void tell(std::string_view method, std::string_view descriptor) {
    before_.invokestatic(kSetsClass, method, descriptor);
  }
  void flow(Sequence& sequence, std::string_view method, std::string_view descriptor) {
    sequence.invokestatic(kFlowClass, method, descriptor);
  }
  // The call yields an array with elements of another one, from an index on.
  void copied(uint32_t array, uint32_t from) {
    if (!with_flow_) return;
    after_.dup().aload(array);
    from == UINT32_MAX ? after_.iconst(0) : after_.iload(from);
    flow(after_, "copied", "(Ljava/lang/Object;Ljava/lang/Object;I)V");
  }
  void made() { after_.dup().invokestatic(kSetsClass, "made", kObject); }

  // Arguments from `first` on, of these kinds.
  void load(size_t first, std::string_view kinds) {
    for (const char kind : kinds) {
      const uint32_t slot = operands_.arguments[first++];
      kind == 'L' ? before_.aload(slot) : kind == 'J' ? before_.lload(slot) : before_.iload(slot);
    }
  }

  void at_offset(size_t object) {
    load(object, "LJ");
    before_.iconst(flags_at_offset(site_.name)).iconst(width_at_offset(site_, object + 1));
    tell("atOffset", "(Ljava/lang/Object;JII)V");
    if (!with_flow_ || object != 0) return;
    const int32_t flags = flags_at_offset(site_.name);
    load(object, "LJ");
    before_.iconst(flags == kWrites ? 0 : 1).iconst(flags == kAdds ? 1 : 0);
    before_.iconst(flags == kReads ? -1 : written_argument());
    flow(before_, "atOffset", "(Ljava/lang/Object;JZZI)V");
  }

  // Of Unsafe: counted from the receiver on. A comparison stands before what is written.
  int32_t written_argument() const { return contains(site_.name, "ompareAnd") ? 4 : 3; }

  void state(FieldNumbers& fields) {
    bool writes = false;
    const HiddenState& state = kStates[*state_of(site_, fields, writes)];
    const auto number = static_cast<int32_t>(fields.number(state.class_name, state.field));
    before_.aload(operands_.receiver).iconst(number);
    tell("read", "(Ljava/lang/Object;I)V");
    if (!writes) return;
    before_.aload(operands_.receiver).iconst(0).iconst(1).iconst(number);
    tell("wrote", "(Ljava/lang/Object;III)V");
  }

  void file(FieldNumbers& fields) {
    const FileNative& native = *std::ranges::find(kFileNativesKnown, site_.name, &FileNative::name);
    const auto number = static_cast<int32_t>(fields.number(kDescriptor, "position"));
    const auto load_descriptor = [&] {
      before_.aload(operands_.receiver).getfield(site_.owner, "fd", "L" + std::string(kDescriptor) + ";");
    };
    load_descriptor();
    before_.iconst(number);
    tell("read", "(Ljava/lang/Object;I)V");
    if (native.moves) {
      load_descriptor();
      before_.iconst(0).iconst(1).iconst(number);
      tell("wrote", "(Ljava/lang/Object;III)V");
    }
    const auto content = static_cast<int32_t>(fields.number(kDescriptor, "content"));
    if (native.content == FileNative::reads) {
      before_.iconst(content);
      tell("readStatic", "(I)V");
    } else if (native.content == FileNative::writes) {
      before_.iconst(0).iconst(1).iconst(static_cast<int32_t>(content | classfile::AccessProbe::kAdds));
      tell("wroteStatic", "(III)V");
    }
    if (!native.has_array) return;
    load(0, "L");
    tell(native.content == FileNative::writes ? "readingAll" : "writingAll", kObject);
  }

  void arrays(Written written) {
    const auto descriptor = classfile::parse_method_descriptor(site_.descriptor);
    std::vector<uint32_t> slots;
    for (size_t i = 0; descriptor && i < descriptor->arguments.size(); ++i) {
      if (descriptor->arguments[i].text.starts_with('[')) slots.push_back(operands_.arguments[i]);
    }
    for (size_t i = 0; i < slots.size(); ++i) {
      before_.aload(slots[i]);
      tell("readingAll", kObject);
      if (with_flow_) {
        before_.aload(slots[i]);
        flow(before_, "readingAll", kObject);
        after_.aload(slots[i]);  // what is called may call code that is tracked
        flow(after_, "readingAll", kObject);
      }
      const size_t target = written == Written::first ? 0 : slots.size() - 1;
      if (written == Written::none || i != target) continue;
      before_.aload(slots[i]);
      tell("writingAll", kObject);
      if (!with_flow_) continue;
      before_.aload(slots[i]);
      flow(before_, "writingAll", kObject);
    }
  }

  const CallSite& site_;
  const CallOperands& operands_;
  const bool with_flow_;
  Sequence& before_;
  Sequence& after_;
};

}  // namespace

base::Result<size_t> tell_calls(classfile::Code& code, classfile::ClassFile& file, FieldNumbers& fields,
                                bool with_flow) {
  classfile::CallWrap wrap;
  wrap.constructors = true;
  wrap.copy_operands = true;
  wrap.with_exception = false;
  wrap.selects = [&](const CallSite& site) { return summary_of(site, file, fields) != Summary::none; };
  wrap.build = [&](const CallSite& site, const CallOperands& operands, Sequence& before, Sequence& after, Sequence&) {
    Telling(site, operands, with_flow, before, after).build(summary_of(site, file, fields), fields);
  };
  return wrap_calls(code, file, wrap);
}

}  // namespace contrafact::agent_jvm
