// A number for a method's name and descriptor, by which code that runs in different bodies recognises a method.
#pragma once

#include <cstdint>
#include <string_view>

namespace contrafact::classfile {

// Neither 0 nor -1 (java/java/lang/ContrafactSets.java). FNV-1a.
inline int32_t method_hash(std::string_view name, std::string_view descriptor) {
  uint32_t hash = 2166136261;
  for (const std::string_view text : {name, descriptor}) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  }
  return static_cast<int32_t>(hash & 0x7ffffffe) + 1;
}

}  // namespace contrafact::classfile
