// The probes: which methods of which classes get which edit, on which JDKs. One file for each family (probes_*.cc),
// whose tables are joined in probes.cc.
//
// Probes::instrument may be called from several threads at once (classes load in parallel); it counts what it could not
// do.
#pragma once

#include <jvmti.h>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent_jvm/edits.h"
#include "agent_jvm/trace_config.h"
#include "base/result.h"
#include "format/event.h"

namespace contrafact::agent_jvm {

struct Agent;
class Endpoints;

// The context of a place in a method, by its position in the original code.
using PlaceOf = std::function<int32_t(uint32_t pc)>;

constexpr int kAnyJdk = 0;
constexpr int kNoJdkMax = 1000;

struct Probe {
  std::string_view class_name;  // internal
  std::string_view method;      // "name" or "prefix*"
  std::string_view descriptor;  // empty: every method of the name
  base::Status (*edit)(Edit&);
  int jdk_min = kAnyJdk;
  int jdk_max = kNoJdkMax;
};

struct AddedField {
  std::string_view class_name;
  std::string_view name;
  std::string_view descriptor;
  int jdk_min = kAnyJdk;
  bool for_subclasses = false;  // their code uses it, too
};

// A library whose tasks cannot be recorded: its name goes into the trace where one of its classes is loaded.
struct UnseenScheduler {
  std::string_view class_name;
  std::string_view name;
};

// A library that moves bytes over sockets by system calls of its own: they are not recorded, and its name goes into the
// trace where one of its classes is loaded.
struct UnseenTransport {
  std::string_view class_name;
  std::string_view name;
};

struct Family {
  std::string_view name;
  std::span<const Probe> probes;
  std::span<const AddedField> fields;
};

class Probes {
 public:
  explicit Probes(Agent& agent);

  // The class's new bytes, or nothing if it stays as it is.
  std::optional<std::vector<uint8_t>> instrument(std::string_view class_name, std::span<const uint8_t> bytes);

  // Facts of the trace: what could not be instrumented and why.
  void report();

 private:
  struct Targets {
    std::vector<const Probe*> probes;
    std::vector<const AddedField*> fields;
  };
  struct Work;

  static bool takes_or_gives(const Work& work);
  bool add_fields(Work& work);
  void edit_method(Work& work, size_t index);
  base::Status observe(Work& work, Edit& edit);
  format::MethodId method_row(const Work& work, const classfile::Member& method);
  // `row`: the method's, made with its first place.
  PlaceOf places_in(const Work& work, const classfile::Member& method, format::MethodId& row);
  base::Status record_sections(const Work& work, const classfile::Member& method, Edit& edit);
  void note_unseen(std::string_view class_name);
  // A method that would be too long, or cannot be edited so: what goes in may come out.
  void note_untracked();
  void note_chosen(std::string_view class_name);
  void note_endpoint(const EndpointRule& rule);
  // Of a method that takes or gives: why it cannot be a pool's, or nothing.
  base::Status tell_resource(const Work& work, Edit& edit, bool takes);
  void note_failure(std::string_view place, const std::string& reason);

  Agent& agent_;
  std::unordered_map<std::string_view, Targets> targets_;
  std::mutex mutex_;
  std::set<const Probe*> loaded_;   // its class was loaded
  std::set<const Probe*> matched_;  // and had the method
  std::vector<std::string> refused_;
  std::set<const EndpointRule*> endpoints_found_;  // a method was
  std::set<std::string> resources_found_;          // "PATTERN.METHOD", and of classes the methods that take
  uint32_t takings_ = 0;                           // such methods
  std::set<std::string_view> unseen_;              // schedulers
  std::set<std::string_view> unseen_transports_;
  uint64_t refused_count_ = 0;
  uint64_t untracked_count_ = 0;        // methods: what goes into them may come out
  uint64_t chosen_classes_ = 0;         // whose critical sections are recorded
  std::vector<std::string> unmatched_;  // patterns of such classes that no class matches yet
};

// Tells at the method's entry that a request begins to be handled, as the rule says. An overload that has no such arguments stays as it is.
base::Status tell_endpoint(Edit& edit, const EndpointRule& rule, std::string_view class_name, Endpoints& endpoints);

// The method takes an object from the pool that is its receiver, or gives one back, unless it is called by another method
// of that pool's that does. What is thrown, null or false is no taking. REQUIRES: not static, no constructor
base::Status take_from_receiver(Edit& edit);
base::Status give_to_receiver(Edit& edit);

// The families.
Family thread_pool_family();
Family future_task_family();
Family completable_future_family();
Family fork_join_family();
Family thread_family();
Family park_family();
Family semaphore_family();
Family resource_family();
Family queue_family();
Family socket_family();
Family endpoint_family();
Family completion_service_family();
Family lambda_family();
Family frameworks_family();
Family sets_family();  // only where sets are asked for
std::span<const UnseenScheduler> unseen_schedulers();
std::span<const UnseenTransport> unseen_transports();

// What a worker takes from a BlockingQueue; `pool` pushes its pool.
// Of a pool's constructor: the pool keeps where it is made.
base::Status note_maker(Edit& edit);
base::Status wrap_takes(Edit& edit, const Edit::Emit& pool);

// Function events of one method that the configuration chose.
base::Status add_function_events(Edit& edit, uint32_t method_id);
// For JDKs in which Thread.sleep(long) is native: its callers report it. Succeeds if there is no such call.
base::Status wrap_sleep_calls(Edit& edit);
// Records each acquisition and release of a monitor. A synchronized method does its locking by itself from then on: the
// caller hands code.access to the class. `is_observed`: with --sets, the method logs what it accesses.
base::Status record_monitors(Edit& edit, const PlaceOf& place_of, bool is_observed);
// Records calls that take, give, await or signal locks of java.util.concurrent, and Object's own.
base::Status wrap_lock_calls(Edit& edit, const PlaceOf& place_of, bool is_observed);
// Object.notify and notifyAll are final and native, so their callers report them. Succeeds if there is no such call.
base::Status tell_notifications(Edit& edit);

}  // namespace contrafact::agent_jvm
