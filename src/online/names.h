// The methods and classes of a running program, by id: names for the analysis, sizes for the events of allocations.
//
// Thread safety: everything. Adding locks; looking up does not, so that consumers never wait for the program.
// Invariants: ids begin with 1 and have no gaps; an entry does not change and does not move.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/strong_id.h"

namespace contrafact::online {

using MethodId = base::StrongId<struct OnlineMethodTag>;
using ClassId = base::StrongId<struct OnlineClassTag>;

// An array that grows and whose elements stay where they are. One adds at a time; the reader must have learnt the id in
// a way that orders it after the adding.
template <typename T>
class StableArray {
 public:
  ~StableArray() {
    for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
  }
  // Null beyond kMax elements.
  T* add() {
    const uint32_t place = size_.load(std::memory_order_relaxed);
    if (place >= kMax) return nullptr;
    auto& chunk = chunks_[place / kChunk];
    if (!chunk.load(std::memory_order_relaxed)) chunk.store(new T[kChunk], std::memory_order_release);
    return &chunk.load(std::memory_order_relaxed)[place % kChunk];
  }
  // The added element may be read from here on; returns its place.
  uint32_t publish() { return size_.fetch_add(1, std::memory_order_release); }
  const T* at(uint32_t place) const {
    if (place >= size_.load(std::memory_order_acquire)) return nullptr;
    return &chunks_[place / kChunk].load(std::memory_order_acquire)[place % kChunk];
  }
  uint32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  static constexpr uint32_t kChunk = 4096;
  static constexpr uint32_t kChunks = 1024;
  static constexpr uint32_t kMax = kChunk * kChunks;  // 4 million
  std::atomic<T*> chunks_[kChunks] = {};
  std::atomic<uint32_t> size_{0};
};

// A name of the JVM's, which writes a character beyond U+FFFF as two surrogates of three bytes each, and U+0000 as two
// bytes, in UTF-8. A surrogate without its other half becomes U+FFFD.
std::string utf8_of_modified(std::string_view name);

// In the tables, names are UTF-8.
struct MethodName {
  std::string class_name;  // with dots
  std::string name;
  std::string descriptor;
  std::string file;
  uint32_t line = 0;
};

class MethodNames {
 public:
  // The id of this class, name and descriptor, a new one if it is new: classes of one name in several loaders share
  // theirs. Names as the JVM has them. None if there are too many.
  MethodId add(MethodName method);
  const MethodName* find(MethodId id) const;
  uint32_t size() const { return methods_.size(); }

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, MethodId> ids_;
  StableArray<MethodName> methods_;
};

// How many bytes an object of a class takes.
struct ClassInfo {
  std::string name;         // shop.api.Feed, byte[]
  uint64_t base_bytes = 0;  // an object's size; an array's header
  uint32_t element_bytes = 0;
  uint32_t align_bytes = 0;  // a power of two; 0: base_bytes is the whole size

  uint64_t bytes_of(uint32_t length) const {
    const uint64_t bytes = base_bytes + uint64_t{length} * element_bytes;
    return align_bytes == 0 ? bytes : (bytes + align_bytes - 1) & ~uint64_t{align_bytes - 1};
  }
};

class ClassTable {
 public:
  // A new id, whatever the name, which is as the JVM has it. None if there are too many.
  ClassId add(ClassInfo info);
  const ClassInfo* find(ClassId id) const;

 private:
  std::mutex mutex_;
  StableArray<ClassInfo> classes_;
};

}  // namespace contrafact::online
