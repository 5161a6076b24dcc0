#include "agent_jvm/field_numbers.h"

#include "agent_jvm/probes_sets.h"

namespace contrafact::agent_jvm {
namespace {

constexpr int kAncestorsMax = 100;  // of names that refer to each other in a circle

std::string native_key(std::string_view method, std::string_view descriptor) {
  return std::string(method) + ' ' + std::string(descriptor);
}

}  // namespace

void FieldNumbers::note(const classfile::ClassFile& file) {
  Class found;
  found.super = file.super_name();
  for (const std::string_view name : file.interfaces()) found.interfaces.emplace_back(name);
  for (const classfile::Member& field : file.fields())
    found.fields.emplace(field.name, field.has(classfile::kAccFinal));
  for (const classfile::Member& method : file.methods()) {
    if (method.has(classfile::kAccNative)) found.natives.emplace(native_key(method.name, method.descriptor));
  }
  std::lock_guard lock(mutex_);
  classes_.insert_or_assign(std::string(file.name()), std::move(found));
}

bool FieldNumbers::derives_from(std::string_view class_name, std::string_view ancestor) const {
  std::lock_guard lock(mutex_);
  std::string name(class_name);
  for (int depth = 0; depth < kAncestorsMax && name != ancestor; ++depth) {
    const auto found = classes_.find(name);
    if (found == classes_.end()) return false;
    name = found->second.super;
  }
  return name == ancestor;
}

bool FieldNumbers::is_native(std::string_view class_name, std::string_view method, std::string_view descriptor) const {
  const std::string key = native_key(method, descriptor);
  std::lock_guard lock(mutex_);
  auto found = classes_.find(std::string(class_name));
  for (int depth = 0; depth < kAncestorsMax && found != classes_.end(); ++depth) {
    if (!may_be_observed(found->first)) return false;
    if (found->second.natives.contains(key)) return true;
    found = classes_.find(found->second.super);
  }
  return false;
}

uint32_t FieldNumbers::number(std::string_view class_name, std::string_view field) {
  std::lock_guard lock(mutex_);
  return number_of(class_name, field);
}

uint32_t FieldNumbers::number_of(std::string_view class_name, std::string_view field) {
  const auto next = static_cast<uint32_t>(names_.size());
  std::string key = std::string(class_name) + ' ' + std::string(field);
  if (const auto found = numbers_.find(key); found != numbers_.end()) return found->second;
  if (next >= kNumbersMax) return 0;
  if (next / kChunk >= chunks_.size()) {
    chunks_.push_back(std::make_unique<Chunk>());
    declared_[next / kChunk].store(chunks_.back().get(), std::memory_order_release);
  }
  numbers_.emplace(std::move(key), next);
  names_.push_back({std::string(class_name), std::string(field)});
  return next;
}

// JVMS 5.4.3.2: the class itself, the interfaces, then what it is derived from.
const std::pair<const std::string, FieldNumbers::Class>* FieldNumbers::declaring(const std::string& class_name,
                                                                                 const std::string& field,
                                                                                 int depth) const {
  const auto found = classes_.find(class_name);
  if (found == classes_.end() || depth > kAncestorsMax) return nullptr;
  if (found->second.fields.contains(field)) return &*found;
  for (const std::string& name : found->second.interfaces) {
    if (const auto* declares = declaring(name, field, depth + 1)) return declares;
  }
  return declaring(found->second.super, field, depth + 1);
}

uint32_t FieldNumbers::resolve(uint32_t number) {
  const Name name = names_[number];
  const auto* declares = declaring(name.class_name, name.field, 0);
  if (declares && declares->second.fields.at(name.field)) return kFinal;
  const uint32_t found = declares ? number_of(declares->first, name.field) : number;
  return found == 0 ? number : found;
}

uint32_t FieldNumbers::same_field(uint32_t number) {
  std::lock_guard lock(mutex_);
  if (number == 0 || number >= names_.size()) return number;
  const Name name = names_[number];
  const auto* declares = declaring(name.class_name, name.field, 0);
  const uint32_t found = declares ? number_of(declares->first, name.field) : number;
  return found == 0 ? number : found;
}

uint32_t FieldNumbers::declared(uint32_t number) {
  Chunk* const chunk = number < kNumbersMax ? declared_[number / kChunk].load(std::memory_order_acquire) : nullptr;
  if (!chunk) return number;
  std::atomic<uint32_t>& known = (*chunk)[number % kChunk];
  if (const uint32_t found = known.load(std::memory_order_relaxed); found != 0) return found;
  std::lock_guard lock(mutex_);
  if (number == 0 || number >= names_.size()) return number;
  const uint32_t found = resolve(number);
  known.store(found, std::memory_order_relaxed);
  return found;
}

FieldNumbers::Name FieldNumbers::name(uint32_t number) const {
  std::lock_guard lock(mutex_);
  return number < names_.size() ? names_[number] : Name();
}

}  // namespace contrafact::agent_jvm
