// The reader of traces against hostile bytes. The first byte of an input chooses:
//   even  the rest is a file, as it is
//   odd   the rest describes blocks, which get true headers and checksums, so that mutations reach the decoders behind
//   them:
//         type:u8 count:u16 first:u16 payload_bytes:u16 payload, again and again
// Beyond not crashing: whatever the visitor is shown must be consistent in itself.
#include <cstring>

#include "base/check.h"
#include "format/reader.h"

namespace contrafact::format {
namespace {

struct Checking : Visitor {
  void on_strings(StringId, std::span<const std::string_view> rows) override {
    for (const std::string_view row : rows) {
      for (const char c : row) sum += static_cast<uint8_t>(c);
    }
  }
  void on_contexts(ContextId, std::span<const ContextRow> rows) override { sum += rows.size(); }
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

std::vector<uint8_t> true_file(std::span<const uint8_t> description) {
  std::vector<uint8_t> file;
  const auto put = [&](const auto& bytes) {
    const auto* first = reinterpret_cast<const uint8_t*>(&bytes);
    file.insert(file.end(), first, first + sizeof bytes);
  };
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFormatVersion;
  header.header_bytes = sizeof header;
  header.checksum = header_checksum(header);
  put(header);
  uint32_t sequence = 0;
  while (description.size() >= 7) {
    uint16_t numbers[3];
    std::memcpy(numbers, &description[1], sizeof numbers);
    BlockHeader block{};
    std::memcpy(block.marker, kMarker, sizeof kMarker);
    block.type = description[0];
    block.count = numbers[0];
    block.first = numbers[1];
    description = description.subspan(7);
    const auto payload = description.first(std::min<size_t>(numbers[2], description.size()));
    description = description.subspan(payload.size());
    block.stored_bytes = static_cast<uint32_t>(payload.size());
    block.sequence = sequence++;
    block.checksum = block_checksum(block, payload);
    put(block);
    file.insert(file.end(), payload.begin(), payload.end());
  }
  return file;
}

}  // namespace
}  // namespace contrafact::format

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace contrafact::format;
  if (size == 0) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  std::vector<uint8_t> file(rest.begin(), rest.end());
  if (data[0] & 1) file = true_file(rest);
  const auto reader = Reader::from_bytes(std::move(file), "fuzz");
  if (!reader) {
    CHECK(!reader.error().message.empty());
    return 0;
  }
  Checking checking;
  const ReadLoss loss = reader->read(checking);
  CHECK(loss.bytes_skipped <= reader->byte_count());
  Checking again;
  const ReadLoss loss_of_two = reader->read_twice(again);
  CHECK(again.sum == checking.sum && loss_of_two.blocks_damaged == loss.blocks_damaged);
  CHECK(loss_of_two.bytes_skipped == loss.bytes_skipped && again.outlined >= again.events);
  return 0;
}
