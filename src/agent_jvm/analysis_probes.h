// The probes of the analysis mode: every chosen method reports its begin, its end and its allocations to the injected
// class ContrafactAnalysis. The tracing mode's are in probes.h.
//
// instrument() may be called from several threads at once; the counts are exact once no class is being loaded.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent_jvm/edits.h"
#include "agent_jvm/trace_config.h"
#include "contrafact/analysis.h"
#include "online/names.h"
#include "online/plugin.h"

namespace contrafact::agent_jvm {

constexpr char kAnalysisClass[] = "java/lang/ContrafactAnalysis";

class AnalysisProbes {
 public:
  // All must outlive this.
  AnalysisProbes(int jdk, const TraceConfig& config, const contrafact_analysis& wants, online::MethodNames& methods)
      : jdk_(jdk), config_(config), wants_(wants), methods_(methods) {}

  // The class's new bytes, or nothing if it stays as it is.
  std::optional<std::vector<uint8_t>> instrument(std::string_view class_name, std::span<const uint8_t> bytes);

  uint64_t refused() const { return refused_; }
  // The first few, with the reason.
  std::vector<std::string> refusals() const;
  uint64_t unseen_sites() const { return unseen_sites_; }

 private:
  bool add_fields(classfile::ClassFile& file);
  void edit_method(classfile::ClassFile& file, const std::string& class_name, size_t index);
  base::Status edit_code(Edit& edit, uint32_t method_id);
  base::Status add_calls(Edit& edit, uint32_t method_id);
  base::Status add_context_calls(Edit& edit, int32_t id);
  void refuse(const std::string& place, const std::string& reason);

  const int jdk_;
  const TraceConfig& config_;
  const contrafact_analysis& wants_;
  online::MethodNames& methods_;
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> unseen_sites_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> refusals_;
};

// Reports every object and array that the method makes. Yields the number of places whose objects cannot be reported:
// class files before Java 5 have no constants for classes.
base::Result<size_t> add_allocation_events(Edit& edit, uint32_t method_id);

}  // namespace contrafact::agent_jvm
