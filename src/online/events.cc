#include "online/events.h"

namespace contrafact::online {

void Events::before_processing() {
  data_ = analysis_.methods.begin ? analysis_.methods.begin(analysis_.self) : analysis_.self;
}

void Events::after_processing() {
  if (analysis_.methods.merge) analysis_.methods.merge(analysis_.self, data_);
}

}  // namespace contrafact::online
