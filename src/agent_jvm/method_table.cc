#include "agent_jvm/method_table.h"

#include <algorithm>

#include "agent_jvm/agent_state.h"
#include "classfile/second_body.h"

namespace contrafact::agent_jvm {
namespace {

constexpr jint kAccBridgeOrSynthetic = 0x1040;
constexpr jint kAccAbstract = 0x0400;

struct ClassAndMethod {
  std::string_view class_prefix;
  std::string_view method;
};

// The methods that emit a task's start (see the probes): the frames below them on a stack belong to another task.
constexpr ClassAndMethod kBoundaries[] = {
    {"Ljava/util/concurrent/ThreadPoolExecutor;", "runWorker"},
    {"Ljava/util/concurrent/ForkJoinTask;", "doExec"},
    {"Ljava/util/concurrent/FutureTask;", "run"},
    {"Ljava/util/concurrent/FutureTask;", "runAndReset"},
    {"Ljava/util/concurrent/CompletableFuture$", "tryFire"},
    {"Ljava/util/concurrent/CompletableFuture$AsyncSupply;", "run"},
    {"Ljava/util/concurrent/CompletableFuture$AsyncRun;", "run"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniApplyNow"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniAcceptNow"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniRunNow"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniWhenComplete"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniHandle"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniExceptionally"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniComposeStage"},
    {"Ljava/util/concurrent/CompletableFuture;", "uniComposeExceptionallyStage"},
    {"Ljava/util/concurrent/CompletableFuture;", "biApply"},
    {"Ljava/util/concurrent/CompletableFuture;", "biAccept"},
    {"Ljava/util/concurrent/CompletableFuture;", "biRun"},
    {"Ljava/lang/VirtualThread;", "run"},
};

bool is_boundary(std::string_view signature, std::string_view method) {
  return std::any_of(std::begin(kBoundaries), std::end(kBoundaries), [&](const ClassAndMethod& entry) {
    return entry.method == method && signature.starts_with(entry.class_prefix);
  });
}

// Hidden classes may go at any time, but for those of lambdas, which last as long as their hosts.
bool is_bound_to_loader(std::string_view signature) {
  return signature.find("$$Lambda") != std::string_view::npos || signature.find(".0x") == std::string_view::npos;
}

// Lambda proxies and the like: "LHost$$Lambda$14.0x00000008000c1;" or with a slash in newer JDKs.
bool is_hidden(std::string_view signature) {
  return signature.find("$$Lambda") != std::string_view::npos || signature.find(".0x") != std::string_view::npos ||
         signature.starts_with("Ljava/lang/invoke/LambdaForm");
}

}  // namespace

std::string dotted_name(std::string_view signature) {
  if (signature.starts_with('L') && signature.ends_with(';')) signature = signature.substr(1, signature.size() - 2);
  std::string name(signature);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

// Code that a probe inserted before a method's first line belongs to that line.
uint32_t MethodInfo::line_at(jlocation location) const {
  const jvmtiLineNumberEntry* best = nullptr;
  const jvmtiLineNumberEntry* first = nullptr;
  for (const jvmtiLineNumberEntry& entry : lines) {
    if (!first || entry.start_location < first->start_location) first = &entry;
    if (entry.start_location <= location && (!best || entry.start_location > best->start_location)) best = &entry;
  }
  if (!best) best = first;
  return best ? static_cast<uint32_t>(best->line_number) : 0;
}

uint32_t MethodInfo::first_line() const {
  const jvmtiLineNumberEntry* first = nullptr;
  for (const jvmtiLineNumberEntry& entry : lines) {
    const bool of_source = entry.line_number != classfile::kSecondBodyLine;
    if (of_source && (!first || entry.start_location < first->start_location)) first = &entry;
  }
  return first ? static_cast<uint32_t>(first->line_number) : 0;
}

bool MethodInfo::is_call_of_second_body(jlocation location) const {
  return line_at(location) == classfile::kSecondBodyLine;
}

const MethodInfo* MethodTable::info(jmethodID method) {
  {
    std::lock_guard lock(mutex_);
    auto found = infos_.find(method);
    if (found != infos_.end()) return found->second.get();
  }
  auto described = std::make_unique<MethodInfo>(describe(method));  // outside the lock: it asks the JVM
  std::lock_guard lock(mutex_);
  return infos_.try_emplace(method, std::move(described)).first->second.get();
}

format::MethodId MethodTable::row(std::string_view signature, std::string_view name, jclass type, uint32_t line) {
  char* file = nullptr;
  if (!type || jvmti_->GetSourceFileName(type, &file) != JVMTI_ERROR_NONE) file = nullptr;
  JvmtiMemory release(jvmti_, file);
  format::MethodRow row;
  row.class_name = recorder_.intern(dotted_name(signature));
  row.name = recorder_.intern(name);
  if (file) row.file = recorder_.intern(file);
  row.line = line;
  JNIEnv* jni = nullptr;
  if (type && vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) == JNI_OK)
    sources_.note(jni, type, dotted_name(signature));
  if (const std::string locals = executor_locals_.take(dotted_name(signature)); !locals.empty())
    recorder_.add_fact("executors." + dotted_name(signature), locals);
  return recorder_.add_method(row);
}

MethodInfo MethodTable::describe(jmethodID method) {
  MethodInfo info;
  info.skip = true;
  char *name = nullptr, *descriptor = nullptr;
  jclass type = nullptr;
  if (jvmti_->GetMethodName(method, &name, &descriptor, nullptr) != JVMTI_ERROR_NONE) return info;
  JvmtiMemory release_name(jvmti_, name), release_descriptor(jvmti_, descriptor);
  if (jvmti_->GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE) return info;
  char* signature = nullptr;
  if (jvmti_->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return info;
  JvmtiMemory release_signature(jvmti_, signature);

  const std::string_view text = signature;
  info.may_be_unloaded = !is_bound_to_loader(text) || !is_of_lasting_loader(type);
  if (text.starts_with("Ljava/lang/Contrafact") || is_hidden(text)) return info;
  info.skip = false;
  info.boundary = is_boundary(text, name);
  info.of_library =
      text.starts_with("Ljava/util/concurrent/") || text == "Ljava/lang/Thread;" || text == "Ljava/lang/VirtualThread;";
  jint count = 0;
  jvmtiLineNumberEntry* lines = nullptr;
  if (jvmti_->GetLineNumberTable(method, &count, &lines) == JVMTI_ERROR_NONE) info.lines.assign(lines, lines + count);
  JvmtiMemory release_lines(jvmti_, lines);
  info.id = row(text, name, type, info.first_line());
  // `get(5, SECONDS)` and its like: a caller of these can go on without the result.
  if (std::string_view(descriptor).starts_with("(JLjava/util/concurrent/TimeUnit;"))
    recorder_.add_fact("method.timed." + std::to_string(info.id.index()), "yes");
  return info;
}

// The loaders that a JVM begins with stay, and their classes with them.
bool MethodTable::is_of_lasting_loader(jclass type) {
  jobject loader = nullptr;
  if (jvmti_->GetClassLoader(type, &loader) != JVMTI_ERROR_NONE) return false;
  if (!loader) return true;
  JNIEnv* jni = nullptr;
  if (vm_->GetEnv(reinterpret_cast<void**>(&jni), JNI_VERSION_10) != JNI_OK) return false;
  char* signature = nullptr;
  if (jvmti_->GetClassSignature(jni->GetObjectClass(loader), &signature, nullptr) != JVMTI_ERROR_NONE) return false;
  JvmtiMemory release(jvmti_, signature);
  return std::string_view(signature).starts_with("Ljdk/internal/loader/ClassLoaders$");
}

jmethodID MethodTable::declared(jclass type, std::string_view name, std::string_view descriptor) {
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti_->GetClassMethods(type, &count, &methods) != JVMTI_ERROR_NONE) return nullptr;
  JvmtiMemory release(jvmti_, methods);
  jmethodID fallback = nullptr;
  for (jint i = 0; i < count; ++i) {
    char* its_name = nullptr;
    char* its_descriptor = nullptr;
    jint access = 0;
    if (jvmti_->GetMethodName(methods[i], &its_name, &its_descriptor, nullptr) != JVMTI_ERROR_NONE) continue;
    JvmtiMemory release_name(jvmti_, its_name), release_descriptor(jvmti_, its_descriptor);
    if (name != its_name || (!descriptor.empty() && descriptor != its_descriptor)) continue;
    if (jvmti_->GetMethodModifiers(methods[i], &access) != JVMTI_ERROR_NONE || (access & kAccAbstract)) continue;
    if (!(access & kAccBridgeOrSynthetic) || !descriptor.empty()) return methods[i];
    fallback = methods[i];
  }
  return fallback;
}

format::MethodId MethodTable::find(JNIEnv* jni, jclass type, std::string_view name, std::string_view descriptor) {
  char* signature = nullptr;
  if (jvmti_->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release(jvmti_, signature);
  jclass at = static_cast<jclass>(jni->NewLocalRef(type));
  while (at) {
    if (jmethodID method = declared(at, name, descriptor)) {
      const MethodInfo* found = info(method);
      jni->DeleteLocalRef(at);
      if (found->id.valid()) return found->id;
      break;
    }
    jclass super = jni->GetSuperclass(at);
    jni->DeleteLocalRef(at);
    at = super;
  }
  return row(signature, name, nullptr, 0);
}

}  // namespace contrafact::agent_jvm
