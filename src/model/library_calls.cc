#include "model/library_calls.h"

#include <algorithm>

namespace contrafact::model {

namespace {

// Whether `is_one` holds for one of the innermost frames; few of these are the library's own.
template <typename IsOne>
bool any_frame(const Trace& trace, ContextId context, IsOne is_one) {
  constexpr size_t kFramesMax = 8;
  for (size_t i = 0; i < kFramesMax && context.valid(); ++i) {
    const format::ContextRow& row = trace.contexts[context.index()];
    if (row.method.valid()) {
      const format::MethodRow& method = trace.methods[row.method.index()];
      if (is_one(trace.string(method.class_name), trace.string(method.name))) return true;
    }
    context = row.parent;
  }
  return false;
}

// Whether `is_one` holds for one of the methods, as "shop.Pool.take", by which configured pools hand out what they hold.
template <typename IsOne>
bool any_taking(const Trace& trace, IsOne is_one) {
  for (const Fact& fact : trace.facts) {
    if (!fact.key.starts_with(kResourceFact)) return false;
    if (fact.key.starts_with("resource.taking.") && is_one(std::string_view(fact.value))) return true;
  }
  return false;
}

}  // namespace

bool is_lock_call(const Trace& trace, ContextId context) {
  return any_frame(trace, context, [](std::string_view type, std::string_view name) {
    return type.starts_with("java.util.concurrent.locks.") &&
           (name == "lock" || name == "lockInterruptibly" || name == "tryLock" || name == "readLock" ||
            name == "writeLock");
  });
}

bool is_resource_call(const Trace& trace, ContextId context) {
  struct Taking {
    std::string_view type, method;
  };
  static constexpr Taking kTakings[] = {
      {"com.zaxxer.hikari.util.ConcurrentBag", "borrow"},
      {"org.apache.commons.pool2.impl.GenericObjectPool", "borrowObject"},
      {"org.apache.commons.pool2.impl.GenericKeyedObjectPool", "borrowObject"},
      {"org.apache.commons.pool.impl.GenericObjectPool", "borrowObject"},
      {"org.apache.tomcat.jdbc.pool.ConnectionPool", "borrowConnection"},
      {"org.h2.jdbcx.JdbcConnectionPool", "getConnection"},
      {"com.mchange.v2.resourcepool.BasicResourcePool", "checkoutResource"},
      {"com.mchange.v2.resourcepool.BasicResourcePool", "prelimCheckoutResource"},
      {"com.alibaba.druid.pool.DruidDataSource", "getConnectionInternal"},
      {"io.agroal.pool.ConnectionPool", "handlerFromSharedCache"},
      {"org.apache.http.pool.AbstractConnPool", "getPoolEntryBlocking"},
      {"org.apache.hc.client5.http.impl.classic.InternalExecRuntime", "acquireEndpoint"},
      {"com.mongodb.internal.connection.ConcurrentPool", "get"},
  };
  const auto is_configured = [&](std::string_view type, std::string_view name) {
    return any_taking(trace, [&](std::string_view taking) {
      return taking.size() == type.size() + 1 + name.size() && taking.starts_with(type) && taking.ends_with(name);
    });
  };
  return any_frame(trace, context, [&](std::string_view type, std::string_view name) {
    return std::ranges::any_of(kTakings, [&](const Taking& one) { return type == one.type && name == one.method; }) ||
           is_configured(type, name);
  });
}

bool is_configured_pool(const Trace& trace, std::string_view name) {
  return any_taking(trace, [&](std::string_view taking) {
    return taking.size() > name.size() && taking.starts_with(name) && taking[name.size()] == '.';
  });
}

bool is_permit_call(const Trace& trace, ContextId context) {
  return is_queue_call(trace, context) || is_resource_call(trace, context) ||
         any_frame(trace, context, [](std::string_view type, std::string_view) {
           return type.substr(0, type.find('$')) == "java.util.concurrent.Semaphore";
         });
}

bool is_queue_call(const Trace& trace, ContextId context) {
  return any_frame(trace, context, [](std::string_view type, std::string_view) {
    if (!type.starts_with("java.util.concurrent.")) return false;
    type = type.substr(0, type.find('$'));
    return type.ends_with("Queue") || type.ends_with("Deque");
  });
}

bool is_managed_block(const Trace& trace, ContextId context) {
  return any_frame(trace, context, [](std::string_view type, std::string_view name) {
    return type == "java.util.concurrent.ForkJoinPool" &&
           (name == "managedBlock" || name == "unmanagedBlock" || name == "compensatedBlock");
  });
}

bool makes_thread_local(const Trace& trace, MethodId method) {
  if (!method.valid() || method.index() >= trace.methods.size()) return false;
  const format::MethodRow& row = trace.methods[method.index()];
  return trace.string(row.name) == "setInitialValue" && trace.string(row.class_name) == "java.lang.ThreadLocal";
}

bool is_worker_run(const Trace& trace, const TaskRow& task) {
  if (task.kind != TaskKind::thread || !task.body.valid()) return false;
  const std::string_view type = trace.string(trace.methods[task.body.index()].class_name);
  if (type == "java.util.concurrent.ThreadPoolExecutor$Worker" || type == "java.util.concurrent.ForkJoinWorkerThread" ||
      type == "java.util.concurrent.DelayScheduler")
    return true;
  const std::string_view owner = trace.owner_name(task.body);
  return owner == "libomp" || owner == "libtbb";
}

}  // namespace contrafact::model
