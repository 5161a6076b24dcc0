#include "agent_jvm/threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "agent_jvm/agent_state.h"
#include "base/clock.h"
#include "recorder/access_sets.h"

namespace contrafact::agent_jvm {
namespace {

using recorder::Client;
using recorder::EventKind;
using recorder::Recorder;

// As java/java/lang/ContrafactTasks.java and ContrafactEvents.java have them.
constexpr jint kTaskId = (1 << 28) - 1;
constexpr jint kTaskStarted = 1 << 30;
constexpr jint kTaskCompleted = INT32_MIN;
constexpr jint kFlagUncaught = 1;
constexpr jint kFlagBlocked = 4;  // shifted by the reason: inside a block that JVMTI reported
constexpr jint kFlagTimedOut = 1 << 16;
constexpr int64_t kPinnedNsMin = 100'000;
constexpr jlong kBufferEnded = -1;
constexpr size_t kWaitingMax = 4096;  // bounds what one notification looks through

// Of a platform thread. Virtual threads come and go on it, never in the midst of a native call.
struct State {
  Client* client = nullptr;
  jobject carrier = nullptr;  // global reference; the Thread object that the buffer's address is in
  int64_t block_ns = 0;       // when the last block began
  ContextTable::Cache contexts;
  std::unique_ptr<recorder::AccessSetCache> sent_sets;  // made for the first one
};
thread_local State* t_state = nullptr;

// Appends from here may go to another buffer than the one that the injected code has the address of.
template <typename Append>
void append_by(JNIEnv* jni, jfieldID buffer_field, Append append) {
  Client* client = t_state->client;
  const contrafact_buffer* before = client->buffer();
  append(client);
  if (client->buffer() != before) {
    jni->SetLongField(t_state->carrier, buffer_field, reinterpret_cast<jlong>(client->buffer()));
  }
}

template <typename... Operands>
void append_at(JNIEnv* jni, jfieldID buffer_field, recorder::ThreadId logical, EventKind kind, int64_t time_ns,
               Operands... operands) {
  append_by(jni, buffer_field,
            [&](Client* client) { Recorder::append_as(client, logical, kind, time_ns, operands...); });
}

template <typename... Operands>
void append(JNIEnv* jni, jfieldID buffer_field, recorder::ThreadId logical, EventKind kind, Operands... operands) {
  append_at(jni, buffer_field, logical, kind, base::monotonic_ns(), operands...);
}

void leave_sets(JNIEnv* jni, jthread thread) {
  jclass log = jni->FindClass("java/lang/ContrafactSetLog");
  jmethodID leave = log ? jni->GetStaticMethodID(log, "leave", "(Ljava/lang/Thread;)V") : nullptr;
  if (leave) jni->CallStaticVoidMethod(log, leave, thread);
  if (jni->ExceptionCheck()) jni->ExceptionClear();
}

jint blocked_flag(format::BlockReason reason) {
  return kFlagBlocked << static_cast<int>(reason);
}

}  // namespace

bool Threads::resolve(JNIEnv* jni) {
  jclass type = jni->FindClass("java/lang/Thread");
  if (!type) return false;
  buffer_ = jni->GetFieldID(type, "contrafactBuffer", "J");
  thread_ = buffer_ ? jni->GetFieldID(type, "contrafactThread", "I") : nullptr;
  quiet_ = thread_ ? jni->GetFieldID(type, "contrafactQuiet", "I") : nullptr;
  stopped_ = quiet_ ? jni->GetFieldID(type, "contrafactStopped", "J") : nullptr;
  stopped_at_ = stopped_ ? jni->GetFieldID(type, "contrafactStoppedAt", "I") : nullptr;
  unmounted_ = stopped_at_ ? jni->GetFieldID(type, "contrafactUnmounted", "J") : nullptr;
  flags_ = unmounted_ ? jni->GetFieldID(type, "contrafactFlags", "I") : nullptr;
  task_ = flags_ ? jni->GetFieldID(type, "contrafactTask", "I") : nullptr;
  java_tid_ = task_ ? jni->GetFieldID(type, "tid", "J") : nullptr;
  if (!java_tid_) jni->ExceptionClear();
  return java_tid_ != nullptr;
}

format::ThreadRow Threads::describe(jthread thread, format::ThreadKind kind) {
  format::ThreadRow row;
  row.kind = kind;
  jvmtiThreadInfo info{};
  if (agent_.jvmti->GetThreadInfo(thread, &info) == JVMTI_ERROR_NONE) {
    row.name = agent_.recorder->intern(info.name ? info.name : "");
    row.daemon = info.is_daemon;
    agent_.jvmti->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  }
  return row;
}

jlong Threads::attach(JNIEnv* jni, jthread carrier) {
  if (t_state || jni->GetLongField(carrier, buffer_) == kBufferEnded) return 0;
  format::ThreadRow row = describe(carrier, format::ThreadKind::platform);
  row.os_tid = static_cast<uint64_t>(syscall(SYS_gettid));
  row.java_tid = static_cast<uint64_t>(jni->GetLongField(carrier, java_tid_));
  Client* client = agent_.recorder->attach(row);
  if (!client) return 0;
  t_state = new State{client, jni->NewGlobalRef(carrier), 0, {}};
  agent_.locks->owners().add(jni, t_state->carrier, Recorder::thread_of(client), static_cast<int64_t>(row.java_tid));
  jni->SetIntField(carrier, thread_, static_cast<jint>(Recorder::thread_of(client).value) + 1);
  Recorder::append(client, EventKind::thread_begin, base::monotonic_ns());
  const jlong buffer = reinterpret_cast<jlong>(client->buffer());
  jni->SetLongField(carrier, buffer_, buffer);
  return buffer;
}

jlong Threads::swap(jlong owner) {
  return reinterpret_cast<jlong>(Recorder::swap(reinterpret_cast<Client*>(owner)));
}

jint Threads::add_virtual(JNIEnv* jni, jthread thread) {
  format::ThreadRow row = describe(thread, format::ThreadKind::virtual_thread);
  row.java_tid = static_cast<uint64_t>(jni->GetLongField(thread, java_tid_));
  const recorder::ThreadId id = agent_.recorder->add_thread(row);
  agent_.locks->owners().add_virtual(static_cast<int64_t>(row.java_tid), id);
  return static_cast<jint>(id.value);
}

void Threads::started(JNIEnv* jni, jthread thread) {
  if (!attach(jni, thread)) return;
  const jint word = jni->GetIntField(thread, task_);
  if ((word & kTaskId) == 0) return;
  jni->SetIntField(thread, task_, word | kTaskStarted);
  append(jni, buffer_, Recorder::thread_of(t_state->client), EventKind::task_start, word & kTaskId);
}

void Threads::ended(JNIEnv* jni, jthread thread) {
  if (!t_state) return;
  // For the thread that calls System.exit or halt, JVMTI reports an end in the midst of its work: leave its brackets
  // open.
  jint frames = 0;
  if (agent_.jvmti->GetFrameCount(thread, &frames) == JVMTI_ERROR_NONE && frames > 0) return;
  const jint word = jni->GetIntField(thread, task_);
  const auto outcome =
      (jni->GetIntField(thread, flags_) & kFlagUncaught) ? format::Outcome::exception : format::Outcome::normal;
  Client* client = t_state->client;
  if (word & kTaskStarted) {
    jni->SetIntField(thread, task_, word | kTaskCompleted);
    Recorder::append(client, EventKind::task_complete, base::monotonic_ns(), word & kTaskId, outcome);
    Recorder::append(client, EventKind::task_end, base::monotonic_ns(), word & kTaskId, outcome);
  }
  Recorder::append(client, EventKind::thread_end, base::monotonic_ns());
  jni->SetLongField(thread, buffer_, kBufferEnded);
  if (agent_.sets) leave_sets(jni, thread);
  agent_.recorder->detach(client);
  agent_.locks->owners().remove(jni);
  jni->DeleteGlobalRef(t_state->carrier);
  delete t_state;
  t_state = nullptr;
}

format::ContextId Threads::context(JNIEnv* jni) {
  ContextTable::Cache early;  // a thread without a client: its first event comes next
  return agent_.contexts->current(jni, t_state ? t_state->contexts : early);
}

recorder::ThreadId Threads::known(JNIEnv* jni, jthread thread) const {
  return recorder::ThreadId(static_cast<uint32_t>(jni->GetIntField(thread, thread_) - 1));
}

recorder::ThreadId Threads::logical(JNIEnv* jni, jthread thread) {
  if (const recorder::ThreadId id = known(jni, thread); id.valid()) return id;
  const jint added = add_virtual(jni, thread);
  jni->SetIntField(thread, thread_, added + 1);
  return recorder::ThreadId(static_cast<uint32_t>(added));
}

bool Threads::block_begin(JNIEnv* jni, jthread thread, format::BlockReason reason) {
  if (!t_state && jni->GetIntField(thread, thread_) == 0) attach(jni, thread);
  if (!t_state) return false;
  if (jni->GetIntField(thread, quiet_) != 0) {
    jni->SetLongField(thread, stopped_, base::monotonic_ns());
    return false;
  }
  jni->SetIntField(thread, quiet_, 1);
  jni->SetIntField(thread, flags_, jni->GetIntField(thread, flags_) | blocked_flag(reason));
  const format::ContextId context = this->context(jni);
  t_state->block_ns = base::monotonic_ns();
  append_at(jni, buffer_, logical(jni, thread), EventKind::block_begin, t_state->block_ns, reason, context.value);
  jni->SetLongField(thread, stopped_, t_state->block_ns);
  jni->SetIntField(thread, stopped_at_, static_cast<jint>(context.value));
  return true;
}

// As ContrafactThreads.stayed().
void Threads::note_pinned(JNIEnv* jni, jthread thread) {
  if (agent_.jdk < kJdkVirtualThreads || jni->IsSameObject(thread, t_state->carrier)) return;
  const int64_t stopped_ns = jni->GetLongField(thread, stopped_);
  const int64_t blocked_ns = base::monotonic_ns() - stopped_ns;
  if (jni->GetLongField(thread, unmounted_) >= stopped_ns || blocked_ns < kPinnedNsMin) return;
  agent_.pinned.note(format::ContextId(static_cast<uint32_t>(jni->GetIntField(thread, stopped_at_))), blocked_ns);
}

void Threads::blocked_on(JNIEnv* jni, jthread thread, const Locks::Wait& wait) {
  if (!t_state || !wait.lock.valid()) return;
  const recorder::ThreadId id = logical(jni, thread);
  append_at(jni, buffer_, id, EventKind::blocked_on, t_state->block_ns, wait.lock.value, wait.holder.value);
  if (wait.holder_at.valid())
    append_at(jni, buffer_, id, EventKind::holder_at, t_state->block_ns, wait.holder_at.value);
}

void Threads::accesses(JNIEnv* jni, recorder::ThreadId thread, const Sets::Segment& segment) {
  if (!t_state) return;
  if (!t_state->sent_sets) t_state->sent_sets = std::make_unique<recorder::AccessSetCache>();
  append_by(jni, buffer_, [&](Client* client) {
    for (const Sets::Part& part : segment.parts) {
      recorder::append_accesses_as(client, thread, *t_state->sent_sets, part.end_ns, segment.gap, part.ranges);
      if (!part.call.valid()) continue;
      Recorder::append_as(client, thread, EventKind::accesses_cut, part.end_ns, part.is_after ? 1 : 0, part.call.value);
    }
  });
}

bool Threads::wait_begin(JNIEnv* jni, jthread thread, jobject monitor) {
  if (!block_begin(jni, thread, format::BlockReason::object_wait)) return false;
  const uint32_t id = logical(jni, thread).value;
  jobject kept = jni->NewGlobalRef(monitor);
  std::lock_guard lock(waiting_mutex_);
  if (!kept || waiting_.size() >= kWaitingMax) {
    jni->DeleteGlobalRef(kept);
    return true;
  }
  waiting_.push_back({kept, id});
  waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
  return true;
}

void Threads::wait_end(JNIEnv* jni, jthread thread, bool timed_out) {
  if (timed_out) jni->SetIntField(thread, flags_, jni->GetIntField(thread, flags_) | kFlagTimedOut);
  if (waiting_count_.load(std::memory_order_acquire) > 0) {
    const uint32_t id = logical(jni, thread).value;
    std::lock_guard lock(waiting_mutex_);
    auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const Waiting& w) { return w.thread == id; });
    if (found != waiting_.end()) forget(jni, found);
  }
  block_end(jni, thread, format::BlockReason::object_wait);
}

jint Threads::next_waiting(JNIEnv* jni, jobject monitor) {
  if (waiting_count_.load(std::memory_order_acquire) == 0) return -1;
  std::lock_guard lock(waiting_mutex_);
  auto found = std::find_if(waiting_.begin(), waiting_.end(),
                            [&](const Waiting& w) { return jni->IsSameObject(w.monitor, monitor); });
  if (found == waiting_.end()) return -1;
  const uint32_t id = found->thread;
  forget(jni, found);
  return static_cast<jint>(id);
}

void Threads::forget(JNIEnv* jni, std::vector<Waiting>::iterator waiting) {
  jni->DeleteGlobalRef(waiting->monitor);
  waiting_.erase(waiting);
  waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
}

void Threads::block_end(JNIEnv* jni, jthread thread, format::BlockReason reason) {
  const jint flags = jni->GetIntField(thread, flags_);
  if (!t_state || !(flags & blocked_flag(reason))) return;
  jni->SetIntField(thread, flags_, flags & ~blocked_flag(reason));
  jni->SetIntField(thread, quiet_, jni->GetIntField(thread, quiet_) - 1);
  append(jni, buffer_, logical(jni, thread), EventKind::block_end, reason);
  note_pinned(jni, thread);
}

}  // namespace contrafact::agent_jvm
