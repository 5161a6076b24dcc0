#include "online/names.h"

namespace contrafact::online {

MethodId MethodNames::add(MethodName method) {
  std::string key = method.class_name + '.' + method.name + method.descriptor;
  std::lock_guard lock(mutex_);
  if (auto found = ids_.find(key); found != ids_.end()) return found->second;
  MethodName* slot = methods_.add();
  if (!slot) return MethodId::none();
  *slot = std::move(method);
  const MethodId id(methods_.publish() + 1);
  ids_.emplace(std::move(key), id);
  return id;
}

const MethodName* MethodNames::find(MethodId id) const {
  return id.valid() && id.value > 0 ? methods_.at(id.value - 1) : nullptr;
}

ClassId ClassTable::add(ClassInfo info) {
  std::lock_guard lock(mutex_);
  ClassInfo* slot = classes_.add();
  if (!slot) return ClassId::none();
  *slot = std::move(info);
  return ClassId(classes_.publish() + 1);
}

const ClassInfo* ClassTable::find(ClassId id) const {
  return id.valid() && id.value > 0 ? classes_.at(id.value - 1) : nullptr;
}

}  // namespace contrafact::online
