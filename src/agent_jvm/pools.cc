#include "agent_jvm/pools.h"

#include <charconv>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/method_table.h"
#include "agent_jvm/pool_fields.h"

namespace contrafact::agent_jvm {
namespace {

constexpr jint kUnlimited = INT32_MAX;  // as a pool's size, in Java; in a trace it is none
constexpr char kForkJoinPool[] = "java/util/concurrent/ForkJoinPool";
constexpr char kThreadPool[] = "java/util/concurrent/ThreadPoolExecutor";
constexpr char kScheduledPool[] = "java/util/concurrent/ScheduledThreadPoolExecutor";

// Executors of frameworks whose size is known: in a field, or by a method without side effects, of this name.
struct FrameworkPool {
  std::string_view class_name;  // or of a superclass
  format::PoolKind kind;
  const char* core_size;  // null: it is 1
  const char* max_size;
};
constexpr FrameworkPool kFrameworkPools[] = {
    {"org/apache/tomcat/util/threads/ThreadPoolExecutor", format::PoolKind::thread_pool, "corePoolSize",
     "maximumPoolSize"},
    {"io/netty/util/concurrent/SingleThreadEventExecutor", format::PoolKind::other, nullptr, nullptr},
    {"io/netty/util/concurrent/GlobalEventExecutor", format::PoolKind::other, nullptr, nullptr},
    // These two have as many threads as they may before anything waits in their queues.
    {"org/eclipse/jetty/util/thread/QueuedThreadPool", format::PoolKind::other, "_maxThreads", "_maxThreads"},
    {"org/jboss/threads/EnhancedQueueExecutor", format::PoolKind::other, "getMaximumPoolSize", "getMaximumPoolSize"},
    {"com/google/common/util/concurrent/SequentialExecutor", format::PoolKind::other, nullptr, nullptr},
    {"kotlinx/coroutines/scheduling/CoroutineScheduler", format::PoolKind::other, "corePoolSize", "maxPoolSize"},
    {"kotlinx/coroutines/internal/LimitedDispatcher", format::PoolKind::other, "parallelism", "parallelism"},
    {"kotlinx/coroutines/EventLoopImplBase", format::PoolKind::other, nullptr, nullptr},
};

// Pools of objects (probes_resource.cc). What they say of themselves is in a field, or in that of another object, which
// is in the field `holder`; or what a method without side effects returns.
struct ResourcePool {
  std::string_view class_name;  // or of a superclass
  const char* holder;           // null: the pool itself
  const char* holder_type;
  const char* size;
  const char* name;  // null: it has none of its own
};
constexpr ResourcePool kResourcePools[] = {
    {"com/zaxxer/hikari/pool/HikariPool", "config", "Lcom/zaxxer/hikari/HikariConfig;", "getMaximumPoolSize",
     "getPoolName"},
    {"org/apache/commons/pool2/impl/GenericObjectPool", nullptr, nullptr, "getMaxTotal", nullptr},
    {"org/apache/tomcat/jdbc/pool/ConnectionPool", "poolProperties", "Lorg/apache/tomcat/jdbc/pool/PoolConfiguration;",
     "getMaxActive", "getPoolName"},
    {"org/h2/jdbcx/JdbcConnectionPool", nullptr, nullptr, "maxConnections", nullptr},
    {"org/apache/commons/pool/impl/GenericObjectPool", nullptr, nullptr, "getMaxActive", nullptr},
    {"com/mchange/v2/resourcepool/BasicResourcePool", nullptr, nullptr, "getMaxPoolSize", nullptr},
    {"com/alibaba/druid/pool/DruidDataSource", nullptr, nullptr, "getMaxActive", nullptr},
    {"io/agroal/pool/ConnectionPool", "configuration",
     "Lio/agroal/api/configuration/AgroalConnectionPoolConfiguration;", "maxSize", nullptr},
    {"com/mongodb/internal/connection/ConcurrentPool", nullptr, nullptr, "maxSize", nullptr},
};

// Those that have so many for each key, and so many in all: whichever is less counts. Both are said by methods without
// side effects.
struct KeyedPool {
  std::string_view class_name;  // or of a superclass
  const char* of_key;
  const char* of_key_type;
  const char* in_all;
};
constexpr KeyedPool kKeyedPools[] = {
    {"org/apache/commons/pool2/impl/GenericKeyedObjectPool", "getMaxTotalPerKey", "()I", "getMaxTotal"},
    {"org/apache/http/pool/AbstractConnPool", "getMaxPerRoute", "(Ljava/lang/Object;)I", "getMaxTotal"},
    {"org/apache/hc/client5/http/impl/io/PoolingHttpClientConnectionManager", "getMaxPerRoute",
     "(Lorg/apache/hc/client5/http/HttpRoute;)I", "getMaxTotal"},
};

bool is_class(std::string_view signature, std::string_view internal_name) {
  return signature.size() == internal_name.size() + 2 && signature.substr(1, internal_name.size()) == internal_name;
}

jobject object_in(JNIEnv* jni, jobject object, const char* name, const char* type) {
  jfieldID field = jni->GetFieldID(jni->GetObjectClass(object), name, type);
  if (!field) jni->ExceptionClear();
  return field ? jni->GetObjectField(object, field) : nullptr;
}

std::string text_by(JNIEnv* jni, jobject object, const char* getter) {
  jmethodID method = jni->GetMethodID(jni->GetObjectClass(object), getter, "()Ljava/lang/String;");
  auto text = method ? static_cast<jstring>(jni->CallObjectMethod(object, method)) : nullptr;
  const bool thrown = jni->ExceptionCheck();
  if (thrown) jni->ExceptionClear();
  return text && !thrown ? text_of(jni, text) : "";
}

// The int of a field or of a method without parameters; 0 if there is neither.
jint int_of(JNIEnv* jni, jobject object, const char* name) {
  if (!name) return 1;
  jclass type = jni->GetObjectClass(object);
  jint value = 0;
  if (jfieldID field = jni->GetFieldID(type, name, "I")) {
    value = jni->GetIntField(object, field);
  } else {
    jni->ExceptionClear();
    if (jmethodID method = jni->GetMethodID(type, name, "()I")) value = jni->CallIntMethod(object, method);
  }
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return value;
}

// The JDK's own getter, not the program's that may override it; 0 if there is none.
jint call_int(JNIEnv* jni, jobject object, const char* class_name, const char* getter) {
  jclass type = jni->FindClass(class_name);
  jmethodID method = type ? jni->GetMethodID(type, getter, "()I") : nullptr;
  const jint value = method ? jni->CallNonvirtualIntMethod(object, type, method) : 0;
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return value;
}

bool is_instance(JNIEnv* jni, jobject object, const char* class_name) {
  jclass type = jni->FindClass(class_name);
  if (!type) jni->ExceptionClear();
  return type && jni->IsInstanceOf(object, type);
}

// The key is passed where the method takes one; 0 if there is no such method.
jint int_for_key(JNIEnv* jni, jobject pool, const KeyedPool& known, jobject key) {
  jmethodID method = jni->GetMethodID(jni->GetObjectClass(pool), known.of_key, known.of_key_type);
  const jint value = method ? jni->CallIntMethod(pool, method, key) : 0;
  if (!jni->ExceptionCheck()) return value;
  jni->ExceptionClear();
  return 0;
}

// Of two numbers that are bounds where they are above 0; 0: none of them is.
jint smaller_bound(jint x, jint y) {
  const auto bound = [](jint n) { return n > 0 && n != kUnlimited; };
  if (!bound(x)) return bound(y) ? y : 0;
  return bound(y) ? std::min(x, y) : x;
}

// 0: not known.
jint size_by_rule(JNIEnv* jni, jobject pool, const ResourceRule& rule) {
  if (rule.size.empty()) return 0;
  jint size = 0;
  const auto [end, error] = std::from_chars(rule.size.data(), rule.size.data() + rule.size.size(), size);
  return error == std::errc() ? size : int_of(jni, pool, rule.size.c_str());
}

bool is_common_pool(JNIEnv* jni, jobject pool) {
  jclass type = jni->FindClass(kForkJoinPool);
  jfieldID common = type ? jni->GetStaticFieldID(type, "common", "Ljava/util/concurrent/ForkJoinPool;") : nullptr;
  const bool same = common && jni->IsSameObject(pool, jni->GetStaticObjectField(type, common));
  if (jni->ExceptionCheck()) jni->ExceptionClear();
  return same;
}

// A subclass of a pool of the JDK's may have a field of this name, too: the probes read the JDK's.
jfieldID added_field(JNIEnv* jni, jobject pool, const char* name) {
  jclass owner = jni->GetObjectClass(pool);
  for (const char* of_jdk : {kThreadPool, kForkJoinPool}) {
    if (is_instance(jni, pool, of_jdk)) owner = jni->FindClass(of_jdk);
  }
  jfieldID field = owner ? jni->GetFieldID(owner, name, "I") : nullptr;
  if (!field) jni->ExceptionClear();
  return field;
}

jfieldID number_field(JNIEnv* jni, jobject pool) {
  return added_field(jni, pool, "contrafactPool");
}

}  // namespace

// Threads that meet here first may all describe the pool, but only one makes its row.
jint Pools::number(JNIEnv* jni, jobject pool) {
  jfieldID field = number_field(jni, pool);
  if (!field) return 0;
  {
    std::lock_guard lock(mutex_);
    if (const jint number = jni->GetIntField(pool, field); number != 0) return number;
  }
  const format::PoolRow row = describe(jni, pool, is_instance(jni, pool, kForkJoinPool));
  const std::string source_name = static_field_of(jvmti_, jni, pool);
  const std::string member_name = source_name.empty() ? only_instance_field_for(jvmti_, jni, pool) : "";
  std::lock_guard lock(mutex_);
  jint number = jni->GetIntField(pool, field);
  if (number != 0) return number;
  number = static_cast<jint>(recorder_.add_pool(row).value) + 1;
  jni->SetIntField(pool, field, number);
  if (!source_name.empty()) recorder_.add_fact("pool.field." + std::to_string(number - 1), source_name);
  if (!member_name.empty()) recorder_.add_fact("pool.member." + std::to_string(number - 1), member_name);
  note_maker(jni, pool, number);
  return number;
}

void Pools::note_maker(JNIEnv* jni, jobject pool, jint number) {
  jfieldID field = added_field(jni, pool, "contrafactMade");
  const jint made = field ? jni->GetIntField(pool, field) : 0;
  if (made > 0) recorder_.add_fact("pool.made." + std::to_string(number - 1), std::to_string(made - 1));
}

jint Pools::number_of_threads(std::string_view class_name) {
  std::lock_guard lock(mutex_);
  jint& number = of_threads_[std::string(class_name)];
  if (number == 0) {
    format::PoolRow row;
    row.name = recorder_.intern(class_name);
    row.kind = format::PoolKind::thread_per_task;
    row.core_size = 0;
    row.max_size = UINT32_MAX;
    number = static_cast<jint>(recorder_.add_pool(row).value) + 1;
  }
  return number;
}

jint Pools::number_of_resource(JNIEnv* jni, jobject pool) {
  jfieldID field = number_field(jni, pool);
  if (!field || is_instance(jni, pool, kThreadPool) || is_instance(jni, pool, kForkJoinPool)) return -1;
  const std::optional<format::PoolRow> row = describe_resource(jni, pool);
  std::lock_guard lock(mutex_);
  jint number = jni->GetIntField(pool, field);
  if (number != 0) return number;
  number = row ? static_cast<jint>(recorder_.add_pool(*row).value) + 1 : -1;
  jni->SetIntField(pool, field, number);
  if (number > 0) note_maker(jni, pool, number);
  return number;
}

std::optional<format::PoolRow> Pools::describe_resource(JNIEnv* jni, jobject pool) {
  for (jclass type = jni->GetObjectClass(pool); type; type = jni->GetSuperclass(type)) {
    const std::string signature = signature_of_class(type);
    if (const ResourceRule* rule = config_.resource(dotted_name(signature)))
      return permits(dotted_name(signature), size_by_rule(jni, pool, *rule));
    for (const ResourcePool& known : kResourcePools) {
      if (!is_class(signature, known.class_name)) continue;
      jobject holder = known.holder ? object_in(jni, pool, known.holder, known.holder_type) : pool;
      const jint size = holder ? int_of(jni, holder, known.size) : 0;
      if (size <= 0 || size == kUnlimited) return std::nullopt;
      std::string name = dotted_name(signature);
      // What Tomcat's makes for itself differs in each run behind the bracket.
      std::string own = known.name ? text_by(jni, holder, known.name) : "";
      own.resize(std::min(own.size(), own.find('[')));
      if (!own.empty()) name += " " + own;
      return permits(name, size);
    }
  }
  return std::nullopt;
}

std::optional<format::PoolRow> Pools::permits(std::string_view name, jint size) {
  if (size == kUnlimited) return std::nullopt;
  format::PoolRow row;
  row.name = recorder_.intern(name);
  row.kind = format::PoolKind::permits;
  row.core_size = row.max_size = static_cast<uint32_t>(std::max<jint>(0, size));
  return row;
}

jint Pools::number_of_key(JNIEnv* jni, jobject pool, jobject key) {
  for (jclass type = jni->GetObjectClass(pool); type; type = jni->GetSuperclass(type)) {
    const std::string signature = signature_of_class(type);
    for (const KeyedPool& known : kKeyedPools) {
      if (!is_class(signature, known.class_name)) continue;
      const jint size = smaller_bound(int_for_key(jni, pool, known, key), int_of(jni, pool, known.in_all));
      return size > 0 ? static_cast<jint>(recorder_.add_pool(*permits(dotted_name(signature), size)).value) + 1 : -1;
    }
  }
  return -1;
}

// Named by its elements' class. One that is made anew in each run (a lambda's) has a number behind a slash, or two dollars.
jint Pools::number_of_queue(JNIEnv* jni, jobject queue, jobject element, jint size) {
  if (queues_.fetch_add(1, std::memory_order_relaxed) >= kQueuesMax) return -1;
  std::string of = dotted_name(signature_of(jni, element));
  of.resize(std::min({of.size(), of.find('/'), of.find("$$")}));
  const std::string source_name = static_field_of(jvmti_, jni, queue);
  const auto number =
      static_cast<jint>(recorder_.add_pool(*permits(dotted_name(signature_of(jni, queue)) + " of " + of, size)).value) +
      1;
  if (!source_name.empty()) recorder_.add_fact("pool.field." + std::to_string(number - 1), source_name);
  return number;
}

// A program may make millions of semaphores: each costs one row, and runs no Java code.
jint Pools::number_of_permits(jint available) {
  if (semaphores_.fetch_add(1, std::memory_order_relaxed) >= kSemaphoresMax) return -1;
  format::PoolRow row;
  row.name = recorder_.intern("java.util.concurrent.Semaphore");
  row.kind = format::PoolKind::permits;
  row.core_size = row.max_size = static_cast<uint32_t>(std::max<jint>(0, available));
  return static_cast<jint>(recorder_.add_pool(row).value) + 1;
}

int64_t Pools::unrecorded_semaphores() const {
  return std::max<int64_t>(0, semaphores_.load(std::memory_order_relaxed) - kSemaphoresMax);
}

format::PoolRow Pools::describe(JNIEnv* jni, jobject pool, bool fork_join) {
  format::PoolRow row;
  if (fork_join) {
    row.kind = format::PoolKind::fork_join;
    row.core_size = row.max_size = static_cast<uint32_t>(call_int(jni, pool, kForkJoinPool, "getParallelism"));
    row.name = recorder_.intern(is_common_pool(jni, pool) ? "ForkJoinPool.commonPool"
                                                          : name(jni, pool, pool, "workerNamePrefix"));
    return row;
  }
  if (!is_instance(jni, pool, kThreadPool)) return describe_framework(jni, pool);
  const bool scheduled = is_instance(jni, pool, kScheduledPool);
  row.kind = scheduled ? format::PoolKind::scheduled_thread_pool : format::PoolKind::thread_pool;
  row.core_size = static_cast<uint32_t>(call_int(jni, pool, kThreadPool, "getCorePoolSize"));
  const jint max = call_int(jni, pool, kThreadPool, "getMaximumPoolSize");
  row.max_size = scheduled ? row.core_size : max == kUnlimited ? UINT32_MAX : static_cast<uint32_t>(max);
  // Of an executor of one thread: how many alike its owner makes at most (probes_frameworks.cc).
  const jint alike = int_of(jni, pool, "contrafactAlike");
  if (scheduled && row.core_size == 1 && alike > 1) row.max_size = static_cast<uint32_t>(alike);
  jfieldID factory =
      jni->GetFieldID(jni->GetObjectClass(pool), "threadFactory", "Ljava/util/concurrent/ThreadFactory;");
  if (!factory) jni->ExceptionClear();
  row.name = recorder_.intern(name(jni, pool, factory ? jni->GetObjectField(pool, factory) : pool, "namePrefix"));
  return row;
}

// The size of an executor of an unknown class is unknown.
format::PoolRow Pools::describe_framework(JNIEnv* jni, jobject pool) {
  format::PoolRow row;
  row.name = recorder_.intern(dotted_name(signature_of(jni, pool)));
  row.max_size = UINT32_MAX;
  for (jclass type = jni->GetObjectClass(pool); type; type = jni->GetSuperclass(type)) {
    const std::string signature = signature_of_class(type);
    for (const FrameworkPool& known : kFrameworkPools) {
      if (!is_class(signature, known.class_name)) continue;
      row.kind = known.kind;
      row.core_size = static_cast<uint32_t>(int_of(jni, pool, known.core_size));
      row.max_size = static_cast<uint32_t>(int_of(jni, pool, known.max_size));
      return row;
    }
  }
  return row;
}

// The class's name and, where `namer` is the JDK's own and has one, the prefix of its threads' names.
std::string Pools::name(JNIEnv* jni, jobject pool, jobject namer, const char* prefix_field) {
  std::string text = dotted_name(signature_of(jni, pool));
  if (!namer || !signature_of(jni, namer).starts_with("Ljava/util/concurrent/")) return text;
  jfieldID field = jni->GetFieldID(jni->GetObjectClass(namer), prefix_field, "Ljava/lang/String;");
  if (!field) {
    jni->ExceptionClear();
    return text;
  }
  auto prefix = static_cast<jstring>(jni->GetObjectField(namer, field));
  return prefix ? text + " " + text_of(jni, prefix) : text;
}

std::string Pools::signature_of(JNIEnv* jni, jobject object) {
  return signature_of_class(jni->GetObjectClass(object));
}

std::string Pools::signature_of_class(jclass type) {
  char* signature = nullptr;
  if (jvmti_->GetClassSignature(type, &signature, nullptr) != JVMTI_ERROR_NONE) return {};
  JvmtiMemory release(jvmti_, signature);
  return signature;
}

}  // namespace contrafact::agent_jvm
