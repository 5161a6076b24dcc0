#include "whatif/combinator_expression.h"

#include <fmt/format.h>

#include "base/check.h"
#include "model/task_walk.h"

namespace contrafact::whatif {
namespace {

using model::EventKind;
using model::TaskId;
using model::Trace;
using Part = CombinatorStage::Part;

void add(std::vector<Part>& parts, model::ContextId at, model::MethodId body) {
  if (!parts.empty() && parts.back().at == at && parts.back().body == body) {
    ++parts.back().count;
  } else {
    parts.push_back({at, body});
  }
}

// "Item::load" as a method reference; a lambda by its place.
std::string reference(const Trace& trace, const Part& part) {
  if (!part.body.valid()) return "<future of " + trace.context_label(part.at) + ">";
  const format::MethodRow& method = trace.methods[part.body.index()];
  std::string_view name = trace.string(method.name), type = trace.string(method.class_name);
  if (name.starts_with("lambda$")) return fmt::format("<lambda at {}:{}>", trace.string(method.file), method.line);
  type.remove_prefix(type.rfind('.') + 1);
  return fmt::format("{}::{}", type, name);
}

// f1, f2, ...: the futures of a stage; a loop's are one list.
struct Futures {
  std::string declarations;
  std::vector<std::string> names;
  bool list = false;
};

Futures declare(const Trace& trace, const CombinatorStage& stage, size_t& next) {
  Futures futures;
  for (const Part& part : stage.spawned) {
    std::string name = fmt::format("f{}", ++next);
    futures.declarations += fmt::format("{}{} = {}({}); ", name, part.count > 1 ? "s" : "",
                                        part.count > 1 ? "each supplyAsync" : "supplyAsync", reference(trace, part));
    futures.names.push_back(part.count > 1 ? name + "s" : name);
    futures.list = futures.list || part.count > 1;
  }
  return futures;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

std::vector<CombinatorStage> combinator_stages(const Trace& trace, TaskId task) {
  const model::TaskRow& row = trace.tasks[task.index()];
  CHECK(row.start.valid() && row.end.valid());
  std::vector<CombinatorStage> stages;
  model::TaskWalk walk(trace, model::EventRange{row.start.value, row.end.value});
  walk.next();
  while (walk.next()) {
    if (walk.task() != task) continue;
    if (walk.kind() == EventKind::task_spawn) {
      // A spawn after a wait depends on what was waited for: a stage of its own.
      if (stages.empty() || !stages.back().awaited.empty()) stages.emplace_back();
      add(stages.back().spawned, model::ContextId(walk.b()), trace.tasks[walk.a()].body);
    } else if (walk.kind() == EventKind::wait_begin) {
      if (stages.empty()) stages.emplace_back();
      TaskId awaited(walk.a());
      add(stages.back().awaited, model::ContextId(walk.b()),
          awaited.valid() ? trace.tasks[awaited.index()].body : model::MethodId::none());
    }
  }
  return stages;
}

std::string combinator_expression(const Trace& trace, const std::vector<CombinatorStage>& stages) {
  std::string out;
  std::string closing;
  size_t next = 0;
  for (const CombinatorStage& stage : stages) {
    Futures futures = declare(trace, stage, next);
    out += futures.declarations;
    bool last = &stage == &stages.back();
    if (stage.awaited.empty()) continue;  // spawned and left alone
    std::string where = trace.context_label(stage.awaited.back().at);
    std::string rest = fmt::format("<what follows {}>", where);
    std::string results = "results -> ";
    if (futures.names.empty()) futures.names.push_back("<future awaited at " + where + ">");
    if (futures.list || futures.names.size() > 2) {
      out += fmt::format("allOf({})", joined(futures.names));
    } else if (futures.names.size() == 2) {
      out += fmt::format("{}.thenCombine({}, (a, b) -> <both>)", futures.names[0], futures.names[1]);
    } else {
      out += futures.names[0];
    }
    if (last) {
      out += fmt::format(".thenApply({}{})", results, rest);
    } else {
      out += fmt::format(".thenCompose({}{{ ", results);
      closing += " })";
    }
  }
  return out + closing;
}

}  // namespace contrafact::whatif
