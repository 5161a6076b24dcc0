#include "analysis/section_classes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "model/critical_sections.h"
#include "model/lock_waits.h"

namespace contrafact::analysis {
namespace {

// The one that holds a lock may be any of its callers that are not the JDK's, where none of them is known to ask for it.
constexpr size_t kHolding = 8;
constexpr int64_t kShare = 100;  // of the waiting: what has less is left out

std::string_view class_of(const model::Trace& trace, model::MethodId method) {
  return trace.string(trace.methods[method.index()].class_name);
}

bool is_of_jdk(const model::Trace& trace, model::MethodId method) {
  return trace.owner_name(method) == "JDK";
}

// Vector, Hashtable, ZipFile and the like take a monitor of their own for who calls them. What java.lang and the JDK's
// internals take, they take for themselves: the locks of class loading, of references, of threads.
bool may_be_chosen(std::string_view jdk_class) {
  return (jdk_class.starts_with("java.") && !jdk_class.starts_with("java.lang.")) || jdk_class.starts_with("javax.");
}

// The methods of so many frames that are not the JDK's, innermost first.
std::vector<model::MethodId> methods_of(const model::Trace& trace, model::ContextId context, size_t frames) {
  std::vector<model::MethodId> methods;
  for (; context.valid() && methods.size() < frames; context = trace.contexts[context.index()].parent) {
    const model::MethodId method = trace.contexts[context.index()].method;
    if (method.valid() && !is_of_jdk(trace, method)) methods.push_back(method);
  }
  return methods;
}

// Their classes, each once.
std::vector<std::string> classes_of(const model::Trace& trace, model::ContextId context, size_t frames) {
  std::vector<std::string> names;
  for (const model::MethodId method : methods_of(trace, context, frames)) {
    std::string name(class_of(trace, method));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

// Those of chosen classes, too, whose holders are such classes.
std::vector<model::LockWait> waits_for_locks(const model::Trace& trace) {
  std::vector<model::LockWait> waits = model::lock_waits(trace);
  for (const model::CriticalSection& section : model::critical_sections(trace)) {
    if (!section.contended()) continue;
    waits.push_back({.lock = section.lock,
                     .thread = section.thread,
                     .site = section.site,
                     .begin_ns = section.request_ns,
                     .end_ns = section.acquire_ns});
  }
  std::erase_if(waits, [&](const auto& wait) { return !model::is_held(trace.locks[wait.lock.index()].kind); });
  return waits;
}

// By the lock's name: the classes that ask for it.
using Asking = std::map<std::string_view, std::set<std::string>>;

std::string_view class_name_of(const model::Trace& trace, const model::LockWait& wait) {
  return trace.string(trace.locks[wait.lock.index()].name);
}

// The class that asks for the lock: of a monitor the innermost, which enters it; of other locks, which the JDK's classes
// implement, the innermost that is not the JDK's. Empty: not known.
std::string asking_class(const model::Trace& trace, const model::LockWait& wait) {
  const model::MethodId innermost = wait.site.valid() ? trace.contexts[wait.site.index()].method : model::MethodId();
  const bool enters = trace.locks[wait.lock.index()].kind == format::LockKind::monitor && innermost.valid();
  if (enters && is_of_jdk(trace, innermost) && may_be_chosen(class_of(trace, innermost)))
    return std::string(class_of(trace, innermost));
  std::vector<std::string> names = classes_of(trace, wait.site, 1);
  return names.empty() ? std::string() : std::move(names.front());
}

// Most likely the innermost that also asks for it. Else it is not known which of them took the lock.
std::vector<std::string> holding_classes(const model::Trace& trace, const model::LockWait& wait, const Asking& asking) {
  const auto asks = asking.find(class_name_of(trace, wait));
  for (model::ContextId at = wait.holder_at; at.valid() && asks != asking.end();
       at = trace.contexts[at.index()].parent) {
    const model::MethodId method = trace.contexts[at.index()].method;
    if (!method.valid()) continue;
    std::string name(class_of(trace, method));
    if (asks->second.contains(name)) return {std::move(name)};
  }
  return classes_of(trace, wait.holder_at, kHolding);
}

// Methods that only take a lock, and return while it is held: some caller of theirs was seen holding a lock of the same name
// while it was in another method. Then others of their class that take such a lock are taken for the same: nobody sees readers
// that hold one. No method returns while it holds a monitor.
class Wrappers {
 public:
  Wrappers(const model::Trace& trace, const std::vector<model::LockWait>& waits) : trace_(trace) {
    for (const model::LockWait& wait : waits) {
      const std::vector<model::MethodId> holder = methods_of(trace, wait.holder_at, SIZE_MAX);
      for (size_t i = 1; i < holder.size(); ++i) inside_[{class_name_of(trace, wait), holder[i]}].insert(holder[i - 1]);
    }
    for (const model::LockWait& wait : waits) {
      const std::vector<model::MethodId> asking = methods_of(trace, wait.site, 2);
      if (asking.size() < 2 || is_monitor(wait)) continue;
      const auto inside = inside_.find({class_name_of(trace, wait), asking[1]});
      if (inside == inside_.end()) continue;
      if (inside->second.size() > inside->second.count(asking[0]))
        wrappers_.emplace(class_name_of(trace, wait), class_of(trace, asking[0]));
    }
  }

  // The class in which the section goes on that such a method begins; empty where the method that asks is none.
  std::string class_behind(const model::LockWait& wait) const {
    const std::vector<model::MethodId> asking = methods_of(trace_, wait.site, 2);
    if (asking.size() < 2 || is_monitor(wait)) return {};
    if (!wrappers_.contains({class_name_of(trace_, wait), class_of(trace_, asking[0])})) return {};
    return std::string(class_of(trace_, asking[1]));
  }

 private:
  bool is_monitor(const model::LockWait& wait) const {
    return trace_.locks[wait.lock.index()].kind == format::LockKind::monitor;
  }

  const model::Trace& trace_;
  // By a lock's name and a method on the stack of one that held it: the methods that it was in.
  std::map<std::pair<std::string_view, model::MethodId>, std::set<model::MethodId>> inside_;
  std::set<std::pair<std::string_view, std::string_view>> wrappers_;  // by a lock's name and their class
};

}  // namespace

std::vector<SectionClass> section_classes(const model::Trace& trace) {
  std::vector<model::LockWait> waits = waits_for_locks(trace);
  Asking asking;
  int64_t sum_ns = 0;
  for (const model::LockWait& wait : waits) {
    if (std::string name = asking_class(trace, wait); !name.empty())
      asking[class_name_of(trace, wait)].insert(std::move(name));
    sum_ns += wait.wait_ns();
  }
  const Wrappers wrappers(trace, waits);
  std::map<std::string, int64_t> waits_ns;
  for (const model::LockWait& wait : waits) {
    std::set<std::string> names;
    if (std::string name = asking_class(trace, wait); !name.empty()) names.insert(std::move(name));
    for (std::string& name : holding_classes(trace, wait, asking)) names.insert(std::move(name));
    if (std::string name = wrappers.class_behind(wait); !name.empty()) names.insert(std::move(name));
    for (const std::string& name : names) waits_ns[name] += wait.wait_ns();
  }
  const auto has_share = [&](const std::string& name) { return waits_ns[name] >= sum_ns / kShare; };
  // A section that a chosen class begins is known only if all of its code is.
  std::set<std::string> behind;
  for (const model::LockWait& wait : waits) {
    const std::string name = wrappers.class_behind(wait);
    if (!name.empty() && has_share(asking_class(trace, wait))) behind.insert(name);
  }
  std::vector<SectionClass> out;
  for (const auto& [name, wait_ns] : waits_ns) {
    if (has_share(name) || behind.contains(name)) out.push_back({name, wait_ns});
  }
  std::ranges::stable_sort(out, std::greater(), &SectionClass::wait_ns);
  return out;
}

}  // namespace contrafact::analysis
