#include "agent_native/signal_handlers.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include <atomic>

#include "agent_native/real.h"
#include "agent_native/recording.h"
#include "agent_native/sets.h"
#include "translate/raw_system_call.h"
#include "translate/translator.h"

namespace contrafact::agent_native {
namespace {

constexpr int kSignals = 65;
constexpr int kCancellation = 32;  // SIGCANCEL of the C library

using Handler = void (*)(int, siginfo_t*, void*);
using SimpleHandler = void (*)(int);
const SimpleHandler kHold = reinterpret_cast<SimpleHandler>(2);  // SIG_HOLD: of sigset(), which blocks the signal

// The C library, too, keeps both in one place.
SimpleHandler simple(Handler handler) {
  struct sigaction action;
  action.sa_sigaction = handler;
  return action.sa_handler;
}
Handler with_context(SimpleHandler handler) {
  struct sigaction action;
  action.sa_handler = handler;
  return action.sa_sigaction;
}

// As the kernel knows it; the C library's differs.
struct KernelAction {
  Handler handler;
  uint64_t flags;
  void (*restorer)();
  uint64_t mask;
};

std::atomic<translate::Translator*> g_translator{nullptr};
std::atomic<Handler> g_handlers[kSignals];

// A handler of one argument does not mind three. The kernel hands over the context whether SA_SIGINFO asks for it or
// not, so the program's flags stay what they are.
void on_signal(int number, siginfo_t* info, void* context) {
  if (!g_translator.load(std::memory_order_relaxed)->fix_context(static_cast<ucontext_t*>(context))) sets_interrupted();
  if (const Handler handler = g_handlers[number].load(std::memory_order_acquire)) handler(number, info, context);
}

bool is_function(const struct sigaction& action) {
  return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN && action.sa_handler != SIG_ERR;
}

bool is_ours(const struct sigaction& action) {
  return action.sa_sigaction == on_signal;
}

// Handlers may be wrapped, of this process or of the one that it was forked from.
bool may_be_wrapped(int number) {
  return number > 0 && number < kSignals && g_translator.load(std::memory_order_acquire) != nullptr;
}

// A child that shares its parent's memory (vfork) has handlers of its own: a handler that it sets must not become its
// parent's.
bool wraps_new() {
  return sets_are_on() && (!sets_may_ask_kernel() || translate::raw_system_call(SYS_getpid) == g_agent.pid);
}

int change_action(int number, const struct sigaction* next, struct sigaction* before) {
  if (!may_be_wrapped(number)) return real().sigaction(number, next, before);
  const Handler old_handler = g_handlers[number].load(std::memory_order_acquire);
  struct sigaction wrapped, old;
  if (next && is_function(*next) && !is_ours(*next) && wraps_new()) {
    wrapped = *next;
    g_handlers[number].store(next->sa_sigaction, std::memory_order_release);
    wrapped.sa_sigaction = on_signal;
    next = &wrapped;
  }
  const int result = real().sigaction(number, next, &old);
  if (result != 0) {
    g_handlers[number].store(old_handler, std::memory_order_release);
    return result;
  }
  if (before) {
    *before = old;
    if (is_ours(old)) before->sa_sigaction = old_handler;
  }
  return 0;
}

// The C library installs its handler of cancellation itself, when the first thread is cancelled. A thread of ours is
// the first; from then on the handler is wrapped.
void* wait_to_be_cancelled(void*) {
  t_local.over = true;
  for (;;) pause();
}

void wrap_cancellation() {
  static std::atomic<bool> done{false};
  translate::Translator* translator = g_translator.load(std::memory_order_acquire);
  if (!translator || done.exchange(true)) return;
  const translate::KernelWork work(translator->kernel_calls());
  if (!work.is_allowed()) return;
  Inside inside;
  const NotCancelled not_cancelled;
  pthread_t thread;
  if (real().pthread_create(&thread, nullptr, wait_to_be_cancelled, nullptr) != 0) return;
  real().pthread_cancel(thread);
  real().pthread_join(thread, nullptr);
  KernelAction action{};
  if (real().syscall(SYS_rt_sigaction, kCancellation, 0, reinterpret_cast<long>(&action), 8, 0, 0) != 0 ||
      !action.handler)
    return;
  g_handlers[kCancellation].store(action.handler, std::memory_order_release);
  action.handler = on_signal;
  real().syscall(SYS_rt_sigaction, kCancellation, reinterpret_cast<long>(&action), 0, 8, 0, 0);
}

}  // namespace

void show_own_handler(long number, long before) {
  auto* action = reinterpret_cast<KernelAction*>(before);
  if (!action || action->handler != on_signal || number <= 0 || number >= kSignals) return;
  action->handler = g_handlers[number].load(std::memory_order_acquire);
}

void wrap_signal_handlers(translate::Translator& translator) {
  g_translator.store(&translator, std::memory_order_release);
  for (int number = 1; number < kSignals; ++number) {
    struct sigaction action;
    if (real().sigaction(number, nullptr, &action) != 0 || !is_function(action) || is_ours(action)) continue;
    g_handlers[number].store(action.sa_sigaction, std::memory_order_release);
    action.sa_sigaction = on_signal;
    real().sigaction(number, &action, nullptr);
  }
}

}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, sigaction, (int number, const struct sigaction* next, struct sigaction* before)) {
  CONTRAFACT_CALLED;
  called_.reads(next, sizeof *next);
  called_.wrote(before, sizeof *before);
  return called_.kernel_effect(SYS_rt_sigaction, change_action(number, next, before), number, next);
}

namespace {

// `library` is the C library's own function: it and siginterrupt() decide which flags a handler gets.
SimpleHandler change_handler(const SetsCall& called, int number, SimpleHandler handler,
                             SimpleHandler (*library)(int, SimpleHandler)) {
  called.kernel_effect(SYS_rt_sigaction, 0, number, 1);  // sets one
  if (!may_be_wrapped(number)) return library(number, handler);
  const SimpleHandler ours = simple(on_signal);
  const Handler old_handler = g_handlers[number].load(std::memory_order_acquire);
  const bool is_wrapped = handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR && handler != kHold &&
                          handler != ours && wraps_new();
  if (is_wrapped) g_handlers[number].store(with_context(handler), std::memory_order_release);
  const SimpleHandler before = library(number, is_wrapped ? ours : handler);
  if (before == SIG_ERR) g_handlers[number].store(old_handler, std::memory_order_release);
  return before == ours ? simple(old_handler) : before;
}

}  // namespace

CONTRAFACT_INTERPOSE(SimpleHandler, signal, (int number, SimpleHandler handler)) {
  CONTRAFACT_CALLED;
  return change_handler(called_, number, handler, real().signal);
}
CONTRAFACT_INTERPOSE(SimpleHandler, bsd_signal, (int number, SimpleHandler handler)) {
  CONTRAFACT_CALLED;
  return change_handler(called_, number, handler, real().signal);
}
CONTRAFACT_INTERPOSE(SimpleHandler, ssignal, (int number, SimpleHandler handler)) {
  CONTRAFACT_CALLED;
  return change_handler(called_, number, handler, real().signal);
}
CONTRAFACT_INTERPOSE(SimpleHandler, sysv_signal, (int number, SimpleHandler handler)) {
  CONTRAFACT_CALLED;
  return change_handler(called_, number, handler, real().sysv_signal);
}
CONTRAFACT_INTERPOSE(SimpleHandler, __sysv_signal, (int number, SimpleHandler handler)) {
  CONTRAFACT_CALLED;
  return change_handler(called_, number, handler, real().sysv_signal);
}

CONTRAFACT_INTERPOSE(SimpleHandler, sigset, (int number, SimpleHandler handler)) {
  CONTRAFACT_CALLED;
  return change_handler(called_, number, handler, real().sigset);
}

CONTRAFACT_INTERPOSE(int, pthread_cancel, (pthread_t thread)) {
  CONTRAFACT_CALLED;
  if (sets_are_on()) wrap_cancellation();
  return real().pthread_cancel(thread);
}
