// pthread_once and call_once. The thread that runs the initialiser holds the once meanwhile, like a lock, and wakes
// those who wait for it at its end. A once that is done costs a load.
#include "agent_native/real.h"
#include "agent_native/recording.h"

namespace contrafact::agent_native {
namespace {

constexpr int kDone = 2;                  // __PTHREAD_ONCE_DONE of the C library
constexpr int64_t kWaitedNsMin = 20'000;  // less is the price of finding it done

// The library's initialiser has no argument: so the current call's data lies here.
struct OnceCall {
  void (*initialise)();
  uint64_t lock, site;
  bool ran_here;
  OnceCall* outer;
};
thread_local constinit OnceCall* t_call __attribute__((tls_model("initial-exec"))) = nullptr;

void run_initialiser() {
  OnceCall& call = *t_call;
  call.ran_here = true;
  Client* const client = recording();
  if (client) append_lock(client, EventKind::lock_acquire, g_clock.now_ns(), call.lock, call.site);
  call.initialise();
  if (!client || !is_own(client)) return;
  const int64_t now_ns = g_clock.now_ns();
  append_lock(client, EventKind::lock_release, now_ns, call.lock, call.site);
  append_lock(client, EventKind::sync_broadcast, now_ns, call.lock, call.site);
}

template <typename Library>
void once(Client* client, const void* control, void (*initialise)(), uint64_t site, Library library) {
  OnceCall call{initialise, recorder::lock_word(control, LockKind::once), site, false, t_call};
  t_call = &call;
  const int64_t begin_ns = g_clock.now_ns();
  library();
  t_call = call.outer;
  if (call.ran_here || !is_own(client)) return;
  const int64_t end_ns = g_clock.now_ns();
  if (end_ns - begin_ns < kWaitedNsMin) return;
  append_stack(client, site);
  append_lock(client, EventKind::sync_wait, begin_ns, call.lock, site);
  append_outcome(client, EventKind::sync_woken, end_ns, call.lock, Outcome::normal);
}

bool is_done(const void* control) {
  return __atomic_load_n(static_cast<const int*>(control), __ATOMIC_ACQUIRE) == kDone;
}

}  // namespace
}  // namespace contrafact::agent_native

using namespace contrafact::agent_native;

CONTRAFACT_INTERPOSE(int, pthread_once, (pthread_once_t * control, void (*initialise)())) {
  CONTRAFACT_CALLED;
  if (is_done(control)) return 0;
  called_.unobserved();
  Client* client = recording();
  if (!client) return real().pthread_once(control, initialise);
  int error = 0;
  once(client, control, initialise, CONTRAFACT_SITE, [&] { error = real().pthread_once(control, run_initialiser); });
  return error;
}

CONTRAFACT_INTERPOSE(void, call_once, (once_flag * control, void (*initialise)())) {
  CONTRAFACT_CALLED;
  if (is_done(control)) return;
  called_.unobserved();
  Client* client = recording();
  if (!client) return real().call_once(control, initialise);
  once(client, control, initialise, CONTRAFACT_SITE, [&] { real().call_once(control, run_initialiser); });
}
