#include "agent_jvm/probes.h"

#include <algorithm>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/hand_overs.h"

namespace contrafact::agent_jvm {
namespace {

constexpr int kJdkSleepInJava = 19;   // from then on Thread.sleep(long) has a body
constexpr size_t kRefusalsKept = 20;  // as facts; all are counted

bool name_matches(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == name;
}

bool contains(std::span<const uint8_t> bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find(text) !=
         std::string_view::npos;
}

std::string dotted(std::string_view internal_name) {
  std::string out(internal_name);
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

}  // namespace

struct Probes::Work {
  classfile::ClassFile& file;
  std::string class_name;  // with dots
  const Targets* targets;
  bool methods;      // function events may be wanted
  bool sleep_calls;  // calls of Thread.sleep are to be wrapped
  bool notifies;     // calls of Object.notify or notifyAll, too
  std::optional<HandOvers> hand_overs;
};

Probes::Probes(Agent& agent) : agent_(agent) {
  for (const Family& family :
       {thread_pool_family(), future_task_family(), completable_future_family(), fork_join_family(), thread_family(),
        park_family(), semaphore_family(), completion_service_family(), lambda_family(), frameworks_family()}) {
    for (const Probe& probe : family.probes) {
      if (agent.jdk >= probe.jdk_min && agent.jdk <= probe.jdk_max) targets_[probe.class_name].probes.push_back(&probe);
    }
    for (const AddedField& field : family.fields) {
      if (agent.jdk >= field.jdk_min) targets_[field.class_name].fields.push_back(&field);
    }
  }
}

std::optional<std::vector<uint8_t>> Probes::instrument(std::string_view class_name, std::span<const uint8_t> bytes) {
  auto found = targets_.find(class_name);
  const Targets* targets = found == targets_.end() ? nullptr : &found->second;
  const std::string dotted_class = dotted(class_name);
  const bool methods = agent_.config.may_choose_from(dotted_class);
  const bool sleep_calls = agent_.jdk < kJdkSleepInJava && class_name != "java/lang/Thread" &&
                           !class_name.starts_with("java/lang/Contrafact") && contains(bytes, "sleep");
  const bool notifies = !class_name.starts_with("java/lang/Contrafact") && contains(bytes, "notify");
  const bool hand_overs = HandOvers::may_be_in(class_name, bytes);
  note_unseen(class_name);
  if (!targets && !methods && !sleep_calls && !notifies && !hand_overs) return std::nullopt;

  auto file = classfile::ClassFile::parse(bytes);
  if (!file) {
    note_failure(dotted_class, file.error().message);
    return std::nullopt;
  }
  Work work{*file, dotted_class, targets, methods, sleep_calls, notifies, {}};
  if (hand_overs) work.hand_overs.emplace(*file);
  if (!add_fields(work)) return std::nullopt;  // the probes rely on them
  if (targets) {
    std::lock_guard lock(mutex_);
    loaded_.insert(targets->probes.begin(), targets->probes.end());
  }
  const size_t method_count = file->methods().size();
  for (size_t i = 0; i < method_count; ++i) {
    if (file->methods()[i].has_code()) edit_method(work, i);
  }
  if (!file->edited()) return std::nullopt;
  return file->write();
}

// Private in classes that are not the JDK's: then the number by which a class knows its serialised objects stays.
bool Probes::add_fields(Work& work) {
  const bool of_jdk = work.class_name.starts_with("java.");
  const uint16_t access =
      (of_jdk ? classfile::kAccPublic : classfile::kAccPrivate) | classfile::kAccTransient | classfile::kAccSynthetic;
  std::vector<const AddedField*> fields = work.targets ? work.targets->fields : std::vector<const AddedField*>();
  static constexpr AddedField kPool{{}, "contrafactPool", "I"};
  const bool has_pool =
      std::any_of(fields.begin(), fields.end(), [](const AddedField* f) { return f->name == kPool.name; });
  if (work.hand_overs && work.hand_overs->needs_pool_field() && !has_pool) fields.push_back(&kPool);
  for (const AddedField* field : fields) {
    if (base::Status status = work.file.add_field(access, field->name, field->descriptor); !status) {
      note_failure(work.class_name, status.error().message);
      return false;
    }
  }
  return true;
}

void Probes::edit_method(Work& work, size_t index) {
  const classfile::Member& method = work.file.methods()[index];
  std::vector<const Probe*> probes;
  if (work.targets) {
    std::copy_if(work.targets->probes.begin(), work.targets->probes.end(), std::back_inserter(probes),
                 [&](const Probe* probe) {
                   return name_matches(probe->method, method.name) &&
                          (probe->descriptor.empty() || probe->descriptor == method.descriptor);
                 });
  }
  const bool function_events = work.methods && agent_.config.chooses(work.class_name, method.name);
  const bool hands_over = probes.empty() && work.hand_overs && work.hand_overs->concerns(method);
  if (probes.empty() && !function_events && !work.sleep_calls && !work.notifies && !hands_over) return;

  auto code = classfile::Code::parse(work.file, method);
  if (!code) return note_failure(work.class_name + "." + std::string(method.name), code.error().message);
  Edit edit(work.file, method, *code, agent_.jdk);
  base::Status status;
  for (const Probe* probe : probes) {
    if (status) status = probe->edit(edit);
  }
  const size_t nodes_before = code->nodes.size();
  if (status && hands_over) status = work.hand_overs->edit(edit);
  if (status && work.sleep_calls) status = wrap_sleep_calls(edit);
  if (status && work.notifies) status = tell_notifications(edit);
  if (status && probes.empty() && !function_events && code->nodes.size() == nodes_before) return;  // nothing to do here
  if (status && function_events) {
    format::MethodRow row;
    row.class_name = agent_.recorder->intern(work.class_name);
    row.name = agent_.recorder->intern(method.name);
    if (!work.file.source_file().empty()) row.file = agent_.recorder->intern(work.file.source_file());
    row.line = work.file.line_of(method, 0).value_or(0);
    status = add_function_events(edit, agent_.recorder->add_method(row).value);
  }
  if (!status) return note_failure(work.class_name + "." + std::string(method.name), status.error().message);
  auto encoded = code->encode(work.file.pool());
  if (!encoded) return note_failure(work.class_name + "." + std::string(method.name), encoded.error().message);
  work.file.replace_code(index, std::move(*encoded));
  std::lock_guard lock(mutex_);
  matched_.insert(probes.begin(), probes.end());
}

void Probes::note_failure(std::string_view place, const std::string& reason) {
  std::lock_guard lock(mutex_);
  ++refused_count_;
  if (refused_.size() < kRefusalsKept) refused_.push_back(std::string(place) + ": " + reason);
}

void Probes::note_unseen(std::string_view class_name) {
  for (const UnseenScheduler& scheduler : unseen_schedulers()) {
    if (scheduler.class_name != class_name) continue;
    std::lock_guard lock(mutex_);
    if (!unseen_.insert(scheduler.name).second) return;
    agent_.recorder->add_fact("scheduler.unseen." + std::to_string(unseen_.size() - 1), std::string(scheduler.name));
  }
}

void Probes::report() {
  std::lock_guard lock(mutex_);
  agent_.recorder->add_fact("probe.refused", std::to_string(refused_count_));
  for (size_t i = 0; i < refused_.size(); ++i) {
    agent_.recorder->add_fact("probe.refused." + std::to_string(i), refused_[i]);
  }
  std::string missing;
  for (const Probe* probe : loaded_) {
    if (matched_.contains(probe)) continue;
    if (!missing.empty()) missing += ' ';
    missing.append(dotted(probe->class_name)).append(".").append(probe->method);
  }
  if (!missing.empty()) agent_.recorder->add_fact("probe.missing", missing);
}

}  // namespace contrafact::agent_jvm
