// Rewrites a folder of class files with every edit that src/classfile offers, and checks what can be checked without a
// JVM.
//
//   rewrite_classes IN_DIR OUT_DIR [--probe CLASS] [--every N] [--reencode-only | --trace | --monitors | --accesses |
//                   --flows | --flows-of-sections | --wrong-frames]
//
// For each class: parse and write is the identity; decoding and encoding every method yields an equivalent body; then
// every method gets entry, exit and exception code with a saved local, calls of chosen kinds are wrapped, code is put
// at exception handlers and behind what allocates, and around monitors, those of synchronized methods, too. With
// --accesses, instead, every method gets a second body that tells of what it accesses, and with --flows code that carries
// taints, which with --flows-of-sections also tells where critical sections begin and end. The result goes to OUT_DIR under the
// same path, for a JVM to verify. Exit status 1 if any check failed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "classfile/accesses.h"
#include "classfile/annotations.h"
#include "classfile/flows.h"
#include "classfile/instrument.h"
#include "classfile/monitors.h"
#include "classfile/second_body.h"
#include "classfile/types.h"

namespace {

namespace fs = std::filesystem;
using namespace contrafact;
using namespace contrafact::classfile;

struct Totals {
  size_t classes = 0;
  size_t methods = 0;
  size_t instrumented = 0;
  size_t calls_wrapped = 0;
  size_t monitors_wrapped = 0;
  size_t methods_opened = 0;
  size_t second_bodies = 0;
  size_t second_bodies_huge = 0;  // too long for HotSpot to compile, where the method is not
  size_t accesses_apart = 0;      // told of in second bodies
  size_t accesses_in_place = 0;   // told of while anybody is observed
  size_t carried = 0;             // instructions with code beside them that carries taints
  size_t bytes_before = 0;        // of the code of methods that carry taints
  size_t bytes_after = 0;
  size_t became_huge = 0;
  size_t attributes_dropped = 0;
  size_t branches_widened = 0;
  size_t failures = 0;
  int64_t parse_ns = 0;
  int64_t edit_ns = 0;
  std::map<std::string, size_t> refusals;  // reason, without the method's name
  std::map<std::string, uint32_t> fields;  // their numbers, by class and name; with taints, by name alone
};

// A class that is being edited.
struct Work {
  ClassFile& file;
  const std::string& probe;
  std::vector<SecondBody> second_bodies;  // to be added when all methods are done
};

std::string reason_of(const std::string& message) {
  const size_t colon = message.find(": ");
  return colon == std::string::npos ? message : message.substr(colon + 2);
}

// Two bodies are equivalent if they have the same instructions, tables and frames once positions are numbered alike:
// both were decoded by the same code, which numbers labels in the order of their first use.
bool same_body(const Code& a, const Code& b) {
  if (a.max_stack != b.max_stack || a.max_locals != b.max_locals || a.nodes.size() != b.nodes.size()) return false;
  if (a.exceptions.size() != b.exceptions.size() || a.frames != b.frames) return false;
  for (size_t i = 0; i < a.nodes.size(); i++) {
    const Node& x = a.nodes[i];
    const Node& y = b.nodes[i];
    if (x.kind != y.kind || x.opcode != y.opcode || x.pc != y.pc) return false;
    if (x.kind == Node::kPlain) {
      const Bytes xs = a.bytes_of(x), ys = b.bytes_of(y);
      if (!std::equal(xs.begin(), xs.end(), ys.begin(), ys.end())) return false;
    } else if (x.label != y.label) {
      return false;
    }
    if (x.kind != Node::kSwitch) continue;
    const SwitchTable& s = a.switches[x.offset];
    const SwitchTable& t = b.switches[y.offset];
    if (s.default_target != t.default_target || s.low != t.low || s.keys != t.keys || s.targets != t.targets)
      return false;
  }
  for (size_t i = 0; i < a.exceptions.size(); i++) {
    const ExceptionEntry& x = a.exceptions[i];
    const ExceptionEntry& y = b.exceptions[i];
    if (x.start != y.start || x.end != y.end || x.handler != y.handler || x.catch_type != y.catch_type) return false;
  }
  return true;
}

bool reencode_is_equivalent(Bytes original) {
  auto file = ClassFile::parse(original);
  for (size_t i = 0; i < file->methods().size(); i++) {
    const Member& method = file->methods()[i];
    if (!method.has_code()) continue;
    auto code = Code::parse(*file, method);
    if (!code) return false;
    auto bytes = code->encode(file->pool());
    if (!bytes) return false;
    file->replace_code(i, std::move(*bytes));
  }
  const std::vector<uint8_t> written = file->write();
  auto again = ClassFile::parse(written);
  auto before = ClassFile::parse(original);
  if (!again || again->methods().size() != before->methods().size()) return false;
  for (size_t i = 0; i < again->methods().size(); i++) {
    if (!again->methods()[i].has_code()) continue;
    auto a = Code::parse(*before, before->methods()[i]);
    auto b = Code::parse(*again, again->methods()[i]);
    if (!a || !b || !same_body(*a, *b)) return false;
  }
  return true;
}

enum class Mode { kReencode, kEdit, kTrace, kMonitors, kAccesses, kFlows, kFlowsOfSections, kWrongFrames };

base::Status finish(ClassFile& file, size_t index, Code& code, size_t wrapped, Totals& totals) {
  auto bytes = code.encode(file.pool());
  if (!bytes) return bytes.error();
  totals.calls_wrapped += wrapped;
  totals.attributes_dropped += code.notes.attributes_dropped;
  totals.branches_widened += code.notes.branches_widened;
  const Member& method = file.methods()[index];
  totals.became_huge += becomes_huge(method.code, *bytes);
  totals.methods_opened += code.access != method.access;
  file.replace_code(index, std::move(*bytes));
  file.set_method_access(index, code.access);
  return {};
}

// Entry, exit and exceptions of the method, and the same around each call of run() and apply().
base::Status trace_method(ClassFile& file, size_t index, const std::string& probe, Totals& totals) {
  auto code = Code::parse(file, file.methods()[index]);
  if (!code) return code.error();
  const std::string name(code->method_name);
  const auto tell = [&](Sequence& sequence, const std::string& what) -> Sequence& {
    return sequence.ldc_string(what).invokestatic(probe, "tell", "(Ljava/lang/String;)V");
  };
  Sequence enter(file.pool()), leave(file.pool()), failed(file.pool());
  tell(enter, "enter " + name);
  tell(leave, "leave " + name);
  tell(failed, "throw " + name);
  if (base::Status status = instrument_entry_exit(*code, file, {&enter, &leave, &failed, {}}); !status) return status;
  CallWrap wrap;
  wrap.selects = [](const CallSite& site) { return site.name == "run" || site.name == "apply"; };
  wrap.copy_operands = true;
  wrap.build = [&](const CallSite& site, const CallOperands& operands, Sequence& before, Sequence& after,
                   Sequence& exception) {
    const std::string callee(site.name);
    tell(before, "before " + callee);
    for (Sequence* sequence : {&before, &after, &exception}) {
      if (operands.receiver != UINT32_MAX) {
        sequence->aload(operands.receiver).invokestatic(probe, "object", "(Ljava/lang/Object;)V");
      }
    }
    tell(after, "after " + callee);
    tell(exception, "thrown by " + callee);
  };
  auto wrapped = wrap_calls(*code, file, wrap);
  if (!wrapped) return wrapped.error();
  return finish(file, index, *code, *wrapped, totals);
}

// Where exceptions are caught, and behind what makes objects and arrays.
base::Status add_at_places(Code& code, ClassFile& file, const std::string& probe) {
  constexpr uint16_t kVersionClassConstants = 49;
  Sequence caught(file.pool());
  caught.dup().invokestatic(probe, "object", "(Ljava/lang/Object;)V");
  if (auto handlers = insert_at_handlers(code, caught); !handlers) return handlers.error();
  auto makers = insert_behind(code, file, [&](Bytes instruction, Sequence& behind) {
    const uint8_t opcode = instruction[0];
    if (opcode == kNew && file.major_version() >= kVersionClassConstants) {
      behind.ldc_class(*file.pool().class_name(load_u2(&instruction[1])));
      behind.invokestatic(probe, "object", "(Ljava/lang/Object;)V");
    } else if (opcode == kNewarray || opcode == kAnewarray) {
      behind.dup().dup().op(kArraylength).pop().invokestatic(probe, "object", "(Ljava/lang/Object;)V");
    } else if (opcode == kMultianewarray) {
      behind.dup().invokestatic(probe, "object", "(Ljava/lang/Object;)V");
    }
  });
  return makers ? base::Status() : base::Status(makers.error());
}

// All monitors of the method, and its own if it is synchronized.
base::Status probe_monitors(Code& code, ClassFile& file, const MonitorProbe& probe, Totals& totals) {
  if ((code.access & kAccSynchronized) != 0) {
    if (base::Status status = open_synchronized(code, file, probe); !status) return status;
  }
  auto enters = wrap_monitors(code, file, probe);
  if (!enters) return enters.error();
  totals.monitors_wrapped += *enters;
  return {};
}

// Code that branches, and that stores to a local of its own where it leaves the monitor.
MonitorProbe branching_probe(Code& code, const std::string& probe) {
  const uint32_t scratch = code.new_local("I");
  return {.before_enter =
              [=](const MonitorSite& site, Sequence& sequence) {
                sequence.aload(site.object).invokestatic(probe, "object", "(Ljava/lang/Object;)V");
                sequence.lconst(1234567).lstore(site.token);
              },
          .after_enter =
              [=](const MonitorSite& site, Sequence& sequence) {
                const auto over = sequence.new_label();
                sequence.lload(site.token).lconst(0).op(kLsub).pop2().aload(site.object).ifnull(over);
                sequence.invokestatic(probe, "event", "()V").bind(over);
              },
          .before_exit =
              [=](const MonitorSite& site, Sequence& sequence) {
                const auto over = sequence.new_label();
                sequence.iconst(1).istore(scratch).iload(scratch).ifeq(over).aload(site.object);
                sequence.invokestatic(probe, "object", "(Ljava/lang/Object;)V").bind(over);
              }};
}

// Nothing but the monitors, counted.
base::Status count_monitors(ClassFile& file, size_t index, const std::string& probe, Totals& totals) {
  auto code = Code::parse(file, file.methods()[index]);
  if (!code) return code.error();
  const MonitorProbe counts{
      .before_enter =
          [&](const MonitorSite& site, Sequence& sequence) {
            sequence.aload(site.object).invokestatic(probe, "beforeEnter", "(Ljava/lang/Object;)J").lstore(site.token);
          },
      .after_enter =
          [&](const MonitorSite& site, Sequence& sequence) {
            sequence.aload(site.object).lload(site.token).invokestatic(probe, "afterEnter", "(Ljava/lang/Object;J)V");
          },
      .before_exit =
          [&](const MonitorSite& site, Sequence& sequence) {
            sequence.aload(site.object).invokestatic(probe, "beforeExit", "(Ljava/lang/Object;)V");
          }};
  if (base::Status status = probe_monitors(*code, file, counts, totals); !status) return status;
  return finish(file, index, *code, 0, totals);
}

base::Status instrument_method(ClassFile& file, size_t index, const std::string& probe, Mode mode, Totals& totals) {
  auto code = Code::parse(file, file.methods()[index]);
  if (!code) return code.error();
  ConstantPool& pool = file.pool();

  // Half of the methods have their monitors probed before all other edits, half after them.
  const bool monitors_first = index % 4 < 2;
  const MonitorProbe monitors = branching_probe(*code, probe);
  if (monitors_first) {
    if (base::Status status = probe_monitors(*code, file, monitors, totals); !status) return status;
  }

  CallWrap wrap;
  wrap.selects = [](const CallSite& site) {
    return site.name == "run" || site.name == "apply" || site.name == "get" || site.name == "submit" ||
           site.name == "append" || site.name == "add" || site.name == "valueOf" || site.name == "put" ||
           site.opcode == kInvokedynamic || site.name == "park";
  };
  wrap.copy_operands = true;
  wrap.build = [&](const CallSite&, const CallOperands& operands, Sequence& before, Sequence& after,
                   Sequence& exception) {
    const bool has_receiver = operands.receiver != UINT32_MAX;
    if (has_receiver) before.aload(operands.receiver).invokestatic(probe, "object", "(Ljava/lang/Object;)V");
    // A branch, so that an inserted label needs a frame here.
    const auto over = after.new_label();
    after.iconst(0).ifeq(over).invokestatic(probe, "event", "()V").bind(over);
    exception.dup().invokestatic(probe, "object", "(Ljava/lang/Object;)V");
    if (has_receiver) exception.aload(operands.receiver).invokestatic(probe, "object", "(Ljava/lang/Object;)V");
  };
  auto wrapped = wrap_calls(*code, file, wrap);
  if (!wrapped) return wrapped.error();

  if (base::Status status = add_at_places(*code, file, probe); !status) return status;

  // Every other constructor is covered as a whole, where there is no `this` yet.
  const bool whole = file.methods()[index].is_constructor() && index % 2 == 1;
  const bool has_this = !file.methods()[index].has(kAccStatic) && !whole;
  EntryExit edit;
  edit.whole_constructor = whole;
  Sequence enter(pool), leave(pool), failed(pool);
  const uint32_t saved = code->new_local("Ljava/lang/Object;");
  const uint32_t time = code->new_local("J");
  edit.saved = {{saved, mode == Mode::kWrongFrames ? "[I" : "Ljava/lang/Object;"}, {time, "J"}};
  if (has_this) {
    enter.aload(0).astore(saved);
  } else {
    enter.aconst_null().astore(saved);
  }
  enter.lconst(1234567).lstore(time);
  const auto skip = enter.new_label();
  enter.aload(saved).ifnull(skip).aload(saved).invokestatic(probe, "object", "(Ljava/lang/Object;)V").bind(skip);
  if (code->descriptor.result.is_reference()) leave.dup().invokestatic(probe, "object", "(Ljava/lang/Object;)V");
  leave.aload(saved).invokestatic(probe, "object", "(Ljava/lang/Object;)V").lload(time).pop2();
  failed.dup()
      .invokestatic(probe, "object", "(Ljava/lang/Object;)V")
      .aload(saved)
      .invokestatic(probe, "object", "(Ljava/lang/Object;)V");
  edit.entry = &enter;
  edit.exit = &leave;
  edit.exception = &failed;
  if (base::Status status = instrument_entry_exit(*code, file, edit); !status) return status;
  if (!monitors_first) {
    if (base::Status status = probe_monitors(*code, file, monitors, totals); !status) return status;
  }
  return finish(file, index, *code, *wrapped, totals);
}

uint32_t number_of(const std::string& name, Totals& totals) {
  return totals.fields.try_emplace(name, static_cast<uint32_t>(totals.fields.size() + 1)).first->second;
}

size_t code_bytes(Bytes attribute) {
  return load_u4(&attribute[4]);
}

// Any call may be taken for one that locks: the code that asks is there then, and finds nothing.
bool may_lock(const CallSite& site) {
  return site.name.starts_with("begin") || site.name.starts_with("end") || site.pc % 4 == 0;
}

base::Status carry_taints(Work& work, size_t index, bool sections, Totals& totals) {
  const Member& method = work.file.methods()[index];
  auto code = Code::parse(work.file, method);
  if (!code) return code.error();
  FlowProbe probe{.tracker = work.probe, .number = {}, .may_lock = may_lock, .sections = sections};
  // A derived class may name itself as the owner.
  probe.number = [&](const FieldSite& site) {
    return site.name.starts_with("untracked") ? 0 : number_of(std::string(site.name), totals);
  };
  const auto carried = propagate_taints(*code, work.file, probe);
  if (!carried) return carried.error();
  if (base::Status status = finish(work.file, index, *code, 0, totals); !status) return status;
  totals.carried += *carried;
  totals.bytes_before += code_bytes(method.code);
  totals.bytes_after += code_bytes(work.file.methods()[index].new_code);
  return {};
}

base::Result<size_t> tell_accesses(Code& code, const Work& work, bool when_observed, Totals& totals) {
  AccessProbe probe{.observer = work.probe, .number = {}, .when_observed = when_observed};
  probe.number = [&](const FieldSite& site) {
    return number_of(std::string(site.owner) + "." + std::string(site.name), totals);
  };
  return probe_accesses(code, work.file, probe);
}

// Which frame calls these matters to what they return (src/agent_jvm/probes_sets.cc).
bool caller_matters(const ClassFile& file, const Member& method) {
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"Ljdk/internal/reflect/CallerSensitive;",
                                              "Ljdk/internal/vm/annotation/ChangesCurrentThread;",
                                              "Ljdk/internal/vm/annotation/JvmtiMountTransition;"},
      [&](std::string_view type) { return has_annotation(file, method, type); });
}

// Every third method has its accesses told of in its own body, too, as those of chosen classes have: the frames of the
// code that asks whether anybody is observed.
base::Status observe_method(Work& work, size_t index, Totals& totals) {
  const Member& method = work.file.methods()[index];
  auto code = Code::parse(work.file, method);
  if (!code) return code.error();
  const bool has_no_second =
      method.name.starts_with('<') || is_empty_finalizer(*code) || caller_matters(work.file, method);
  Code second = *code;
  if (has_no_second || index % 3 == 0) {
    const auto told = tell_accesses(*code, work, true, totals);
    if (!told) return told.error();
    totals.accesses_in_place += *told;
  }
  if (has_no_second) return finish(work.file, index, *code, 0, totals);
  const auto told = tell_accesses(second, work, false, totals);
  if (!told) return told.error();
  auto body = add_second_body(*code, second, work.file, method, work.probe);
  if (!body) return body.error();
  const bool is_huge = becomes_huge(method.code, body->code);
  if (base::Status status = finish(work.file, index, *code, 0, totals); !status) return status;
  totals.accesses_apart += *told;
  totals.second_bodies++;
  totals.second_bodies_huge += is_huge;
  work.second_bodies.push_back(*std::move(body));
  return {};
}

base::Status add_second_bodies(Work& work) {
  for (const SecondBody& body : work.second_bodies) {
    const base::Status status = work.file.add_method(body.access, body.name, body.descriptor, body.code);
    if (!status) return status;
  }
  return {};
}

base::Status edit_method(Work& work, size_t index, Mode mode, Totals& totals) {
  if (mode == Mode::kTrace) return trace_method(work.file, index, work.probe, totals);
  if (mode == Mode::kMonitors) return count_monitors(work.file, index, work.probe, totals);
  if (mode == Mode::kAccesses) return observe_method(work, index, totals);
  if (mode == Mode::kFlows || mode == Mode::kFlowsOfSections) {
    return carry_taints(work, index, mode == Mode::kFlowsOfSections, totals);
  }
  return instrument_method(work.file, index, work.probe, mode, totals);
}

void rewrite_class(const fs::path& in, const fs::path& out, const std::string& probe, Mode mode, Totals& totals) {
  const auto fail = [&](const std::string& what) {
    totals.failures++;
    std::fprintf(stderr, "%s: %s\n", in.c_str(), what.c_str());
  };
  auto input = base::read_file(in.string());
  if (!input) return fail(input.error().message);
  totals.classes++;
  const int64_t start = base::monotonic_ns();
  auto file = ClassFile::parse(*input);
  const int64_t parsed = base::monotonic_ns();
  totals.parse_ns += parsed - start;
  if (!file) return fail(file.error().message);
  if (file->write() != *input) fail("parse and write is not the identity");
  if (!reencode_is_equivalent(*input)) fail("decode and encode is not equivalent");
  const int64_t edit_start = base::monotonic_ns();
  Work work{*file, probe, {}};
  for (size_t i = 0; mode != Mode::kReencode && file->name() != probe && i < file->methods().size(); i++) {
    if (!file->methods()[i].has_code()) continue;
    totals.methods++;
    const base::Status status = edit_method(work, i, mode, totals);
    if (status) {
      totals.instrumented++;
    } else {
      totals.refusals[reason_of(status.error().message)]++;
    }
  }
  if (base::Status status = add_second_bodies(work); !status) fail(status.error().message);
  const std::vector<uint8_t> output = file->write();
  totals.edit_ns += base::monotonic_ns() - edit_start;
  if (auto again = ClassFile::parse(output); !again) return fail("cannot be parsed again: " + again.error().message);
  fs::create_directories(out.parent_path());
  if (base::Status status = base::write_file(out.string(), output); !status) fail(status.error().message);
}

}  // namespace

int main(int argc, char** argv) {
  std::string probe = "java/lang/ContrafactProbe";
  Mode mode = Mode::kEdit;
  size_t every = 1;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; i++) {
    const std::string argument = argv[i];
    if (argument == "--probe" && i + 1 < argc) {
      probe = argv[++i];
    } else if (argument == "--reencode-only") {
      mode = Mode::kReencode;
    } else if (argument == "--every" && i + 1 < argc) {
      every = std::max(1, std::atoi(argv[++i]));
    } else if (argument == "--trace") {
      mode = Mode::kTrace;
    } else if (argument == "--monitors") {
      mode = Mode::kMonitors;
    } else if (argument == "--accesses") {
      mode = Mode::kAccesses;
    } else if (argument == "--flows") {
      mode = Mode::kFlows;
    } else if (argument == "--flows-of-sections") {
      mode = Mode::kFlowsOfSections;
    } else if (argument == "--wrong-frames") {
      mode = Mode::kWrongFrames;
    } else {
      folders.push_back(argument);
    }
  }
  if (folders.size() != 2) {
    std::fprintf(stderr,
                 "usage: rewrite_classes IN_DIR OUT_DIR [--probe CLASS] [--every N] [--reencode-only | --trace | "
                 "--monitors | --accesses | --flows | --flows-of-sections | --wrong-frames]\n");
    return 2;
  }
  Totals totals;
  size_t seen = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folders[0])) {
    if (!entry.is_regular_file() || entry.path().extension() != ".class") continue;
    const Mode chosen = seen++ % every == 0 ? mode : Mode::kReencode;
    rewrite_class(entry.path(), fs::path(folders[1]) / fs::relative(entry.path(), folders[0]), probe, chosen, totals);
  }
  std::printf(
      "%zu classes, %zu methods with code, %zu instrumented, %zu calls wrapped, %zu attributes dropped, "
      "%zu branches widened, %zu monitors wrapped, %zu synchronized methods opened, %zu became huge\n",
      totals.classes, totals.methods, totals.instrumented, totals.calls_wrapped, totals.attributes_dropped,
      totals.branches_widened, totals.monitors_wrapped, totals.methods_opened, totals.became_huge);
  if (mode == Mode::kAccesses) {
    std::printf(
        "%zu second bodies, %zu of them huge, with %zu accesses told of, and %zu told of in place, of %zu fields\n",
        totals.second_bodies, totals.second_bodies_huge, totals.accesses_apart, totals.accesses_in_place,
        totals.fields.size());
  }
  if (mode == Mode::kFlows || mode == Mode::kFlowsOfSections) {
    std::printf(
        "%zu instructions with code that carries taints, %zu fields; the code is %.2f times as long\n", totals.carried,
        totals.fields.size(),
        static_cast<double>(totals.bytes_after) / static_cast<double>(std::max<size_t>(totals.bytes_before, 1)));
  }
  if (totals.classes > 0) {
    std::printf("parse %.1f us, edit %.1f us for each class\n",
                1e-3 * static_cast<double>(totals.parse_ns) / static_cast<double>(totals.classes),
                1e-3 * static_cast<double>(totals.edit_ns) / static_cast<double>(totals.classes));
  }
  for (const auto& [reason, count] : totals.refusals) std::printf("refused %zu: %s\n", count, reason.c_str());
  std::printf("%zu failures\n", totals.failures);
  return totals.failures == 0 && totals.classes > 0 ? 0 : 1;
}
