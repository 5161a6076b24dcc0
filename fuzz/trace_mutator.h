// Mutations of trace files that know what blocks, groups, rows and events are: what they make has true checksums, so
// that it reaches the code behind the reader. Ids, counts, times and sizes become what overflows, or far beyond the
// tables.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "format/block_file_for_test.h"
#include "format/event_block.h"

namespace contrafact::format {

class TraceMutator {
 public:
  explicit TraceMutator(uint32_t seed) : random_(seed) {}

  // The file, mutated; empty if it is none.
  std::vector<uint8_t> mutate(std::span<const uint8_t> file) {
    std::vector<LooseBlock> blocks = take_apart(file);
    if (blocks.empty()) return {};
    for (uint32_t i = 1 + below(4); i > 0 && !blocks.empty(); --i) mutate_once(blocks);
    if (below(8) != 0) {
      for (uint32_t i = 0; i < blocks.size(); ++i) blocks[i].sequence = i;
    }
    return put_together(blocks);
  }

 private:
  struct Event {
    ThreadId thread;
    RunSource source;
    EventKind kind;
    int64_t time_ns;
    uint32_t operands[kOperandsMax];
  };

  uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  bool rarely() { return below(16) == 0; }
  template <typename Items>
  auto& any(Items& items) {
    return items[below(static_cast<uint32_t>(items.size()))];
  }

  uint64_t interesting() {
    static constexpr uint64_t kValues[] = {0,
                                           1,
                                           2,
                                           3,
                                           7,
                                           63,
                                           127,
                                           128,
                                           255,
                                           1000,
                                           1 << 14,
                                           (1 << 16) - 1,
                                           1 << 16,
                                           1 << 20,
                                           1 << 24,
                                           1u << 31,
                                           UINT32_MAX - 1,
                                           UINT32_MAX,
                                           1ull << 32,
                                           1ull << 53,
                                           1ull << 62,
                                           INT64_MAX,
                                           1ull << 63,
                                           UINT64_MAX};
    return any(kValues) + (rarely() ? below(64) : 0);
  }
  template <typename Value, size_t N>
  const Value& any(const Value (&values)[N]) {
    return values[below(N)];
  }
  // Mostly small: a row that is there, or one of the next ones.
  uint32_t id() { return below(3) != 0 ? below(6) : static_cast<uint32_t>(interesting()); }

  void mutate_once(std::vector<LooseBlock>& blocks) {
    LooseBlock& block = any(blocks);
    switch (below(12)) {
      case 0:
        return mutate_header(block);
      case 1:
        return move_blocks(blocks);
      case 2:
        return repeat_block(blocks);
      case 3:
        return mutate_group(block);
      case 4:
        return add_rows(blocks);
      default:
        if (block.type == BlockType::events) return mutate_events(block);
        return mutate_numbers(block);
    }
  }

  void mutate_header(LooseBlock& block) {
    switch (below(4)) {
      case 0:
        block.count = static_cast<uint32_t>(interesting());
        break;
      case 1:
        block.first = static_cast<uint32_t>(interesting());
        break;
      case 2:
        block.type = static_cast<BlockType>(1 + below(kBlockTypeLast));
        break;
      default:
        block.sequence = static_cast<uint32_t>(interesting());
        break;
    }
  }

  void move_blocks(std::vector<LooseBlock>& blocks) {
    const auto at = blocks.begin() + below(static_cast<uint32_t>(blocks.size()));
    if (below(2) == 0) {
      blocks.erase(at);
    } else {
      std::swap(*at, any(blocks));
    }
  }

  // The rows follow on, or leave a hole.
  void repeat_block(std::vector<LooseBlock>& blocks) {
    constexpr uint32_t kBlocksMax = 200;
    LooseBlock copy = any(blocks);
    for (uint32_t i = 1 + below(4); i > 0 && blocks.size() < kBlocksMax; --i) {
      copy.first += below(4) == 0 ? static_cast<uint32_t>(interesting()) : copy.count;
      blocks.push_back(copy);
    }
  }

  // Bytes that keep no grammar, or more of them than anybody reads.
  void mutate_group(LooseBlock& block) {
    if (block.groups.empty()) return;
    std::vector<uint8_t>& group = any(block.groups);
    if (group.empty() || below(4) == 0) {
      group.resize(
          std::min<uint64_t>(interesting() % (kBlockRawBytesMax - 64), rarely() ? kBlockRawBytesMax : 1 << 16));
    } else if (below(3) == 0) {
      group.resize(below(static_cast<uint32_t>(group.size())));
    } else {
      any(group) = static_cast<uint8_t>(interesting());
    }
  }

  void add_rows(std::vector<LooseBlock>& blocks) {
    LooseBlock block;
    block.type = static_cast<BlockType>(1 + below(kBlockTypeLast));
    block.first = id();
    block.count = 1 + below(rarely() ? 20'000 : 4);
    std::vector<uint8_t> bytes;
    for (uint32_t i = 0; i < block.count * 6; ++i) put_varint(bytes, id());
    block.groups.push_back(std::move(bytes));
    blocks.insert(blocks.begin() + below(static_cast<uint32_t>(blocks.size() + 1)), std::move(block));
  }

  // Rows are varints (texts are not, and are taken for some).
  void mutate_numbers(LooseBlock& block) {
    if (block.groups.empty()) return;
    std::vector<uint8_t>& group = any(block.groups);
    std::vector<uint64_t> numbers;
    for (ByteReader in(group); !in.at_end();) numbers.push_back(in.varint());
    if (numbers.empty()) return;
    for (uint32_t i = 1 + below(3); i > 0; --i) {
      uint64_t& number = any(numbers);
      number = below(2) == 0 ? interesting() : number + below(5) - 2;
    }
    group.clear();
    for (const uint64_t number : numbers) put_varint(group, number);
  }

  void mutate_events(LooseBlock& block) {
    std::vector<Event> events = decode(block);
    if (events.empty()) return mutate_group(block);
    for (uint32_t i = 1 + below(4); i > 0 && !events.empty(); --i) mutate_event_list(events);
    encode(events, block);
  }

  void mutate_event_list(std::vector<Event>& events) {
    Event& event = any(events);
    const size_t operands = schema_of(event.kind).operand_count();
    switch (below(10)) {
      case 0:
        event.thread = ThreadId(std::min(id(), UINT32_MAX - 1));
        break;
      case 1:
        event.kind = static_cast<EventKind>(below(kEventKinds));
        event.source = RunSource::program;
        break;
      case 2:
        event.time_ns = static_cast<int64_t>(interesting());
        break;
      case 3:
        event.time_ns = static_cast<int64_t>(static_cast<uint64_t>(event.time_ns) + below(2000) - 1000);
        break;
      case 4:
        std::swap(event, any(events));
        break;
      case 5:
        events.erase(events.begin() + (&event - events.data()));
        break;
      case 6:
        return repeat_events(events);
      default:
        if (operands > 0) event.operands[below(static_cast<uint32_t>(operands))] = id();
        break;
    }
  }

  // A stretch again and again, with ids that grow: many tasks, locks or threads.
  void repeat_events(std::vector<Event>& events) {
    const uint32_t begin = below(static_cast<uint32_t>(events.size()));
    const uint32_t count = 1 + below(std::min<uint32_t>(12, static_cast<uint32_t>(events.size()) - begin));
    const uint32_t times = 1 + below(rarely() ? 3000 : 6);
    const uint32_t step = below(3);
    const bool other_threads = rarely();
    for (uint32_t i = 1; i <= times && events.size() + count < kEventsPerBlockMax; ++i) {
      for (uint32_t k = 0; k < count; ++k) {
        Event event = events[begin + k];
        event.operands[0] += i * step;
        event.time_ns = static_cast<int64_t>(static_cast<uint64_t>(event.time_ns) + i * 10);
        if (other_threads) event.thread = ThreadId((event.thread.value + i) % (UINT32_MAX - 1));
        events.push_back(event);
      }
    }
  }

  static std::vector<Event> decode(const LooseBlock& block) {
    std::vector<uint8_t> payload;
    GroupWriter groups(0);
    for (const std::vector<uint8_t>& group : block.groups) {
      const std::span<const uint8_t> section(group);
      groups.put(payload, std::span(&section, 1));
    }
    EventDecoder decoder;
    const EventBlock* decoded = decoder.decode(payload, block.count);
    std::vector<Event> events;
    if (!decoded) return events;
    size_t extra = 0;
    for (const EventRun& run : decoded->runs) {
      for (uint32_t i = run.begin; i < run.end; ++i) {
        Event event{run.thread, run.source, decoded->kind[i], decoded->time_ns[i], {decoded->a[i], decoded->b[i]}};
        for (size_t k = 2; k < schema_of(event.kind).operand_count(); ++k) event.operands[k] = decoded->extra[extra++];
        events.push_back(event);
      }
    }
    return events;
  }

  static void encode(const std::vector<Event>& events, LooseBlock& block) {
    EventEncoder encoder;
    for (const Event& event : events) {
      encoder.begin_run(event.thread, event.source);
      encoder.append(event.kind, event.time_ns, event.operands);
    }
    block.count = encoder.event_count();
    std::vector<uint8_t> payload;
    GroupWriter groups(0);
    encoder.encode(groups, payload);
    block.groups = groups_of(payload);
  }

  std::mt19937 random_;
};

}  // namespace contrafact::format
