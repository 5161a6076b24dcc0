// An agent that counts what the blueprint analysis counts, in a way of its own: the JVM interprets, and tells of every
// method's entry and exit and of every allocation. Shares no code with the product. Slow: for programs of a second or
// so.
//
//   java -agentpath:libcounting_agent.so=OUTPUT,CLASS_PREFIX -Xint ...     (prefix with slashes,
//   "com/sun/")
//
// Writes lines "call CALLER CALLEE COUNT" and "allocations METHOD OBJECTS BYTES"; CALLER "-" where there is none.
// Methods are class.name(descriptor), those whose class begins with the prefix. Hidden classes are left out, and so are
// methods that the JDK marks as intrinsic candidates, as callees, like native ones. Not for virtual threads.
#include <jvmti.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

constexpr uint32_t kNone = 0;  // not one of ours
constexpr unsigned char kNew = 187, kNewarray = 188, kAnewarray = 189, kMultianewarray = 197;

constexpr char kPrimitives[] = "....ZCFDBSIJ";  // by the operand of newarray

jvmtiEnv* g_jvmti;
std::string g_output, g_prefix;
std::mutex g_mutex;  // of all below
std::unordered_map<jmethodID, uint32_t> g_ids;
std::vector<std::string> g_names{"-"};
std::map<std::pair<uint32_t, uint32_t>, uint64_t> g_calls;
struct Sum {
  uint64_t objects = 0, bytes = 0;
};
std::map<uint32_t, Sum> g_allocations;
bool g_live = false;

thread_local std::vector<uint32_t> t_stack;

std::string text(char* from_jvmti) {
  std::string out = from_jvmti ? from_jvmti : "";
  g_jvmti->Deallocate(reinterpret_cast<unsigned char*>(from_jvmti));
  return out;
}

std::string class_of(jmethodID method) {
  jclass type = nullptr;
  char* signature = nullptr;
  if (g_jvmti->GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE) return {};
  if (g_jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  std::string name = text(signature);
  return name.size() > 2 ? name.substr(1, name.size() - 2) : std::string();
}

uint32_t id_of(jmethodID method) {
  auto found = g_ids.find(method);
  if (found != g_ids.end()) return found->second;
  uint32_t id = kNone;
  std::string name = class_of(method);
  jboolean native = JNI_FALSE;
  g_jvmti->IsMethodNative(method, &native);
  const bool hidden = name.find(".0x") != std::string::npos || name.find("/0x") != std::string::npos;
  if (!native && !hidden && name.rfind(g_prefix, 0) == 0) {
    char* method_name = nullptr;
    char* descriptor = nullptr;
    g_jvmti->GetMethodName(method, &method_name, &descriptor, nullptr);
    for (char& c : name) c = c == '/' ? '.' : c;
    id = static_cast<uint32_t>(g_names.size());
    g_names.push_back(name + "." + text(method_name) + text(descriptor));
  }
  g_ids.emplace(method, id);
  return id;
}

void JNICALL on_entry(jvmtiEnv*, JNIEnv*, jthread, jmethodID method) {
  std::lock_guard lock(g_mutex);
  const uint32_t id = id_of(method);
  if (id == kNone) return;
  if (g_live) ++g_calls[{t_stack.empty() ? kNone : t_stack.back(), id}];
  t_stack.push_back(id);
}

void JNICALL on_exit(jvmtiEnv*, JNIEnv*, jthread, jmethodID method, jboolean, jvalue) {
  std::lock_guard lock(g_mutex);
  if (id_of(method) != kNone && !t_stack.empty()) t_stack.pop_back();
}

uint16_t u2(const unsigned char* at) {
  return static_cast<uint16_t>(at[0] << 8 | at[1]);
}

// The name of the class constant `wanted`, from the constant pool's bytes (JVMS 4.4).
std::string class_constant(jmethodID method, uint16_t wanted) {
  jclass type = nullptr;
  jint count = 0, bytes = 0;
  unsigned char* pool = nullptr;
  if (g_jvmti->GetMethodDeclaringClass(method, &type) != JVMTI_ERROR_NONE) return {};
  if (g_jvmti->GetConstantPool(type, &count, &bytes, &pool) != JVMTI_ERROR_NONE) return {};
  std::vector<const unsigned char*> entries(static_cast<size_t>(count), nullptr);
  const unsigned char* at = pool;
  for (jint i = 1; i < count; ++i) {
    entries[static_cast<size_t>(i)] = at;
    switch (*at) {
      case 1:
        at += 3 + u2(at + 1);
        break;
      case 7:
      case 8:
      case 16:
      case 19:
      case 20:
        at += 3;
        break;
      case 15:
        at += 4;
        break;
      case 5:
      case 6:
        at += 9;
        ++i;
        break;
      default:
        at += 5;
    }
  }
  const unsigned char* text = entries[u2(entries[wanted] + 1)];
  std::string name(reinterpret_cast<const char*>(text + 3), u2(text + 1));
  g_jvmti->Deallocate(pool);
  return name;
}

// Whether the instruction that the method is at makes this kind of object; what else appears there is the JVM's, which
// loads a class or makes a constant.
bool makes(jmethodID method, jlocation at, const std::string& made) {
  jint length = 0;
  unsigned char* code = nullptr;
  if (g_jvmti->GetBytecodes(method, &length, &code) != JVMTI_ERROR_NONE) return false;
  const unsigned char opcode = at + 2 < length ? code[at] : 0;
  const bool is_one = opcode == kNew || opcode == kNewarray || opcode == kAnewarray || opcode == kMultianewarray;
  const uint16_t operand = is_one ? u2(code + at + 1) : uint16_t{0};
  g_jvmti->Deallocate(code);
  if (!is_one) return false;
  const std::string type = opcode == kNewarray ? std::string() : class_constant(method, operand);
  switch (opcode) {
    case kNew:
      return made == "L" + type + ";";
    case kNewarray:
      return made.size() == 2 && made[1] == kPrimitives[operand >> 8];
    case kAnewarray:
      return made == (type[0] == '[' ? "[" + type : "[L" + type + ";");
    default:
      return opcode == kMultianewarray && type.ends_with(made);
  }
}

void JNICALL on_allocation(jvmtiEnv*, JNIEnv*, jthread thread, jobject, jclass type, jlong bytes) {
  jvmtiFrameInfo frames[2];
  jint count = 0;
  if (g_jvmti->GetStackTrace(thread, 0, 2, frames, &count) != JVMTI_ERROR_NONE || count == 0) return;
  char* signature = nullptr;
  if (g_jvmti->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  const std::string made = text(signature);
  jmethodID method = frames[0].method;
  jboolean native = JNI_FALSE;
  g_jvmti->IsMethodNative(method, &native);
  if (native) {  // clone
    char* name = nullptr;
    g_jvmti->GetMethodName(method, &name, nullptr, nullptr);
    if (text(name) != "clone" || count < 2) return;
    method = frames[1].method;
  } else if (!makes(method, frames[0].location, made)) {
    return;
  }
  std::lock_guard lock(g_mutex);
  const uint32_t id = id_of(method);
  if (id == kNone || !g_live) return;
  Sum& sum = g_allocations[id];
  ++sum.objects;
  sum.bytes += static_cast<uint64_t>(bytes);
}

// The main thread is older than the sampling interval that was set: its first sample comes after 512 KB or so.
constexpr jsize kFirstSample = 64 << 20;

void JNICALL on_vm_init(jvmtiEnv*, JNIEnv* jni, jthread) {
  for (jvmtiEvent event : {JVMTI_EVENT_METHOD_ENTRY, JVMTI_EVENT_METHOD_EXIT, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC}) {
    g_jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  }
  jni->DeleteLocalRef(jni->NewByteArray(kFirstSample));
  std::lock_guard lock(g_mutex);
  g_live = true;
}

void JNICALL on_vm_death(jvmtiEnv*, JNIEnv*) {
  std::lock_guard lock(g_mutex);
  g_live = false;
  std::FILE* file = std::fopen(g_output.c_str(), "w");
  if (!file) return;
  for (const auto& [pair, calls] : g_calls) {
    std::fprintf(file, "call %s %s %llu\n", g_names[pair.first].c_str(), g_names[pair.second].c_str(),
                 static_cast<unsigned long long>(calls));
  }
  for (const auto& [method, sum] : g_allocations) {
    std::fprintf(file, "allocations %s %llu %llu\n", g_names[method].c_str(),
                 static_cast<unsigned long long>(sum.objects), static_cast<unsigned long long>(sum.bytes));
  }
  std::fclose(file);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  const char* comma = options ? std::strchr(options, ',') : nullptr;
  if (!comma || vm->GetEnv(reinterpret_cast<void**>(&g_jvmti), JVMTI_VERSION_11) != JNI_OK) return JNI_ERR;
  g_output.assign(options, static_cast<size_t>(comma - options));
  g_prefix = comma + 1;
  jvmtiCapabilities wanted{};
  wanted.can_generate_method_entry_events = 1;
  wanted.can_generate_method_exit_events = 1;
  wanted.can_generate_sampled_object_alloc_events = 1;
  wanted.can_get_bytecodes = 1;
  wanted.can_get_constant_pool = 1;
  if (g_jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE) return JNI_ERR;
  g_jvmti->SetHeapSamplingInterval(0);  // every allocation
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = on_vm_init;
  callbacks.VMDeath = on_vm_death;
  callbacks.MethodEntry = on_entry;
  callbacks.MethodExit = on_exit;
  callbacks.SampledObjectAlloc = on_allocation;
  g_jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  g_jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  g_jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_DEATH, nullptr);
  return JNI_OK;
}
