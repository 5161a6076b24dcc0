// The reader of traces against hostile bytes; fuzzed_file.h says how an input becomes a file.
// Beyond not crashing: whatever the visitor is shown must be consistent in itself.
#include "base/check.h"
#include "format/reader.h"
#include "fuzzed_file.h"

namespace contrafact::format {
namespace {

struct Checking : Visitor {
  void on_strings(StringId, std::span<const std::string_view> rows) override {
    for (const std::string_view row : rows) {
      for (const char c : row) sum += static_cast<uint8_t>(c);
    }
  }
  void on_contexts(ContextId, std::span<const ContextRow> rows) override { sum += rows.size(); }
  void on_connections(ConnectionId, std::span<const ConnectionRow> rows) override {
    for (const ConnectionRow& row : rows) CHECK(row.kind <= kConnectionKindLast);
  }
  void on_endpoints(EndpointId, std::span<const EndpointRow> rows) override { sum += rows.size(); }
  bool wants_access_chunks() const override { return true; }
  void on_access_chunks(uint32_t first, std::span<const AccessChunk> chunks) override {
    CHECK(chunks.size() <= UINT32_MAX - first);
    for (const AccessChunk& chunk : chunks) {
      CHECK(chunk.end_ns >= chunk.begin_ns && chunk.gap <= kSetGapLast);
      read_log(chunk.bytes);
    }
  }
  // Whatever the bytes are: sound accesses, no more than there are bytes, and a log of them reads the same.
  void read_log(std::span<const uint8_t> bytes) {
    std::vector<LoggedAccess> accesses;
    AccessDecoder log(bytes);
    for (LoggedAccess access; log.next(access);) {
      CHECK(is_sound(access));
      accesses.push_back(access);
      sum += access.begin + access.length_bytes + access.flags;
    }
    CHECK(accesses.size() <= bytes.size());
    std::vector<uint8_t> again(accesses.size() * AccessEncoder::kBytesMax);
    AccessEncoder encoder;
    uint8_t* end = again.data();
    for (const LoggedAccess& access : accesses) end = encoder.put(end, access);
    AccessDecoder second({again.data(), end});
    for (const LoggedAccess& access : accesses) {
      LoggedAccess same;
      CHECK(second.next(same) && same == access);
    }
  }
  void on_outline(const EventOutline& outline) override {
    CHECK(events == 0);
    outlined += outline.kind.size();
  }
  void on_events(const EventBlock& block) override {
    events += block.kind.size();
    const size_t n = block.kind.size();
    CHECK(n <= kEventsPerBlockMax && block.time_ns.size() == n && block.a.size() == n && block.b.size() == n);
    uint32_t next = 0;
    size_t extra = 0, tasks = 0;
    for (const EventRun& run : block.runs) {
      CHECK(run.begin == next && run.end > run.begin);
      next = run.end;
    }
    CHECK(next == n);
    for (size_t i = 0; i < n; ++i) {
      CHECK(static_cast<size_t>(block.kind[i]) < kEventKinds);
      const size_t operands = schema_of(block.kind[i]).operand_count();
      extra += operands > 2 ? operands - 2 : 0;
      for (const Operand operand : schema_of(block.kind[i]).operands) {
        tasks += operand == Operand::task || operand == Operand::source;
      }
      sum += static_cast<uint64_t>(block.time_ns[i]) + block.a[i] + block.b[i];
    }
    CHECK(extra == block.extra.size() && tasks == block.tasks.size());
    for (const uint32_t v : block.extra) sum += v;
  }
  uint64_t sum = 0, events = 0, outlined = 0;
};

}  // namespace
}  // namespace contrafact::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace contrafact::format;
  if (size == 0) return 0;
  const auto reader = Reader::from_bytes(fuzzed_file({data, size}), "fuzz");
  if (!reader) {
    CHECK(!reader.error().message.empty());
    return 0;
  }
  Checking checking;
  const ReadLoss loss = reader->read(checking);
  CHECK(loss.bytes_skipped <= reader->byte_count());
  Checking again;
  const ReadLoss loss_of_two = reader->read_in_passes(again);
  CHECK(again.sum == checking.sum && loss_of_two.blocks_damaged == loss.blocks_damaged);
  CHECK(loss_of_two.bytes_skipped == loss.bytes_skipped && again.outlined >= again.events);
  return 0;
}
