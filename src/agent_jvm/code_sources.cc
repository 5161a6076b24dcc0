#include "agent_jvm/code_sources.h"

#include <algorithm>

#include "agent_jvm/agent_state.h"

namespace contrafact::agent_jvm {
namespace {

// None if there is no such field: JDKs differ in their fields.
jfieldID field_of(JNIEnv* jni, const char* type_name, const char* name, const char* descriptor) {
  jclass type = jni->FindClass(type_name);
  jfieldID field = type ? jni->GetFieldID(type, name, descriptor) : nullptr;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (type) jni->DeleteLocalRef(type);
  return field;
}

jmethodID method_of(JNIEnv* jni, const char* type_name, const char* name, const char* descriptor) {
  jclass type = jni->FindClass(type_name);
  jmethodID method = type ? jni->GetMethodID(type, name, descriptor) : nullptr;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  if (type) jni->DeleteLocalRef(type);
  return method;
}

// Of "module/shop.Main arguments", or of "my app.jar arguments", whose whole class path is that jar.
std::string main_of(const std::string& command, const std::string& class_path) {
  const bool is_jar = class_path.ends_with(".jar") && command.starts_with(class_path) &&
                      (command.size() == class_path.size() || command[class_path.size()] == ' ');
  if (is_jar) return class_path;
  std::string main = command.substr(0, command.find(' '));
  if (!main.ends_with(".jar")) main.erase(0, main.find('/') + 1);  // npos + 1: nothing
  return main;
}

}  // namespace

void CodeSources::resolve(JNIEnv* jni) {
  constexpr char kDomain[] = "Ljava/security/ProtectionDomain;";
  constexpr char kText[] = "Ljava/lang/String;";
  domain_ = field_of(jni, "java/lang/Class", "protectionDomain", kDomain);
  if (!domain_)
    domain_native_ = method_of(jni, "java/lang/Class", "getProtectionDomain0", "()Ljava/security/ProtectionDomain;");
  code_source_ = field_of(jni, "java/security/ProtectionDomain", "codesource", "Ljava/security/CodeSource;");
  location_ = field_of(jni, "java/security/CodeSource", "location", "Ljava/net/URL;");
  protocol_ = field_of(jni, "java/net/URL", "protocol", kText);
  host_ = field_of(jni, "java/net/URL", "host", kText);
  file_ = field_of(jni, "java/net/URL", "file", kText);
  const std::string main = main_of(property(jvmti_, "sun.java.command"), property(jvmti_, "java.class.path"));
  if (main.empty()) return;
  recorder_.add_fact("jvm.main", main);
  if (main.ends_with(".jar")) return;
  main_name_ = main;
  main_class_ = main;
  std::replace(main_class_.begin(), main_class_.end(), '.', '/');
}

void CodeSources::note(JNIEnv* jni, jclass type, std::string_view class_name) {
  if ((!domain_ && !domain_native_) || jni->ExceptionCheck()) return;
  jobject domain = domain_ ? jni->GetObjectField(type, domain_) : jni->CallObjectMethod(type, domain_native_);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  note_domain(jni, domain, class_name);
  if (domain) jni->DeleteLocalRef(domain);
}

void CodeSources::note_domain(JNIEnv* jni, jobject domain, std::string_view class_name) {
  const std::string source = source_of(jni, domain);
  if (source.empty() || source.starts_with("jrt:/java.") || source.starts_with("jrt:/jdk.")) return;
  const size_t dot = class_name.rfind('.');
  const std::string package(dot == std::string_view::npos ? std::string_view() : class_name.substr(0, dot));
  std::lock_guard lock(mutex_);
  if (!noted_.emplace(class_name).second) return;
  const auto [first, added] = of_package_.try_emplace(package, source);
  if (added) recorder_.add_fact("code.package." + package, source);
  if (first->second != source) recorder_.add_fact("code.class." + std::string(class_name), source);
}

// As URL.toExternalForm has it, but for what stands behind a '#'.
std::string CodeSources::source_of(JNIEnv* jni, jobject domain) const {
  if (!domain || !code_source_ || !location_ || !protocol_ || !host_ || !file_) return {};
  jobject source = jni->GetObjectField(domain, code_source_);
  jobject location = source ? jni->GetObjectField(source, location_) : nullptr;
  std::string text;
  if (location) {
    const std::string host = text_field(jni, location, host_);
    text = text_field(jni, location, protocol_) + ":" + (host.empty() ? "" : "//" + host) +
           text_field(jni, location, file_);
  }
  if (location) jni->DeleteLocalRef(location);
  if (source) jni->DeleteLocalRef(source);
  return text;
}

std::string CodeSources::text_field(JNIEnv* jni, jobject object, jfieldID field) const {
  auto text = static_cast<jstring>(jni->GetObjectField(object, field));
  std::string out = text_of(jni, text);
  if (text) jni->DeleteLocalRef(text);
  return out;
}

}  // namespace contrafact::agent_jvm
