// Semaphores: which thread takes and gives how many permits. Waiting for them is blocking like any other
// (probes_park.cc).
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kSemaphore = "java/util/concurrent/Semaphore";

void asks(Sequence& s) {
  s.aload(0).invokestatic(kSemaphoresClass, "asking", "(Ljava/util/concurrent/Semaphore;)V");
}

// How many: the method's first parameter, or one.
void push_count(Edit& edit, Sequence& s, bool is_given) {
  if (is_given)
    s.iload(edit.parameter_slot(0));
  else
    s.iconst(1);
}

template <bool kCount>
base::Status acquire(Edit& edit) {
  return edit.finish(asks, [&](Sequence& s) {
    push_count(edit, s, kCount);
    s.aload(0).invokestatic(kSemaphoresClass, "taken", "(ILjava/util/concurrent/Semaphore;)V");
  });
}

template <bool kCount>
base::Status try_acquire(Edit& edit) {
  return edit.finish(asks, [&](Sequence& s) {
    s.dup();
    push_count(edit, s, kCount);
    s.aload(0).invokestatic(kSemaphoresClass, "tried", "(ZILjava/util/concurrent/Semaphore;)V");
  });
}

base::Status drain(Edit& edit) {
  return edit.finish(asks, [](Sequence& s) {
    s.dup().aload(0).invokestatic(kSemaphoresClass, "taken", "(ILjava/util/concurrent/Semaphore;)V");
  });
}

template <bool kCount>
base::Status release(Edit& edit) {
  return edit.at_entry([&](Sequence& s) {
    asks(s);
    s.aload(0);
    push_count(edit, s, kCount);
    s.invokestatic(kSemaphoresClass, "given", "(Ljava/util/concurrent/Semaphore;I)V");
  });
}

constexpr Probe kProbes[] = {
    {kSemaphore, "acquire", "()V", acquire<false>},
    {kSemaphore, "acquire", "(I)V", acquire<true>},
    {kSemaphore, "acquireUninterruptibly", "()V", acquire<false>},
    {kSemaphore, "acquireUninterruptibly", "(I)V", acquire<true>},
    {kSemaphore, "tryAcquire", "()Z", try_acquire<false>},
    {kSemaphore, "tryAcquire", "(JLjava/util/concurrent/TimeUnit;)Z", try_acquire<false>},
    {kSemaphore, "tryAcquire", "(I)Z", try_acquire<true>},
    {kSemaphore, "tryAcquire", "(IJLjava/util/concurrent/TimeUnit;)Z", try_acquire<true>},
    {kSemaphore, "drainPermits", "()I", drain},
    {kSemaphore, "release", "()V", release<false>},
    {kSemaphore, "release", "(I)V", release<true>},
};
constexpr AddedField kFields[] = {{kSemaphore, "contrafactPool", "I"}};

}  // namespace

Family semaphore_family() {
  return {"semaphore", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
