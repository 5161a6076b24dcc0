// The words of the text form and of tables for the enumerations of format/event.h and model/trace.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "model/trace.h"

namespace contrafact::model {

template <typename Enum, size_t N>
struct EnumNames {
  std::array<std::string_view, N> names;
  constexpr std::string_view operator[](Enum value) const {
    auto i = static_cast<size_t>(value);
    return i < N ? names[i] : "?";
  }
};

inline constexpr EnumNames<Origin, 3> kOriginNames{{"measured", "estimated", "simulated"}};
inline constexpr EnumNames<TaskKind, 4> kTaskKindNames{{"pooled", "stage", "future", "thread"}};
inline constexpr EnumNames<Outcome, 7> kOutcomeNames{
    {"normal", "exception", "timeout", "interrupted", "cancelled", "preempted", "blocked"}};
inline constexpr EnumNames<BlockReason, 9> kReasonNames{
    {"park", "sleep", "monitor", "object_wait", "io", "poll", "futex", "process", "signal"}};
inline constexpr EnumNames<format::LockKind, 10> kLockKindNames{
    {"mutex", "rwlock", "spinlock", "condition", "barrier", "semaphore", "once", "futex", "monitor", "synchronizer"}};
inline constexpr EnumNames<format::SetGap, 9> kSetGapNames{
    {"complete", "not_observed", "outside_window", "unsupported", "system_call", "signal", "left", "overflow", "lost"}};
inline constexpr EnumNames<format::DependsMode, 2> kModeNames{{"all", "any"}};
inline constexpr EnumNames<format::FlowKind, 3> kFlowKindNames{{"direct", "indirect", "control"}};
inline constexpr EnumNames<format::ConnectionKind, 3> kConnectionKindNames{{"accepted", "connected", "other"}};
inline constexpr EnumNames<format::NamedBy, 4> kNamedByNames{{"path", "mapping", "pattern", "configuration"}};
inline constexpr EnumNames<format::PoolKind, 6> kPoolKindNames{
    {"thread_pool", "scheduled_thread_pool", "fork_join", "thread_per_task", "other", "permits"}};

// The letters of an access's flags, from the lowest bit.
inline constexpr std::string_view kAccessLetters = "rwcmafon";

template <typename Enum, size_t N>
std::optional<Enum> named(const EnumNames<Enum, N>& names, std::string_view word) {
  for (size_t i = 0; i < N; ++i) {
    if (names.names[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

inline std::optional<EventKind> event_kind_named(std::string_view word) {
  for (const format::EventSchema& schema : format::kEventSchemas) {
    if (schema.name == word) return schema.kind;
  }
  return std::nullopt;
}

}  // namespace contrafact::model
