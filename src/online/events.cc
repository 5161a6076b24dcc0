#include "online/events.h"

namespace contrafact::online {

void Events::before_processing() {
  data_ = analysis_.methods.begin ? analysis_.methods.begin(analysis_.self) : analysis_.self;
}

void Events::after_processing() {
  if (analysis_.methods.merge) analysis_.methods.merge(analysis_.self, data_);
}

void Events::call(uint32_t caller, uint32_t callee) {
  if (analysis_.methods.on_call) analysis_.methods.on_call(data_, caller, callee);
}

void Events::exit(uint32_t method, uint32_t thrown) {
  if (analysis_.methods.on_exit) analysis_.methods.on_exit(data_, method, static_cast<int>(thrown));
}

void Events::allocate_array(uint32_t method, uint32_t class_id, uint32_t length) {
  const ClassInfo* info = analysis_.methods.on_allocation ? analysis_.classes.find(ClassId(class_id)) : nullptr;
  if (info) analysis_.methods.on_allocation(data_, method, class_id, info->bytes_of(length));
}

}  // namespace contrafact::online
