#include "replay/schedule.h"

#include <algorithm>
#include <string_view>

namespace contrafact::replay {
namespace {

constexpr std::string_view kMagic = "CFSCHED2";

void put(std::vector<uint8_t>& bytes, uint64_t value) {
  while (value >= 0x80) {
    bytes.push_back(static_cast<uint8_t>(value | 0x80));
    value >>= 7;
  }
  bytes.push_back(static_cast<uint8_t>(value));
}

class Decoder {
 public:
  explicit Decoder(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool good() const { return good_; }
  bool at_end() const { return at_ == bytes_.size(); }
  uint64_t number() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) break;
      const uint8_t byte = bytes_[at_++];
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }
  // A size, of which each element takes a byte at least.
  size_t size() {
    const uint64_t value = number();
    if (value > bytes_.size() - at_) good_ = false;
    return good_ ? static_cast<size_t>(value) : 0;
  }
  uint32_t below(uint64_t end) {
    const uint64_t value = number();
    if (value >= end || value > UINT32_MAX) good_ = false;
    return good_ ? static_cast<uint32_t>(value) : 0;
  }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = kMagic.size();
  bool good_ = true;
};

bool has_section(ActionCode code) {
  switch (code) {
    case ActionCode::take:
    case ActionCode::take_shared:
    case ActionCode::give:
    case ActionCode::give_shared:
    case ActionCode::sem_take:
    case ActionCode::credit_wait:
      return true;
    default:
      return false;
  }
}

// How many there are of what the action's value names; burn and sleep: any number.
uint64_t value_end(const Schedule& schedule, ActionCode code) {
  switch (code) {
    case ActionCode::burn:
    case ActionCode::sleep:
      return UINT64_MAX;
    case ActionCode::barrier:
      return schedule.round_sizes.size();
    case ActionCode::token_wait:
    case ActionCode::token_fire:
      return schedule.tokens;
    case ActionCode::spawn:
      return schedule.threads.size();
    case ActionCode::finish:
    case ActionCode::join:
      return schedule.tasks;
    default:
      return schedule.locks.size();
  }
}

void read_tables(Decoder& from, Schedule& schedule) {
  schedule.recorded_ns = from.number();
  schedule.locks.resize(from.size());
  for (ReplayLock& lock : schedule.locks) {
    lock.kind = static_cast<ReplayLockKind>(from.below(5));
    lock.count = from.below(UINT64_MAX);
    lock.given_by_others = from.below(2) != 0;
  }
  schedule.credit_needs.resize(schedule.locks.size());
  for (std::vector<uint32_t>& needs : schedule.credit_needs) {
    needs.resize(from.size());
    for (uint32_t& need : needs) need = from.below(UINT64_MAX);
  }
  schedule.round_sizes.resize(from.size());
  for (uint32_t& size : schedule.round_sizes) size = from.below(UINT64_MAX);
  schedule.tokens = from.below(UINT64_MAX);
  schedule.tasks = from.below(UINT64_MAX);
  schedule.starts.resize(from.size());
  for (Start& start : schedule.starts) {
    start.thread = from.below(UINT64_MAX);
    start.time_ns = from.number();
  }
  schedule.threads.resize(from.size());
}

void read_sections(Decoder& from, Schedule& schedule) {
  schedule.sections.resize(from.size());
  schedule.groups = from.below(UINT64_MAX);
  for (ReplaySection& section : schedule.sections) {
    section.follows.resize(from.size());
    for (uint32_t& before : section.follows) before = from.below(schedule.sections.size());
    const uint32_t group = from.below(uint64_t{schedule.groups} + 1);  // 0 for none
    section.group = group - 1;
  }
}

void put_sections(std::vector<uint8_t>& bytes, const Schedule& schedule) {
  put(bytes, schedule.sections.size());
  put(bytes, schedule.groups);
  for (const ReplaySection& section : schedule.sections) {
    put(bytes, section.follows.size());
    for (const uint32_t before : section.follows) put(bytes, before);
    put(bytes, section.group == UINT32_MAX ? 0 : uint64_t{section.group} + 1);
  }
}

void read_actions(Decoder& from, const Schedule& schedule, std::vector<Action>& actions) {
  actions.resize(from.size());
  for (Action& action : actions) {
    action.code = static_cast<ActionCode>(from.below(kActionCodes));
    action.value = from.number();
    if (has_section(action.code)) {
      action.section = from.below(UINT64_MAX);
      action.need = from.below(UINT64_MAX);
    }
    if (!from.good() || action.value >= value_end(schedule, action.code)) {
      actions.clear();
      from.below(0);  // no longer good
      return;
    }
  }
}

base::Status check(const Schedule& schedule) {
  std::vector<bool> started(schedule.threads.size());
  const auto start = [&](uint64_t thread) {
    if (thread >= started.size() || started[thread]) return false;
    started[thread] = true;
    return true;
  };
  for (const Start& one : schedule.starts) {
    if (!start(one.thread)) return base::Error{"a thread is started that is not there, or twice"};
  }
  for (const ReplayThread& thread : schedule.threads) {
    for (const Action& action : thread.actions) {
      if (action.code == ActionCode::spawn && !start(action.value)) return base::Error{"a thread is spawned twice"};
      const bool is_section = has_section(action.code) && action.code != ActionCode::credit_wait;
      if (is_section && !schedule.sections.empty() && action.section >= schedule.sections.size())
        return base::Error{"a section that is not there"};
      if (action.code == ActionCode::credit_wait && schedule.locks[action.value].kind != ReplayLockKind::condition)
        return base::Error{"a wait at what is no condition"};
    }
  }
  return {};
}

}  // namespace

uint64_t Schedule::action_count() const {
  uint64_t count = 0;
  for (const ReplayThread& thread : threads) count += thread.actions.size();
  return count;
}

std::vector<uint8_t> encode(const Schedule& schedule) {
  std::vector<uint8_t> bytes(kMagic.begin(), kMagic.end());
  put(bytes, schedule.recorded_ns);
  put(bytes, schedule.locks.size());
  for (const ReplayLock& lock : schedule.locks) {
    put(bytes, static_cast<uint64_t>(lock.kind));
    put(bytes, lock.count);
    put(bytes, lock.given_by_others);
  }
  for (const std::vector<uint32_t>& needs : schedule.credit_needs) {
    put(bytes, needs.size());
    for (const uint32_t need : needs) put(bytes, need);
  }
  put(bytes, schedule.round_sizes.size());
  for (const uint32_t size : schedule.round_sizes) put(bytes, size);
  put(bytes, schedule.tokens);
  put(bytes, schedule.tasks);
  put(bytes, schedule.starts.size());
  for (const Start& start : schedule.starts) {
    put(bytes, start.thread);
    put(bytes, start.time_ns);
  }
  put(bytes, schedule.threads.size());
  put_sections(bytes, schedule);
  for (const ReplayThread& thread : schedule.threads) {
    put(bytes, thread.background);
    put(bytes, thread.actions.size());
    for (const Action& action : thread.actions) {
      put(bytes, static_cast<uint64_t>(action.code));
      put(bytes, action.value);
      if (!has_section(action.code)) continue;
      put(bytes, action.section);
      put(bytes, action.need);
    }
  }
  return bytes;
}

base::Result<Schedule> decode(std::span<const uint8_t> bytes) {
  if (bytes.size() < kMagic.size() || !std::equal(kMagic.begin(), kMagic.end(), bytes.begin()))
    return base::Error{"not a schedule"};
  Decoder from(bytes);
  Schedule schedule;
  read_tables(from, schedule);
  if (from.good()) read_sections(from, schedule);
  for (ReplayThread& thread : schedule.threads) {
    thread.background = from.below(2) != 0;
    if (from.good()) read_actions(from, schedule, thread.actions);
  }
  if (!from.good() || !from.at_end()) return base::Error{"the schedule is cut off or damaged"};
  if (base::Status status = check(schedule); !status) return status.error();
  return schedule;
}

}  // namespace contrafact::replay
