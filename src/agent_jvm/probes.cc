#include "agent_jvm/probes.h"

#include <algorithm>
#include <utility>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/endpoints.h"
#include "agent_jvm/hand_overs.h"
#include "agent_jvm/lock_makers.h"
#include "agent_jvm/probes_sets.h"
#include "agent_jvm/sets.h"
#include "base/glob.h"

namespace contrafact::agent_jvm {
namespace {

constexpr int kJdkSleepInJava = 19;   // from then on Thread.sleep(long) has a body
constexpr size_t kRefusalsKept = 20;  // as facts; all are counted
constexpr size_t kPatternsNamed = 5;
constexpr std::string_view kNested = "$*";

bool name_matches(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : pattern == name;
}

bool contains(std::span<const uint8_t> bytes, std::string_view text) {
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()).find(text) !=
         std::string_view::npos;
}

// Those that `record` added for the nested classes of another pattern's are left out.
std::vector<std::string> without_nested(const std::vector<std::string>& patterns) {
  std::vector<std::string> out;
  std::ranges::copy_if(patterns, std::back_inserter(out), [&](const std::string& pattern) {
    if (!pattern.ends_with(kNested)) return true;
    const std::string outer = pattern.substr(0, pattern.size() - kNested.size());
    return std::ranges::find(patterns, outer) == patterns.end();
  });
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kPatternsNamed); ++i) out += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > kPatternsNamed) out += " and " + std::to_string(names.size() - kPatternsNamed) + " more";
  return out;
}

bool is_in(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string dotted(std::string_view internal_name) {
  std::string out(internal_name);
  std::replace(out.begin(), out.end(), '/', '.');
  return out;
}

}  // namespace

// Whether a method logs what it accesses.
enum class Observing : uint8_t { no, unobserved /*it says only that it is not*/, yes };

struct Probes::Work {
  classfile::ClassFile& file;
  std::string class_name;  // with dots
  const Targets* targets;
  bool methods;                  // function events may be wanted
  bool sleep_calls;              // calls of Thread.sleep are to be wrapped
  bool notifies;                 // calls of Object.notify or notifyAll, too
  bool sections;                 // a chosen class: its critical sections are recorded
  Observing observing;           // what its methods access may be wanted
  bool tracked;                  // where it goes to as well
  const ResourceRule* resource;  // the class is a pool of the configuration's
  std::optional<HandOvers> hand_overs;
  std::vector<classfile::SecondBody> second_bodies;  // not yet in the class
};

// Whether a method of the class is one of the configuration's that takes or gives, so that its objects may be pools.
bool Probes::takes_or_gives(const Work& work) {
  return work.resource && !(work.file.access() & classfile::kAccInterface) &&
         std::ranges::any_of(work.file.methods(), [&](const classfile::Member& method) {
           return method.has_code() && !method.has(classfile::kAccStatic) &&
                  (is_in(work.resource->takes, method.name) || is_in(work.resource->gives, method.name));
         });
}

Probes::Probes(Agent& agent) : agent_(agent), unmatched_(without_nested(agent.options.classes)) {
  for (const Family& family :
       {thread_pool_family(), future_task_family(), completable_future_family(), fork_join_family(), thread_family(),
        park_family(), semaphore_family(), resource_family(), queue_family(), socket_family(), endpoint_family(),
        completion_service_family(), lambda_family(), frameworks_family(), agent.sets ? sets_family() : Family()}) {
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
  const bool sections = agent_.classes.chooses_class(dotted_class);
  const bool observed = agent_.sets && (sections || may_be_observed(class_name));
  note_unseen(class_name);
  const bool endpoints = agent_.config.may_have_endpoint(dotted_class);
  const ResourceRule* resource = agent_.config.resource(dotted_class);
  if (!targets && !methods && !endpoints && !resource && !sleep_calls && !notifies && !hand_overs && !sections &&
      !agent_.sets)
    return std::nullopt;

  auto file = classfile::ClassFile::parse(bytes);
  if (!file) {
    note_failure(dotted_class, file.error().message);
    return std::nullopt;
  }
  if (agent_.sets) agent_.sets->fields().note(*file);
  Work work{*file,
            dotted_class,
            targets,
            methods,
            sleep_calls,
            notifies,
            sections,
            observed ? Observing::yes : Observing::no,
            observed && agent_.flow,
            resource,
            {},
            {}};
  if (hand_overs) work.hand_overs.emplace(*file);
  if (sections) note_chosen(dotted_class);
  if (!add_fields(work)) return std::nullopt;  // the probes rely on them
  if (targets) {
    std::lock_guard lock(mutex_);
    loaded_.insert(targets->probes.begin(), targets->probes.end());
  }
  const size_t method_count = file->methods().size();
  for (size_t i = 0; i < method_count; ++i) {
    if (file->methods()[i].has_code()) edit_method(work, i);
  }
  for (const classfile::SecondBody& body : work.second_bodies) {
    if (base::Status status = file->add_method(body.access, body.name, body.descriptor, body.code); !status) {
      note_failure(dotted_class, status.error().message);
      return std::nullopt;
    }
  }
  if (!file->edited()) return std::nullopt;
  return file->write();
}

// Private in classes that are not the JDK's, where nothing else is needed: then the number by which a class knows its
// serialised objects stays.
bool Probes::add_fields(Work& work) {
  const bool of_jdk = work.class_name.starts_with("java.");
  std::vector<const AddedField*> fields = work.targets ? work.targets->fields : std::vector<const AddedField*>();
  static constexpr AddedField kPool{{}, "contrafactPool", "I"};
  const bool has_pool =
      std::any_of(fields.begin(), fields.end(), [](const AddedField* f) { return f->name == kPool.name; });
  static constexpr AddedField kMade{{}, "contrafactMade", "I"};
  const bool is_executor = work.hand_overs && work.hand_overs->needs_pool_field();
  if (takes_or_gives(work) && (is_executor || has_pool)) {
    note_failure(work.class_name, "no resource by configuration: it is known as an executor or a pool");
    work.resource = nullptr;
  }
  if (is_executor && !has_pool) fields.push_back(&kPool);
  if (takes_or_gives(work)) fields.insert(fields.end(), {&kPool, &kMade});
  for (const AddedField* field : fields) {
    const uint16_t access = (of_jdk || field->for_subclasses ? classfile::kAccPublic : classfile::kAccPrivate) |
                            classfile::kAccTransient | classfile::kAccSynthetic;
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
  const EndpointRule* endpoint = agent_.config.endpoint(work.class_name, method.name);
  const bool takes = work.resource && is_in(work.resource->takes, method.name);
  const bool gives = work.resource && is_in(work.resource->gives, method.name);
  const bool is_made = work.resource && method.name == "<init>";
  const bool hands_over = probes.empty() && work.hand_overs && work.hand_overs->concerns(method);
  const bool observed = work.observing != Observing::no;
  if (probes.empty() && !function_events && !work.sleep_calls && !work.notifies && !work.sections && !hands_over &&
      !observed && !endpoint && !takes && !gives && !is_made)
    return;

  auto code = classfile::Code::parse(work.file, method);
  if (!code) return note_failure(work.class_name + "." + std::string(method.name), code.error().message);
  Edit edit(work.file, method, *code, agent_.jdk);
  const bool tracked = work.tracked && work.observing == Observing::yes && method.name != "<clinit>";
  base::Status status;
  if (tracked && (work.sections || is_observed_in_place(edit))) {
    status = track_in_place(edit, agent_.sets->fields(), work.sections);
  }
  for (const Probe* probe : probes) {
    if (status) status = probe->edit(edit);
  }
  const size_t nodes_before = code->nodes.size();
  if (status && endpoint) {
    status = tell_endpoint(edit, *endpoint, work.class_name, *agent_.endpoints);
    note_endpoint(*endpoint);
  }
  if (status && is_made && takes_or_gives(work)) status = note_maker(edit);
  if (status && (takes || gives)) status = tell_resource(work, edit, takes);
  if (status && hands_over) status = work.hand_overs->edit(edit);
  if (status && work.observing == Observing::yes && work.sections && !method.name.starts_with('<')) {
    // Outside of what blocks.
    format::MethodId row;
    status = tell_parts(edit, places_in(work, method, row));
  }
  if (status && work.sleep_calls) status = wrap_sleep_calls(edit);
  if (status && work.notifies) status = tell_notifications(edit);
  if (status && work.sections) status = record_sections(work, method, edit);
  if (status && probes.empty() && !function_events && !observed && code->nodes.size() == nodes_before)
    return;  // nothing to do here
  if (status && function_events) status = add_function_events(edit, method_row(work, method).value);
  const size_t second_bodies = work.second_bodies.size();
  if (status && observed) status = observe(work, edit);
  auto encoded = status ? code->encode(work.file.pool()) : status.error();
  if (tracked && (!encoded || classfile::becomes_huge(method.code, *encoded))) {
    note_untracked();
    work.second_bodies.resize(second_bodies);
    work.tracked = false;
    edit_method(work, index);
    work.tracked = true;
    return;
  }
  // A method that can only just be compiled is not compiled any more: otherwise it would seem to access nothing.
  const bool must_tell = work.observing == Observing::unobserved && !work.sections;
  if (observed && (!encoded || (classfile::becomes_huge(method.code, *encoded) && !must_tell))) {
    if (work.observing == Observing::yes)
      note_failure(work.class_name + "." + std::string(method.name),
                   "what it accesses is not seen: " +
                       (encoded ? "it would be too long for the JVM to compile" : encoded.error().message));
    work.second_bodies.resize(second_bodies);
    const Observing before =
        std::exchange(work.observing, work.observing == Observing::yes ? Observing::unobserved : Observing::no);
    edit_method(work, index);
    work.observing = before;
    return;
  }
  if (work.sections && (!encoded || classfile::becomes_huge(method.code, *encoded))) {
    note_failure(work.class_name + "." + std::string(method.name),
                 "its critical sections are not recorded: " +
                     (encoded ? "it would be too long for the JVM to compile" : encoded.error().message));
    work.sections = false;
    edit_method(work, index);
    work.sections = true;
    return;
  }
  if (!encoded) return note_failure(work.class_name + "." + std::string(method.name), encoded.error().message);
  work.file.replace_code(index, std::move(*encoded));
  if (code->access != method.access) work.file.set_method_access(index, code->access);
  std::lock_guard lock(mutex_);
  matched_.insert(probes.begin(), probes.end());
}

format::MethodId Probes::method_row(const Work& work, const classfile::Member& method) {
  format::MethodRow row;
  row.class_name = agent_.recorder->intern(work.class_name);
  row.name = agent_.recorder->intern(method.name);
  if (!work.file.source_file().empty()) row.file = agent_.recorder->intern(work.file.source_file());
  row.line = work.file.line_of(method, 0).value_or(0);
  return agent_.recorder->add_method(row);
}

PlaceOf Probes::places_in(const Work& work, const classfile::Member& method, format::MethodId& row) {
  return [&](uint32_t pc) {
    if (!row.valid()) row = method_row(work, method);
    const uint32_t line = work.file.line_of(method, pc).value_or(0);
    return static_cast<int32_t>(agent_.recorder->intern_context({}, row, line).value);
  };
}

base::Status Probes::record_sections(const Work& work, const classfile::Member& method, Edit& edit) {
  format::MethodId row;
  const PlaceOf place_of = places_in(work, method, row);
  agent_.lock_makers->note(work.file, edit.code, place_of);
  const bool is_observed = !agent_.sets || (work.observing == Observing::yes && method.name != "<clinit>");
  base::Status status = wrap_lock_calls(edit, place_of, is_observed);
  return status ? record_monitors(edit, place_of, is_observed) : status;
}

base::Status Probes::observe(Work& work, Edit& edit) {
  if (edit.method.name == "<clinit>") return pause_observation(edit);
  if (work.observing == Observing::unobserved) return tell_of_unobserved(edit);
  FieldNumbers& fields = agent_.sets->fields();
  if (!work.sections && !edit.method.is_constructor()) {
    auto body = observe_apart(edit, fields, work.tracked);
    if (!body) return body.error();
    if (*body) work.second_bodies.push_back(*std::move(*body));
    return {};
  }
  if (base::Status status = observe_in_place(edit, fields, work.tracked); !status || !work.sections) return status;
  if (base::Status status = follow_section_to_caller(edit); !status) return status;
  return return_observed(edit);  // behind the call of another constructor at once
}

void Probes::note_chosen(std::string_view class_name) {
  std::lock_guard lock(mutex_);
  ++chosen_classes_;
  std::erase_if(unmatched_, [&](const std::string& pattern) {
    return base::matches_glob(pattern, class_name) || base::matches_glob(pattern + std::string(kNested), class_name);
  });
}

void Probes::note_endpoint(const EndpointRule& rule) {
  std::lock_guard lock(mutex_);
  endpoints_found_.insert(&rule);
}

base::Status Probes::tell_resource(const Work& work, Edit& edit, bool takes) {
  if (work.file.access() & classfile::kAccInterface)
    return base::Error{"an interface cannot be a resource: name the classes that implement it"};
  if (edit.is_static()) return base::Error{"a static method has no object that is the resource"};
  base::Status status = takes ? take_from_receiver(edit) : give_to_receiver(edit);
  if (!status) return status;
  const std::string method = work.class_name + "." + std::string(edit.method.name);
  std::lock_guard lock(mutex_);
  resources_found_.insert(work.resource->pattern + "." + std::string(edit.method.name));
  // model/library_calls.cc knows by these what a block inside of them was for.
  if (takes && resources_found_.insert("taking " + method).second)
    agent_.recorder->add_fact("resource.taking." + std::to_string(takings_++), method);
  return status;
}

void Probes::note_failure(std::string_view place, const std::string& reason) {
  std::lock_guard lock(mutex_);
  ++refused_count_;
  if (refused_.size() < kRefusalsKept) refused_.push_back(std::string(place) + ": " + reason);
}

void Probes::note_untracked() {
  std::lock_guard lock(mutex_);
  ++untracked_count_;
}

void Probes::note_unseen(std::string_view class_name) {
  for (const UnseenScheduler& scheduler : unseen_schedulers()) {
    if (scheduler.class_name != class_name) continue;
    std::lock_guard lock(mutex_);
    if (!unseen_.insert(scheduler.name).second) return;
    agent_.recorder->add_fact("scheduler.unseen." + std::to_string(unseen_.size() - 1), std::string(scheduler.name));
  }
  for (const UnseenTransport& transport : unseen_transports()) {
    if (transport.class_name != class_name) continue;
    std::lock_guard lock(mutex_);
    if (!unseen_transports_.insert(transport.name).second) return;
    agent_.recorder->add_fact("transport.unseen." + std::to_string(unseen_transports_.size() - 1),
                              std::string(transport.name));
  }
}

void Probes::report() {
  std::lock_guard lock(mutex_);
  agent_.recorder->add_fact("probe.refused", std::to_string(refused_count_));
  if (untracked_count_ > 0) agent_.recorder->add_fact("flow.methods.untracked", std::to_string(untracked_count_));
  if (!agent_.classes.empty()) agent_.recorder->add_fact("classes.chosen", std::to_string(chosen_classes_));
  std::vector<std::string> endpoints_unmatched;
  for (const EndpointRule& rule : agent_.config.endpoints()) {
    if (!endpoints_found_.contains(&rule)) endpoints_unmatched.push_back(rule.pattern);
  }
  if (!endpoints_unmatched.empty()) agent_.recorder->add_fact("endpoints.unmatched", listed(endpoints_unmatched));
  std::vector<std::string> resources_unmatched;
  for (const ResourceRule& rule : agent_.config.resources()) {
    for (const auto* methods : {&rule.takes, &rule.gives}) {
      for (const std::string& method : *methods) {
        if (const std::string name = rule.pattern + "." + method; !resources_found_.contains(name))
          resources_unmatched.push_back(name);
      }
    }
  }
  if (!resources_unmatched.empty()) agent_.recorder->add_fact("resources.unmatched", listed(resources_unmatched));
  agent_.endpoints->report();
  if (!unmatched_.empty()) agent_.recorder->add_fact("classes.unmatched", listed(unmatched_));
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
