// The types of java.util.concurrent that a field or variable which holds an executor is declared with.
#pragma once

#include <array>
#include <string_view>

namespace contrafact::agent_jvm {

inline constexpr std::string_view kExecutorDescriptor = "Ljava/util/concurrent/";  // its beginning
inline constexpr std::string_view kExecutorPackage = kExecutorDescriptor.substr(1);
inline constexpr std::array<std::string_view, 7> kExecutorTypes = {
    "Executor",     "ExecutorService",    "ScheduledExecutorService",   "AbstractExecutorService",
    "ForkJoinPool", "ThreadPoolExecutor", "ScheduledThreadPoolExecutor"};

// "ExecutorService" of "Ljava/util/concurrent/ExecutorService;"; empty if the type is no executor's.
constexpr std::string_view executor_type_of(std::string_view descriptor) {
  if (!descriptor.starts_with(kExecutorDescriptor) || !descriptor.ends_with(';')) return {};
  descriptor.remove_prefix(kExecutorDescriptor.size());
  descriptor.remove_suffix(1);
  for (const std::string_view type : kExecutorTypes) {
    if (type == descriptor) return type;
  }
  return {};
}

}  // namespace contrafact::agent_jvm
