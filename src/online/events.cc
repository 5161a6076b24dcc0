#include "online/events.h"

namespace contrafact::online {
namespace {

uint32_t upper(TwoIds ids) {
  return static_cast<uint32_t>(ids >> 32);
}
uint32_t lower(TwoIds ids) {
  return static_cast<uint32_t>(ids);
}

}  // namespace

void Events::before_processing() {
  data_ = analysis_.methods.begin ? analysis_.methods.begin(analysis_.self) : analysis_.self;
}

void Events::after_processing() {
  if (analysis_.methods.merge) analysis_.methods.merge(analysis_.self, data_);
}

void Events::call(TwoIds ids) {
  if (analysis_.methods.on_call) analysis_.methods.on_call(data_, upper(ids), lower(ids));
}

void Events::exit(TwoIds ids) {
  if (analysis_.methods.on_exit) analysis_.methods.on_exit(data_, lower(ids), static_cast<int>(upper(ids)));
}

void Events::allocate_array(TwoIds ids, uint32_t length) {
  const ClassInfo* info = analysis_.methods.on_allocation ? analysis_.classes.find(ClassId(upper(ids))) : nullptr;
  if (info) analysis_.methods.on_allocation(data_, lower(ids), upper(ids), info->bytes_of(length));
}

}  // namespace contrafact::online
