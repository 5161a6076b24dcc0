// Arbitrary bytes as a class file. What parses must survive everything the agent does: write, re-encode and instrument
// every method; what is written must parse again.
#include <cstdint>
#include <cstdio>

#include "base/check.h"
#include "classfile/flows.h"
#include "classfile/instrument.h"
#include "classfile/monitors.h"
#include "classfile/named_locals.h"

using namespace contrafact::classfile;

namespace {

bool probe_monitors(ClassFile& file, Code& code) {
  const auto event = [](const MonitorSite& site, Sequence& sequence) {
    sequence.aload(site.object).invokestatic("P", "object", "(Ljava/lang/Object;)V");
  };
  const MonitorProbe probe{event, event, event};
  if ((code.access & kAccSynchronized) != 0 && !open_synchronized(code, file, probe)) return false;
  return wrap_monitors(code, file, probe).ok();
}

void instrument(ClassFile& file, size_t index) {
  auto code = Code::parse(file, file.methods()[index]);
  if (!code) return;
  const uint32_t slot = code->new_local("Ljava/lang/Object;");
  Sequence enter(file.pool()), leave(file.pool()), failed(file.pool());
  const auto skip = enter.new_label();
  enter.aconst_null().astore(slot).aload(slot).ifnull(skip).invokestatic("P", "event", "()V").bind(skip);
  leave.aload(slot).invokestatic("P", "object", "(Ljava/lang/Object;)V");
  failed.dup().invokestatic("P", "object", "(Ljava/lang/Object;)V");
  CallWrap wrap;
  wrap.selects = [](const CallSite& site) { return site.pc % 2 == 0; };
  wrap.copy_operands = true;
  wrap.build = [](const CallSite&, const CallOperands& operands, Sequence& before, Sequence& after,
                  Sequence& exception) {
    if (operands.receiver != UINT32_MAX)
      before.aload(operands.receiver).invokestatic("P", "object", "(Ljava/lang/Object;)V");
    after.invokestatic("P", "event", "()V");
    exception.dup().invokestatic("P", "object", "(Ljava/lang/Object;)V");
  };
  const EntryExit edit{&enter, &leave, &failed, {{slot, "Ljava/lang/Object;"}}};
  if (index % 3 == 1 && !probe_monitors(file, *code)) return;
  if (!wrap_calls(*code, file, wrap)) return;
  if (!instrument_entry_exit(*code, file, edit)) return;
  if (index % 3 == 2 && !probe_monitors(file, *code)) return;
  auto bytes = code->encode(file.pool());
  if (!bytes) return;
  file.replace_code(index, std::move(*bytes));
  file.set_method_access(index, code->access);
}

void carry_taints(ClassFile& file, size_t index) {
  auto code = Code::parse(file, file.methods()[index]);
  if (!code) return;
  const FlowProbe probe{.tracker = "P",
                        .number = [](const FieldSite& site) { return static_cast<uint32_t>(site.name.size() % 3); },
                        .may_lock = [](const CallSite& site) { return site.pc % 2 == 0; },
                        .sections = index % 2 == 0};
  if (!propagate_taints(*code, file, probe)) return;
  auto bytes = code->encode(file.pool());
  if (bytes) file.replace_code(index, std::move(*bytes));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes input(data, size);
  auto file = ClassFile::parse(input);
  if (!file) return 0;
  const std::vector<uint8_t> same = file->write();
  CHECK(std::equal(same.begin(), same.end(), input.begin(), input.end()));
  (void)file->interfaces();
  (void)file->source_file();
  for (size_t i = 0; i < file->methods().size(); i++) {
    (void)file->line_of(file->methods()[i], 3);
    (void)named_locals(*file, file->methods()[i], [](std::string_view) { return true; });
    auto code = Code::parse(*file, file->methods()[i]);
    if (!code || !code->encode(file->pool())) continue;
    if (i % 5 < 2) {
      carry_taints(*file, i);
    } else {
      instrument(*file, i);
    }
  }
  (void)file->add_field(kAccTransient, "contrafact$id", "J");
  const std::vector<uint8_t> written = file->write();
  const auto again = ClassFile::parse(written);
  CHECK(again.ok());
  for (size_t i = 0; i < again->methods().size(); i++) {
    if (file->methods()[i].new_code.empty()) continue;
    const auto code = Code::parse(*again, again->methods()[i]);
    if (!code) std::fprintf(stderr, "%s\n", code.error().message.c_str());
    CHECK(code.ok());
  }
  return 0;
}
