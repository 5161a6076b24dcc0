#include "symbols/resolve.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "model/processes.h"
#include "symbols/code_reader.h"
#include "symbols/demangle.h"
#include "symbols/module_map.h"

namespace contrafact::symbols {
namespace {

using model::ContextId;
using model::MethodId;
using model::StringId;

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

bool is_library_header(std::string_view file) {
  return file.find("/include/c++/") != std::string_view::npos || file.find("/bits/") != std::string_view::npos;
}

// The library whose headers' code is in the program's own file; empty: none that matters.
std::string_view library_of_header(std::string_view file) {
  const bool is_tbb =
      file.find("/oneapi/tbb/") != std::string_view::npos || file.find("/include/tbb/") != std::string_view::npos;
  return is_tbb ? "oneTBB" : "";
}

class Resolver {
 public:
  explicit Resolver(model::Trace& trace) : trace_(trace), modules_(trace), reader_(modules_) {
    for (const Module& module : modules_.modules()) {
      if (module.path.find(".so") == std::string::npos)
        executables_.try_emplace(model::space_of(module.begin), module.path);
    }
    for (uint32_t i = 0; i < trace.strings.size(); ++i) strings_.emplace(trace.strings[i], StringId(i));
  }

  void run() {
    find_wrappers();
    for (const format::MethodAddressRow& row : trace_.method_addresses) {
      if (row.method.valid()) name_method(row);
    }
    expand_contexts();
    for (format::LockRow& lock : trace_.locks) {
      if (lock.name.valid()) continue;
      if (const std::string name = reader_.variable(lock.address); !name.empty()) lock.name = intern(name);
    }
    trace_.method_addresses.clear();
    trace_.loss.notes.insert(trace_.loss.notes.end(), reader_.problems().begin(), reader_.problems().end());
  }

 private:
  struct Frame {
    MethodId method;
    uint32_t line;
  };

  StringId intern(const std::string& text) {
    const auto [found, added] = strings_.try_emplace(text, StringId(static_cast<uint32_t>(trace_.strings.size())));
    if (added) trace_.strings.push_back(text);
    return found->second;
  }

  format::MethodRow row_of(const CodeFrame& frame, bool runtime) {
    format::MethodRow row;
    if (runtime) row.class_name = intern(std::string(model::kNativeRuntime));
    row.name = intern(frame.function);
    if (!frame.file.empty()) row.file = intern(base_name(frame.file));
    return row;
  }

  // Facts `lock.wrapper.N`: places in functions that only lock.
  void find_wrappers() {
    std::set<uint64_t> places;
    std::erase_if(trace_.facts, [&](const model::Fact& fact) {
      uint64_t place = 0;
      if (!fact.key.starts_with("lock.wrapper.")) return false;
      std::from_chars(fact.value.data(), fact.value.data() + fact.value.size(), place, 16);
      places.insert(place);
      return true;
    });
    for (const format::MethodAddressRow& row : trace_.method_addresses) {
      if (row.method.valid() && !row.is_entry && places.contains(row.address)) wrappers_.insert(row.method.value);
    }
  }

  void name_method(const format::MethodAddressRow& address) {
    // A call's return address may be the first of the next line, or of the next function.
    const uint64_t at = address.is_entry ? address.address : address.address - 1;
    const uint32_t module = modules_.find(at);
    const bool in_runtime = module != UINT32_MAX && is_runtime(modules_.modules()[module].path);
    std::vector<CodeFrame> frames = reader_.frames(at);
    if (address.is_entry) {
      frames = {reader_.function(at)};
      const std::string body = thread_body_name(frames[0].function);
      if (body != frames[0].function) frames[0] = {body, "", 0};  // the library's file and line say nothing
    }
    // A lock guard's constructor and what it calls are nobody's code.
    const auto own = std::find_if(frames.begin(), frames.end(),
                                  [](const CodeFrame& frame) { return !is_library_header(frame.file); });
    const bool runtime = in_runtime || own == frames.end();
    if (own != frames.end()) frames.erase(frames.begin(), own);
    std::vector<Frame>& chain = chains_[address.method.value];
    const std::string library =
        module == UINT32_MAX ? "" : system_library(modules_.modules()[module].path, executable_at(at));
    for (size_t i = 0; i < frames.size(); ++i) {
      format::MethodRow row = row_of(frames[i], runtime);
      if (i == 0) {
        if (address.is_entry) row.line = frames[0].line;
        trace_.methods[address.method.index()] = row;
        chain.push_back({address.method, frames[0].line});
      } else {
        chain.push_back({other_method(row), frames[i].line});
      }
      set_path(chain.back().method, frames[i].file);
      const std::string_view header = library_of_header(frames[i].file);
      if (!library.empty() && !runtime) give_to(chain.back().method, library);
      if (library.empty() && !header.empty()) give_to(chain.back().method, std::string(header));
    }
  }

  // The path of the program of which the address is; empty if it is not known.
  std::string_view executable_at(uint64_t address) const {
    const auto found = executables_.find(model::space_of(address));
    return found == executables_.end() ? std::string_view() : found->second;
  }

  void set_path(MethodId method, const std::string& path) {
    std::vector<StringId>& paths = trace_.source_paths;
    if (paths.size() <= method.index()) paths.resize(method.index() + 1);
    if (!path.empty()) paths[method.index()] = intern(path);
  }

  void give_to(MethodId method, const std::string& library) {
    std::vector<uint32_t>& owners = trace_.owners.of_method;
    if (owners.size() <= method.index()) owners.resize(method.index() + 1, model::CodeOwners::kProgram);
    owners[method.index()] = trace_.owners.library(library);
  }

  MethodId other_method(const format::MethodRow& row) {
    const auto [found, added] = others_.try_emplace({row.class_name.value, row.name.value, row.file.value},
                                                    MethodId(static_cast<uint32_t>(trace_.methods.size())));
    if (added) trace_.methods.push_back(row);
    return found->second;
  }

  // Contexts keep their order, with the functions inlined around them inserted before them. A function that only locks
  // is replaced by its caller.
  void expand_contexts() {
    std::vector<uint32_t> moved(trace_.contexts.size());
    std::vector<format::ContextRow> contexts;
    bool renumbered = false;
    for (size_t i = 0; i < trace_.contexts.size(); ++i) {
      format::ContextRow row = trace_.contexts[i];
      if (row.parent.valid()) row.parent = ContextId(moved[row.parent.index()]);
      if (row.parent.valid() && row.method.valid() && wrappers_.contains(row.method.value)) {
        moved[i] = row.parent.value;
        renumbered = true;
        continue;
      }
      const auto chain = row.method.valid() ? chains_.find(row.method.value) : chains_.end();
      if (chain != chains_.end()) {
        for (size_t k = chain->second.size(); k-- > 1;) {
          contexts.push_back({row.parent, chain->second[k].method, chain->second[k].line});
          row.parent = ContextId(static_cast<uint32_t>(contexts.size() - 1));
        }
        row.line = chain->second[0].line;
      }
      moved[i] = static_cast<uint32_t>(contexts.size());
      renumbered |= moved[i] != i;
      contexts.push_back(row);
    }
    trace_.contexts = std::move(contexts);
    if (!renumbered) return;
    const auto move = [&](uint32_t& id) {
      if (id < moved.size()) id = moved[id];
    };
    for (size_t i = 0; i < trace_.kind.size(); ++i) {
      if (format::schema_of(trace_.kind[i]).operands[1] == format::Operand::context) move(trace_.b[i]);
    }
    for (model::TaskRow& task : trace_.tasks) {
      move(task.create_context.value);
      move(task.spawn_context.value);
    }
  }

  model::Trace& trace_;
  ModuleMap modules_;
  CodeReader reader_;
  std::map<uint32_t, std::string> executables_;  // the programs' paths, by space_of their addresses
  std::unordered_map<std::string, StringId> strings_;
  std::unordered_map<uint32_t, std::vector<Frame>> chains_;  // by method: innermost first, itself the first
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, MethodId> others_;
  std::set<uint32_t> wrappers_;  // methods
};

// Facts `thread.name.N`: the name that a thread gave itself is known only when the thread ends.
void name_threads(model::Trace& trace) {
  constexpr std::string_view kPrefix = "thread.name.";
  std::erase_if(trace.facts, [&](const model::Fact& fact) {
    if (!fact.key.starts_with(kPrefix)) return false;
    const std::string_view number = std::string_view(fact.key).substr(kPrefix.size());
    uint32_t thread = UINT32_MAX;
    std::from_chars(number.data(), number.data() + number.size(), thread);
    if (thread >= trace.threads.size()) return false;
    trace.strings.push_back(fact.value);
    trace.threads[thread].name = StringId(static_cast<uint32_t>(trace.strings.size() - 1));
    return true;
  });
}

}  // namespace

void resolve(model::Trace& trace) {
  if (trace.fact("agent") == "native") name_threads(trace);
  if (!trace.method_addresses.empty()) Resolver(trace).run();
}

}  // namespace contrafact::symbols
