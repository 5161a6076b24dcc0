// Prints a trace as text, in the file's order: for tests, which read it more easily than the format.
//
//   cft_dump RUN.cft
//
//   fact KEY VALUE | string ID TEXT | method ID CLASS NAME FILE LINE | context ID PARENT METHOD LINE | pool ID NAME
//   KIND CORE MAX thread ID NAME KIND DAEMON OS_TID JAVA_TID | event THREAD TIME_NS KIND OPERANDS... | loss ... |
//   access THREAD ADDRESS BYTES FLAGS | trailer REASON EVENTS DROPPED
//
// Fields are separated by tabs; an id of none is "-".
#include <cstdio>
#include <string>
#include <vector>

#include "format/reader.h"

namespace {

using namespace contrafact;
using namespace contrafact::format;

std::string id_text(uint32_t value) {
  return value == UINT32_MAX ? "-" : std::to_string(value);
}

class Printer : public Visitor {
 public:
  void on_fact(std::string_view key, std::string_view value) override {
    std::printf("fact\t%.*s\t%.*s\n", static_cast<int>(key.size()), key.data(), static_cast<int>(value.size()),
                value.data());
  }
  void on_strings(StringId first, std::span<const std::string_view> rows) override {
    if (strings_.size() < first.value + rows.size()) strings_.resize(first.value + rows.size());
    for (size_t i = 0; i < rows.size(); ++i) strings_[first.value + i] = rows[i];
  }
  void on_methods(MethodId first, std::span<const MethodRow> rows) override {
    for (const MethodRow& row : rows) {
      std::printf("method\t%u\t%s\t%s\t%s\t%u\n", first.value++, text(row.class_name), text(row.name), text(row.file),
                  row.line);
    }
  }
  void on_contexts(ContextId first, std::span<const ContextRow> rows) override {
    for (const ContextRow& row : rows) {
      std::printf("context\t%u\t%s\t%s\t%u\n", first.value++, id_text(row.parent.value).c_str(),
                  id_text(row.method.value).c_str(), row.line);
    }
  }
  void on_pools(PoolId first, std::span<const PoolRow> rows) override {
    for (const PoolRow& row : rows) {
      std::printf("pool\t%u\t%s\t%u\t%u\t%s\n", first.value++, text(row.name), static_cast<unsigned>(row.kind),
                  row.core_size, id_text(row.max_size).c_str());
    }
  }
  void on_threads(ThreadId first, std::span<const ThreadRow> rows) override {
    for (const ThreadRow& row : rows) {
      std::printf("thread\t%u\t%s\t%u\t%d\t%lu\t%lu\n", first.value++, text(row.name), static_cast<unsigned>(row.kind),
                  row.daemon, static_cast<unsigned long>(row.os_tid), static_cast<unsigned long>(row.java_tid));
    }
  }
  void on_events(const EventBlock& block) override {
    size_t extra = 0;
    for (const EventRun& run : block.runs) {
      for (uint32_t i = run.begin; i < run.end; ++i) print_event(block, run.thread, i, extra);
    }
  }
  bool wants_access_chunks() const override { return true; }
  void on_access_chunks(uint32_t, std::span<const AccessChunk> chunks) override {
    for (const AccessChunk& chunk : chunks) {
      if (chunk.gap != SetGap::complete)
        std::printf("loss\tthread %u has a gap before %ld\n", chunk.thread, static_cast<long>(chunk.end_ns));
      AccessDecoder log(chunk.bytes);
      for (LoggedAccess access; log.next(access);) {
        std::printf("access\t%u\t%#lx\t%u\t%u\n", chunk.thread, static_cast<unsigned long>(access.begin),
                    access.length_bytes, access.flags);
      }
    }
  }
  void on_trailer(const Trailer& trailer) override {
    std::printf("trailer\t%s\t%lu\t%lu\n", trailer.exit_reason.c_str(), static_cast<unsigned long>(trailer.events),
                static_cast<unsigned long>(trailer.events_dropped));
  }

 private:
  void print_event(const EventBlock& block, ThreadId thread, uint32_t i, size_t& extra) const {
    const EventSchema& schema = schema_of(block.kind[i]);
    std::printf("event\t%u\t%ld\t%.*s", thread.value, static_cast<long>(block.time_ns[i]),
                static_cast<int>(schema.name.size()), schema.name.data());
    for (size_t k = 0; k < schema.operand_count(); ++k) {
      const uint32_t value = k == 0 ? block.a[i] : k == 1 ? block.b[i] : block.extra[extra++];
      std::printf("\t%s", id_text(value).c_str());
    }
    std::putchar('\n');
  }
  const char* text(StringId id) const { return id.value < strings_.size() ? strings_[id.value].c_str() : "-"; }

  std::vector<std::string> strings_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: cft_dump RUN.cft\n");
    return 2;
  }
  auto reader = Reader::open(argv[1]);
  if (!reader) {
    std::fprintf(stderr, "cft_dump: %s\n", reader.error().message.c_str());
    return 1;
  }
  Printer printer;
  const ReadLoss loss = reader->read(printer);
  if (loss.cut_off) std::printf("loss\tcut_off\n");
  for (const std::string& note : loss.notes) std::printf("loss\t%s\n", note.c_str());
  return 0;
}
