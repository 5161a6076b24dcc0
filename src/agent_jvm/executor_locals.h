// The local variables and parameters of executors' types in the program's classes, with the lines on which they have a
// value: an expression written on such a line may name its executor by them. Class files hold them if they were compiled
// with -g, as build tools ask for.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace contrafact::agent_jvm {

class ExecutorLocals {
 public:
  static constexpr size_t kClassesMax = 4096;  // of which nothing was asked yet
  static constexpr size_t kTextMax = 4096;     // bytes of one class

  // To be called with each class file that is loaded, by its internal name. Malformed ones have no variables.
  void note(std::string_view class_name, std::span<const uint8_t> bytes);
  // "main 12-40 ExecutorService pool;" for each variable of the class, by its dotted name; the first time only, and empty
  // if there is none.
  std::string take(std::string_view class_name);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::string> texts_;
};

}  // namespace contrafact::agent_jvm
