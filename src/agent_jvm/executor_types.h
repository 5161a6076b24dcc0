// The types of java.util.concurrent that a field or variable which holds an executor is declared with.
#pragma once

#include <array>
#include <string_view>

namespace contrafact::agent_jvm {

inline constexpr std::string_view kExecutorPackage = "java/util/concurrent/";
inline constexpr std::array<std::string_view, 7> kExecutorTypes = {
    "Executor",     "ExecutorService",    "ScheduledExecutorService",   "AbstractExecutorService",
    "ForkJoinPool", "ThreadPoolExecutor", "ScheduledThreadPoolExecutor"};

// "ExecutorService" of "Ljava/util/concurrent/ExecutorService;"; empty if the type is no executor's.
constexpr std::string_view executor_type_of(std::string_view descriptor) {
  if (!descriptor.starts_with('L') || !descriptor.ends_with(';')) return {};
  descriptor = descriptor.substr(1, descriptor.size() - 2);
  if (!descriptor.starts_with(kExecutorPackage)) return {};
  descriptor.remove_prefix(kExecutorPackage.size());
  for (const std::string_view type : kExecutorTypes) {
    if (type == descriptor) return type;
  }
  return {};
}

}  // namespace contrafact::agent_jvm
