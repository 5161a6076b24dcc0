// Numbers of fields, by which injected code says what it accesses. Code names a field by the class through which it reaches
// it, which may be derived from the one that declares it: each name has a number, and all names of one field have one
// declared number.
//
// Classes are known by their names alone: of two of one name, from two loaders, the fields have the same numbers.
// Thread-safe. declared() takes a lock only the first time that it is asked for a number.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "classfile/class_file.h"

namespace contrafact::agent_jvm {

class FieldNumbers {
 public:
  // All are below it: 8 * NUMBER is in the lower half of an address.
  static constexpr uint32_t kNumbersMax = 1 << 24;

  // Which fields the class declares, and what it is derived from. Before code that accesses them runs.
  void note(const classfile::ClassFile& file);

  // Among the classes noted so far.
  bool derives_from(std::string_view class_name, std::string_view ancestor) const;
  // Of a class that may be observed, or one that it is derived from.
  bool is_native(std::string_view class_name, std::string_view method, std::string_view descriptor) const;

  // Of a field as code names it, with the internal name of the class; the same number each time. 0: there are too many.
  uint32_t number(std::string_view class_name, std::string_view field);
  // The number of the field that this one names: of the class that declares it. kFinal: it is written once, before others
  // can read it.
  static constexpr uint32_t kFinal = UINT32_MAX;
  uint32_t declared(uint32_t number);
  // The same, but also of a final field its number.
  uint32_t same_field(uint32_t number);
  // "java/util/HashMap", "size".
  struct Name {
    std::string class_name;
    std::string field;
  };
  Name name(uint32_t number) const;

 private:
  static constexpr uint32_t kChunk = 1 << 12;
  using Chunk = std::array<std::atomic<uint32_t>, kChunk>;

  struct Class {
    std::string super;
    std::vector<std::string> interfaces;
    std::unordered_map<std::string, bool> fields;  // whether it is final
    std::unordered_set<std::string> natives;       // "NAME DESCRIPTOR"
  };

  // REQUIRES: mutex_ is held, in the following three
  uint32_t number_of(std::string_view class_name, std::string_view field);
  const std::pair<const std::string, Class>* declaring(const std::string& class_name, const std::string& field,
                                                       int depth) const;
  uint32_t resolve(uint32_t number);

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Class> classes_;
  std::unordered_map<std::string, uint32_t> numbers_;                 // "CLASS FIELD"
  std::vector<Name> names_{{}};                                       // by number; 0 is none
  std::array<std::atomic<Chunk*>, kNumbersMax / kChunk> declared_{};  // 0: not asked for yet
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace contrafact::agent_jvm
