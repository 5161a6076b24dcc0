#include "agent_jvm/threads.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "agent_jvm/agent_state.h"
#include "base/clock.h"

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
constexpr jlong kBufferEnded = -1;
constexpr size_t kWaitingMax = 4096;  // bounds what one notification looks through

// Of a platform thread. Virtual threads come and go on it, never in the midst of a native call.
struct State {
  Client* client = nullptr;
  jobject carrier = nullptr;  // global reference; the Thread object that the buffer's address is in
  ContextTable::Cache contexts;
};
thread_local State* t_state = nullptr;

// Appends from here may go to another buffer than the one that the injected code has the address of.
template <typename... Operands>
void append(JNIEnv* jni, jfieldID buffer_field, recorder::ThreadId logical, EventKind kind, Operands... operands) {
  Client* client = t_state->client;
  const contrafact_buffer* before = client->buffer();
  Recorder::append_as(client, logical, kind, base::monotonic_ns(), operands...);
  if (client->buffer() != before) {
    jni->SetLongField(t_state->carrier, buffer_field, reinterpret_cast<jlong>(client->buffer()));
  }
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
  flags_ = quiet_ ? jni->GetFieldID(type, "contrafactFlags", "I") : nullptr;
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
  t_state = new State{client, jni->NewGlobalRef(carrier), {}};
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
  return static_cast<jint>(agent_.recorder->add_thread(row).value);
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
  agent_.recorder->detach(client);
  jni->DeleteGlobalRef(t_state->carrier);
  delete t_state;
  t_state = nullptr;
}

format::ContextId Threads::context(JNIEnv* jni) {
  ContextTable::Cache early;  // a thread without a client: its first event comes next
  return agent_.contexts->current(jni, t_state ? t_state->contexts : early);
}

recorder::ThreadId Threads::logical(JNIEnv* jni, jthread thread) {
  const jint known = jni->GetIntField(thread, thread_);
  if (known > 0) return recorder::ThreadId(static_cast<uint32_t>(known - 1));
  const jint added = add_virtual(jni, thread);
  jni->SetIntField(thread, thread_, added + 1);
  return recorder::ThreadId(static_cast<uint32_t>(added));
}

void Threads::block_begin(JNIEnv* jni, jthread thread, format::BlockReason reason) {
  if (!t_state && jni->GetIntField(thread, thread_) == 0) attach(jni, thread);
  if (!t_state || jni->GetIntField(thread, quiet_) != 0) return;
  jni->SetIntField(thread, quiet_, 1);
  jni->SetIntField(thread, flags_, jni->GetIntField(thread, flags_) | blocked_flag(reason));
  const format::ContextId context = this->context(jni);
  append(jni, buffer_, logical(jni, thread), EventKind::block_begin, reason, context.value);
}

void Threads::wait_begin(JNIEnv* jni, jthread thread, jobject monitor) {
  block_begin(jni, thread, format::BlockReason::object_wait);
  if (!(jni->GetIntField(thread, flags_) & blocked_flag(format::BlockReason::object_wait))) return;
  const uint32_t id = logical(jni, thread).value;
  jobject kept = jni->NewGlobalRef(monitor);
  std::lock_guard lock(waiting_mutex_);
  if (!kept || waiting_.size() >= kWaitingMax) return jni->DeleteGlobalRef(kept);
  waiting_.push_back({kept, id});
  waiting_count_.store(static_cast<uint32_t>(waiting_.size()), std::memory_order_release);
}

void Threads::wait_end(JNIEnv* jni, jthread thread) {
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
}

}  // namespace contrafact::agent_jvm
