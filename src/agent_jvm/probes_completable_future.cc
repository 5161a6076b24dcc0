// CompletableFuture: its asynchronous suppliers, every kind of dependent stage, its completion, and the threads that
// wait for it.
//
// A stage's function is called either by its Completion's tryFire (or by a method of the stage that tryFire calls), or
// at once, where the source is complete, by uni...Now and the compose stages. Each of those calls is wrapped in place.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kFuture = "java/util/concurrent/CompletableFuture";
constexpr std::string_view kFutureType = "Ljava/util/concurrent/CompletableFuture;";
constexpr std::string_view kStageEnd = "(Ljava/lang/Throwable;JLjava/lang/Object;)V";

#define STAGE_CLASS(name) "java/util/concurrent/CompletableFuture$" name

bool is_function_call(const CallSite& site) {
  const bool function = site.owner == "java/util/function/Function" || site.owner == "java/util/function/BiFunction" ||
                        site.owner == "java/util/function/Consumer" || site.owner == "java/util/function/BiConsumer" ||
                        site.owner == "java/util/function/Supplier" || site.owner == "java/lang/Runnable";
  return function && (site.name == "apply" || site.name == "accept" || site.name == "get" || site.name == "run");
}

enum class Result {
  completes,  // the function's result is the stage's
  left_open,  // it returns another future
  as_given,   // whenComplete: the outcome is that of the source, the function's second argument
};

// Wraps the calls of functions; `stage` is the local variable that holds the stage, which is passed to `start`.
base::Status wrap_body(Edit& edit, uint32_t stage, Result result, std::string_view start = "stageStart") {
  const uint32_t token = edit.token();
  return edit.wrap(is_function_call, [&, token](const CallOperands& operands, Sequence& before, Sequence& after,
                                                Sequence& exception) {
    before.aload(stage).invokestatic(kStagesClass, start, "(Ljava/lang/Object;)J").lstore(token);
    if (result == Result::as_given)
      after.aload(operands.arguments[1]);
    else
      after.aconst_null();
    after.lload(token).aload(stage);
    after.invokestatic(kStagesClass, result == Result::left_open ? "stageLeft" : "stageEnd", kStageEnd);
    exception.dup().lload(token).aload(stage).invokestatic(kStagesClass, "stageEnd", kStageEnd);
  });
}

// tryFire, AsyncSupply.run: the stage is the field `dep`, which the method clears.
template <Result kResult>
base::Status body_of_dep(Edit& edit) {
  const uint32_t stage = edit.object();
  base::Status status = wrap_body(edit, stage, kResult);
  if (!status) return status;
  const std::string_view owner = edit.code.class_name;
  return edit.finish([&](Sequence& s) { s.aload(0).getfield(owner, "dep", kFutureType).astore(stage); });
}

// uniHandle and others: the stage is `this`.
template <Result kResult>
base::Status body_of_this(Edit& edit) {
  const uint32_t stage = edit.object();
  base::Status status = wrap_body(edit, stage, kResult);
  return status ? edit.finish([&](Sequence& s) { s.aload(0).astore(stage); }) : status;
}

struct Creation {
  bool two_sources = false;
  int mode = static_cast<int>(format::DependsMode::all);
  bool runs_now = false;  // the function may be called here
  Result result = Result::completes;
};

// A method that makes a stage by newIncompleteFuture() and returns it; the function is its last parameter.
base::Status create(Edit& edit, const Creation& creation) {
  const uint32_t stage = edit.object(), other = edit.object(), function = edit.last_parameter_slot();
  base::Status status =
      edit.wrap(calls("newIncompleteFuture"), [&](const CallOperands&, Sequence&, Sequence& after, Sequence&) {
        after.dup().astore(stage).aload(stage).aload(0).aload(other).aload(function).iconst(creation.mode);
        after.invokestatic(kStagesClass, "created",
                           "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;I)V");
      });
  if (status && creation.two_sources) {
    status = edit.wrap(calls("toCompletableFuture"),
                       [&](const CallOperands&, Sequence&, Sequence& after, Sequence&) { after.dup().astore(other); });
  }
  if (status && creation.runs_now) status = wrap_body(edit, stage, creation.result, "stageStartNow");
  if (!status) return status;
  return edit.finish({}, [](Sequence& s) { s.dup().invokestatic(kStagesClass, "returned", "(Ljava/lang/Object;)V"); });
}

base::Status uni_stage(Edit& edit) {
  return create(edit, {});
}
base::Status now(Edit& edit) {
  return create(edit, {.runs_now = true});
}
base::Status compose_stage(Edit& edit) {
  return create(edit, {.runs_now = true, .result = Result::left_open});
}
base::Status bi_stage(Edit& edit) {
  return create(edit, {.two_sources = true});
}
base::Status or_stage(Edit& edit) {
  return create(edit, {.two_sources = true, .mode = static_cast<int>(format::DependsMode::any)});
}

// A copy of its source, the static method's only argument.
base::Status copy_stage(Edit& edit) {
  base::Status status =
      edit.wrap(calls("newIncompleteFuture"), [](const CallOperands&, Sequence&, Sequence& after, Sequence&) {
        after.dup().aload(0).aconst_null().aconst_null().iconst(0).invokestatic(
            kStagesClass, "created", "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;I)V");
      });
  return status ? edit.pass_result(kStagesClass, "returned") : status;
}

template <format::DependsMode kMode>
base::Status combine(Edit& edit) {
  return edit.at_exit([](Sequence& s) {
    s.dup()
        .aload(0)
        .iconst(static_cast<int>(kMode))
        .invokestatic(kStagesClass, "combined", "(Ljava/lang/Object;[Ljava/lang/Object;I)V");
  });
}

base::Status inner_node(Edit& edit) {
  return edit.pass_result(kStagesClass, "inner");
}

// Constructors: the Completion gets its stage's id. kSlot is the parameter that is the stage.
template <int kSlot>
base::Status adopt(Edit& edit) {
  return edit.at_exit([](Sequence& s) {
    s.aload(0).aload(kSlot).invokestatic(kStagesClass, "adopt", "(Ljava/lang/Object;Ljava/lang/Object;)V");
  });
}

base::Status hand_out(Edit& edit) {
  return edit.wrap(calls("execute"), [](const CallOperands& operands, Sequence& before, Sequence&, Sequence&) {
    before.aload(operands.receiver)
        .aload(operands.arguments[0])
        .invokestatic(kStagesClass, "handing", "(Ljava/util/concurrent/Executor;Ljava/lang/Object;)V");
  });
}

template <int kOutcome>
base::Status complete(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    s.aload(0).iconst(kOutcome).invokestatic(kStagesClass, "completing",
                                             "(Ljava/util/concurrent/CompletableFuture;I)V");
  });
}

base::Status relay(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    s.aload(0).aload(1).invokestatic(kStagesClass, "relaying",
                                     "(Ljava/util/concurrent/CompletableFuture;Ljava/lang/Object;)V");
  });
}

base::Status wait(Edit& edit) {
  return edit.bracket({kProbesClass, "waitBegin", "(Ljava/lang/Object;)J", [](Sequence& s) { s.aload(0); }, "waitEnd",
                       Edit::Bracket::receiver});
}

constexpr int kNormal = static_cast<int>(format::Outcome::normal);
constexpr int kException = static_cast<int>(format::Outcome::exception);

constexpr Probe kProbes[] = {
    {STAGE_CLASS("AsyncSupply"), "<init>", "", adopt<1>},
    {STAGE_CLASS("AsyncRun"), "<init>", "", adopt<1>},
    {STAGE_CLASS("UniCompletion"), "<init>", "", adopt<2>},
    {STAGE_CLASS("AsyncSupply"), "run", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("AsyncRun"), "run", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("UniApply"), "tryFire", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("UniAccept"), "tryFire", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("UniRun"), "tryFire", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("OrApply"), "tryFire", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("OrAccept"), "tryFire", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("OrRun"), "tryFire", "", body_of_dep<Result::completes>},
    {STAGE_CLASS("UniCompose"), "tryFire", "", body_of_dep<Result::left_open>},
    {STAGE_CLASS("UniComposeExceptionally"), "tryFire", "", body_of_dep<Result::left_open>},
    {kFuture, "uniWhenComplete", "", body_of_this<Result::as_given>},
    {kFuture, "uniHandle", "", body_of_this<Result::completes>},
    {kFuture, "uniExceptionally", "", body_of_this<Result::completes>},
    {kFuture, "biApply", "", body_of_this<Result::completes>},
    {kFuture, "biAccept", "", body_of_this<Result::completes>},
    {kFuture, "biRun", "", body_of_this<Result::completes>},
    {kFuture, "uniApplyNow", "", now},
    {kFuture, "uniAcceptNow", "", now},
    {kFuture, "uniRunNow", "", now},
    {kFuture, "uniApplyStage", "", uni_stage},
    {kFuture, "uniAcceptStage", "", uni_stage},
    {kFuture, "uniRunStage", "", uni_stage},
    {kFuture, "uniWhenCompleteStage", "", uni_stage},
    {kFuture, "uniHandleStage", "", uni_stage},
    {kFuture, "uniExceptionallyStage", "", uni_stage},
    {kFuture, "uniComposeStage", "", compose_stage},
    {kFuture, "uniComposeExceptionallyStage", "", compose_stage},
    {kFuture, "biApplyStage", "", bi_stage},
    {kFuture, "biAcceptStage", "", bi_stage},
    {kFuture, "biRunStage", "", bi_stage},
    {kFuture, "orApplyStage", "", or_stage},
    {kFuture, "orAcceptStage", "", or_stage},
    {kFuture, "orRunStage", "", or_stage},
    {kFuture, "uniCopyStage", "", copy_stage},
    {kFuture, "andTree", "", inner_node},
    {kFuture, "allOf", "", combine<format::DependsMode::all>},
    {kFuture, "anyOf", "", combine<format::DependsMode::any>},
    {kFuture, "asyncSupplyStage", "", hand_out},
    {kFuture, "asyncRunStage", "", hand_out},
    {kFuture, "completeNull", "", complete<kNormal>},
    {kFuture, "completeValue", "", complete<kNormal>},
    {kFuture, "completeThrowable", "", complete<kException>},
    {kFuture, "internalComplete", "", relay},
    {kFuture, "completeRelay", "", relay},
    {kFuture, "get", "", wait},
    {kFuture, "join", "", wait},
};
constexpr AddedField kFields[] = {{kFuture, "contrafactTask", "I"}};

}  // namespace

Family completable_future_family() {
  return {"completable_future", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
