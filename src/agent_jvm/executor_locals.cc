#include "agent_jvm/executor_locals.h"

#include <algorithm>

#include "agent_jvm/executor_types.h"
#include "classfile/named_locals.h"

namespace contrafact::agent_jvm {
namespace {

// Whether the bytes hold what every class file with such a variable contains.
bool may_have_any(std::span<const uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.find("LocalVariableTable") == std::string_view::npos) return false;
  for (size_t at = text.find(kExecutorPackage); at != std::string_view::npos; at = text.find(kExecutorPackage, at + 1)) {
    if (at == 0) continue;
    const std::string_view rest = text.substr(at - 1);
    if (!executor_type_of(rest.substr(0, rest.find(';') + 1)).empty()) return true;
  }
  return false;
}

// Names of other languages may contain the characters that separate the words of a text.
bool is_plain(std::string_view name) {
  return name.find_first_of(" ;") == std::string_view::npos;
}

std::string text_of_class(std::span<const uint8_t> bytes) {
  const auto file = classfile::ClassFile::parse(bytes);
  if (!file) return {};
  std::string text;
  for (const classfile::Member& method : file->methods()) {
    if (!method.has_code() || !is_plain(method.name)) continue;
    for (const classfile::NamedLocal& local : classfile::named_locals(*file, method)) {
      const std::string_view type = executor_type_of(local.descriptor);
      if (type.empty() || !is_plain(local.name)) continue;
      const std::string entry = std::string(method.name) + " " + std::to_string(local.first_line) + "-" +
                                std::to_string(local.last_line) + " " + std::string(type) + " " +
                                std::string(local.name) + ";";
      if (text.size() + entry.size() > ExecutorLocals::kTextMax) return text;
      text += entry;
    }
  }
  return text;
}

}  // namespace

void ExecutorLocals::note(std::string_view class_name, std::span<const uint8_t> bytes) {
  if (class_name.starts_with("java/") || !may_have_any(bytes)) return;
  std::string text = text_of_class(bytes);
  if (text.empty()) return;
  std::string dotted(class_name);
  std::ranges::replace(dotted, '/', '.');
  std::lock_guard lock(mutex_);
  if (texts_.size() < kClassesMax) texts_.insert_or_assign(std::move(dotted), std::move(text));
}

std::string ExecutorLocals::take(std::string_view class_name) {
  std::lock_guard lock(mutex_);
  const auto found = texts_.find(std::string(class_name));
  if (found == texts_.end()) return {};
  std::string text = std::move(found->second);
  texts_.erase(found);
  return text;
}

}  // namespace contrafact::agent_jvm
