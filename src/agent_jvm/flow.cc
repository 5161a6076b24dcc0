#include "agent_jvm/flow.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <string>

#include "agent_jvm/field_numbers.h"

namespace contrafact::agent_jvm {
namespace {

constexpr size_t kRecordBytes = 72;
constexpr size_t kBucketBytes = 32;
constexpr size_t kUnionsBytes = (size_t{1} << 14) * 16;
constexpr size_t kStandingBytes = (size_t{1} << 12) * 8;
constexpr uint64_t kMemoryBytesMin = uint64_t{4} << 20;
constexpr uint64_t kMemoryBytesMax = uint64_t{4} << 30;

// Of memory that is zero, and that the kernel gives a page at a time.
class Zeros {
 public:
  explicit Zeros(size_t bytes) : memory_(std::calloc(bytes, 1)) {
    if (!memory_) throw std::bad_alloc();
  }
  ~Zeros() { std::free(memory_); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;

  int64_t address() const { return reinterpret_cast<int64_t>(memory_); }
  const void* get() const { return memory_; }

 private:
  void* memory_;
};

struct Counts {
  int32_t last_taint = 0;
  int32_t last_record = 0;
  int64_t shortened = 0;
  int64_t evicted = 0;
  int64_t not_copied = 0;
};

}  // namespace

struct Flow::Memory {
  explicit Memory(uint64_t bytes)
      : records_count(std::bit_floor(bytes / 4 / kRecordBytes)),
        buckets_count(std::bit_floor(bytes / 2 / kBucketBytes)),
        counts(sizeof(Counts)),
        records(records_count * kRecordBytes),
        unions(kUnionsBytes),
        shadows(buckets_count * kBucketBytes),
        fields(size_t{FieldNumbers::kNumbersMax} * sizeof(int32_t)),
        tainted(FieldNumbers::kNumbersMax),
        standing(kStandingBytes) {}

  const size_t records_count;
  const size_t buckets_count;
  const Zeros counts, records, unions, shadows, fields, tainted, standing;
};

Flow::Flow(uint64_t memory_bytes_max, recorder::Recorder& recorder)
    : recorder_(recorder),
      memory_(std::make_unique<Memory>(std::clamp(memory_bytes_max, kMemoryBytesMin, kMemoryBytesMax))) {
  recorder.add_fact("flow.source", "bytecode");
}

Flow::~Flow() = default;

// The order is a contract with java/java/lang/ContrafactTaints.java.
int64_t Flow::memory(int which) const {
  const Memory& m = *memory_;
  const int64_t all[] = {m.counts.address(),
                         m.records.address(),
                         m.unions.address(),
                         m.shadows.address(),
                         m.fields.address(),
                         m.tainted.address(),
                         m.standing.address(),
                         static_cast<int64_t>(m.records_count),
                         static_cast<int64_t>(m.buckets_count)};
  return which >= 0 && static_cast<size_t>(which) < std::size(all) ? all[which] : 0;
}

void Flow::report() const {
  const Counts& counts = *static_cast<const Counts*>(memory_->counts.get());
  const auto add = [&](const char* name, int64_t count) { recorder_.add_fact(name, std::to_string(count)); };
  add("flow.taints", counts.last_taint);
  add("flow.sets", counts.last_record);
  if (counts.shortened > 0) add("flow.sets.shortened", counts.shortened);
  const int64_t reused = counts.last_record - static_cast<int64_t>(memory_->records_count);
  if (reused > 0) add("flow.sets.forgotten", reused);
  if (counts.evicted > 0) add("flow.shadows.forgotten", counts.evicted);
  if (counts.not_copied > 0) add("flow.arrays.joined", counts.not_copied);
}

}  // namespace contrafact::agent_jvm
