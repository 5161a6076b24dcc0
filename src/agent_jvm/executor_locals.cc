#include "agent_jvm/executor_locals.h"

#include <string.h>

#include <algorithm>

#include "agent_jvm/executor_types.h"
#include "classfile/named_locals.h"

namespace contrafact::agent_jvm {
namespace {

// Where `what` begins; npos: nowhere. Each class that is loaded comes here: memmem is several times as fast as find().
size_t find_in(std::string_view text, std::string_view what) {
  const void* const found = memmem(text.data(), text.size(), what.data(), what.size());
  return found ? static_cast<size_t>(static_cast<const char*>(found) - text.data()) : std::string_view::npos;
}

// False if no variable of the class has an executor's type. By the texts that such a class file contains.
bool may_have_any(std::span<const uint8_t> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (find_in(text, "LocalVariableTable") == std::string_view::npos) return false;
  for (size_t at = find_in(text, kExecutorDescriptor); at != std::string_view::npos;
       at = find_in(text, kExecutorDescriptor)) {
    text.remove_prefix(at);
    if (!executor_type_of(text.substr(0, text.find(';') + 1)).empty()) return true;
    text.remove_prefix(1);
  }
  return false;
}

// Names of other languages may contain what separates the words of a text.
bool is_plain(std::string_view name) {
  return name.find_first_of(" ;") == std::string_view::npos;
}

std::string text_of_class(std::span<const uint8_t> bytes) {
  const auto file = classfile::ClassFile::parse(bytes);
  if (!file) return {};
  std::string text;
  for (const classfile::Member& method : file->methods()) {
    if (!method.has_code() || !is_plain(method.name)) continue;
    const auto is_executor = [](std::string_view descriptor) { return !executor_type_of(descriptor).empty(); };
    for (const classfile::NamedLocal& local : classfile::named_locals(*file, method, is_executor)) {
      if (!is_plain(local.name)) continue;
      const std::string entry = std::string(method.name) + " " + std::to_string(local.first_line) + "-" +
                                std::to_string(local.last_line) + " " +
                                std::string(executor_type_of(local.descriptor)) + " " + std::string(local.name) + ";";
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
