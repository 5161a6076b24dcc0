// Where chosen classes make the objects that they put into their fields: `lock = new ReentrantLock()`. Of a lock that is known by
// its field that says where it was made.
//
// Thread-safe. Nothing happens while the program runs: it is seen in the code of classes that are loaded.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent_jvm/probes.h"
#include "classfile/class_file.h"
#include "classfile/code.h"
#include "format/event.h"

namespace contrafact::agent_jvm {

class LockMakers {
 public:
  // Notes each field of the class's own that gets a new object in this code, as soon as it is made.
  void note(const classfile::ClassFile& file, const classfile::Code& code, const PlaceOf& place_of);
  // The contexts of those places, decimal, for a lock's name: "shop.Cache.lock (ReentrantLock)"; empty if none is known.
  std::string places(std::string_view lock_name) const;

 private:
  static constexpr size_t kFieldsMax = 1 << 14;
  static constexpr size_t kPlacesMax = 8;  // of a field

  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::vector<int32_t>> of_field_;  // by class and field: "shop.Cache.lock"
};

}  // namespace contrafact::agent_jvm
