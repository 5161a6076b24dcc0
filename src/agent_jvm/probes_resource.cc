// Pools of connections and other objects, of which there are only so many: of libraries, and those that the
// configuration names. Whoever has one of its objects has a permit of the pool's. Waiting for one is blocking like any
// other (probes_park.cc); model/library_calls.cc knows by these methods what it was for.
#include <algorithm>

#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kHikariPool = "com/zaxxer/hikari/pool/HikariPool";
constexpr std::string_view kHikariBag = "com/zaxxer/hikari/util/ConcurrentBag";
constexpr std::string_view kHikariEntry = "com/zaxxer/hikari/util/ConcurrentBag$IConcurrentBagEntry";
constexpr std::string_view kCommonsPool = "org/apache/commons/pool2/impl/GenericObjectPool";
constexpr std::string_view kTomcatPool = "org/apache/tomcat/jdbc/pool/ConnectionPool";
constexpr std::string_view kH2Pool = "org/h2/jdbcx/JdbcConnectionPool";
constexpr std::string_view kOldCommonsPool = "org/apache/commons/pool/impl/GenericObjectPool";
constexpr std::string_view kKeyedPool = "org/apache/commons/pool2/impl/GenericKeyedObjectPool";
constexpr std::string_view kC3p0Pool = "com/mchange/v2/resourcepool/BasicResourcePool";
constexpr std::string_view kDruidPool = "com/alibaba/druid/pool/DruidDataSource";
constexpr std::string_view kAgroalPool = "io/agroal/pool/ConnectionPool";
constexpr std::string_view kAgroalHandler = "io/agroal/pool/ConnectionHandler";
constexpr std::string_view kHttpPool = "org/apache/http/pool/AbstractConnPool";
constexpr std::string_view kHttp5Runtime = "org/apache/hc/client5/http/impl/classic/InternalExecRuntime";
constexpr std::string_view kHttp5Pool = "org/apache/hc/client5/http/impl/io/PoolingHttpClientConnectionManager";
constexpr std::string_view kMongoPool = "com/mongodb/internal/connection/ConcurrentPool";

constexpr std::string_view kOfPool = "(Ljava/lang/Object;)V";
constexpr std::string_view kOfKey = "(Ljava/lang/Object;Ljava/lang/Object;)V";
constexpr std::string_view kObjectOfKey = "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V";

// The pool is the object itself; a bag of HikariCP's is its pool's, which listens to it.
void push_pool(Sequence& s) {
  s.aload(0);
}
void push_listener(Sequence& s) {
  s.aload(0).getfield(kHikariBag, "listener", "Lcom/zaxxer/hikari/util/ConcurrentBag$IBagStateListener;");
}

template <void (*kPushPool)(Sequence&)>
base::Status take(Edit& edit) {
  return edit.at_exit([](Sequence& s) {
    s.dup();
    kPushPool(s);
    s.invokestatic(kResourcesClass, "taken", "(Ljava/lang/Object;Ljava/lang/Object;)V");
  });
}

template <void (*kPushPool)(Sequence&)>
base::Status give(Edit& edit) {
  return edit.at_entry([](Sequence& s) {
    kPushPool(s);
    s.invokestatic(kResourcesClass, "given", "(Ljava/lang/Object;)V");
  });
}

base::Status remove_from_bag(Edit& edit) {
  return edit.at_entry([&](Sequence& s) {
    s.aload(edit.parameter_slot(0)).invokeinterface(kHikariEntry, "getState", "()I");
    push_listener(s);
    s.invokestatic(kResourcesClass, "removed", "(ILjava/lang/Object;)V");
  });
}

constexpr std::string_view kCommonsArguments =
    "(Lorg/apache/commons/pool2/PooledObjectFactory;Lorg/apache/commons/pool2/impl/GenericObjectPoolConfig;)V";

// Older versions of Commons Pool have no time limits as Duration, and no ways to destroy. In newer ones, the methods
// without these call those with them.
constexpr std::string_view kBorrowFor = "(Ljava/time/Duration;)Ljava/lang/Object;";
constexpr std::string_view kInvalidateBy = "(Ljava/lang/Object;Lorg/apache/commons/pool2/DestroyMode;)V";

base::Status borrow_for_milliseconds(Edit& edit) {
  return edit.file.find_method("borrowObject", kBorrowFor) ? base::Status() : take<push_pool>(edit);
}
base::Status invalidate(Edit& edit) {
  return edit.file.find_method("invalidateObject", kInvalidateBy) ? base::Status() : give<push_pool>(edit);
}

bool has_field(const Edit& edit, std::string_view name, std::string_view type) {
  return std::ranges::any_of(edit.file.fields(), [&](const classfile::Member& field) {
    return field.name == name && field.descriptor == type;
  });
}

bool has_call(Edit& edit, std::string_view owner, std::string_view name) {
  bool found = false;
  classfile::CallWrap look;
  look.selects = [&](const CallSite& site) {
    found = found || (site.owner == owner && site.name == name);
    return false;
  };
  look.build = [](const CallSite&, const CallOperands&, Sequence&, Sequence&, Sequence&) {};
  return wrap_calls(edit.code, edit.file, look).ok() && found;
}

// A version of the library that is made otherwise stays as it is, and its pool is not known.
base::Status other_version(const Edit& edit) {
  return base::Error{"a version of " + std::string(edit.code.class_name) + " that is not known"};
}

// Of pools that have so many for each key, which is the first parameter.
base::Status take_by_key(Edit& edit) {
  return edit.at_exit([&](Sequence& s) {
    s.dup().aload(0).aload(edit.parameter_slot(0)).invokestatic(kResourcesClass, "takenOf", kObjectOfKey);
  });
}
base::Status give_by_key(Edit& edit) {
  return edit.at_entry(
      [&](Sequence& s) { s.aload(0).aload(edit.parameter_slot(0)).invokestatic(kResourcesClass, "givenOf", kOfKey); });
}

constexpr std::string_view kBorrowByKeyFor = "(Ljava/lang/Object;Ljava/time/Duration;)Ljava/lang/Object;";
constexpr std::string_view kBorrowByKeyForMilliseconds = "(Ljava/lang/Object;J)Ljava/lang/Object;";
constexpr std::string_view kInvalidateByKeyBy =
    "(Ljava/lang/Object;Ljava/lang/Object;Lorg/apache/commons/pool2/DestroyMode;)V";

// The overload to which the others lead.
base::Status borrow_by_key(Edit& edit) {
  const bool by_duration = edit.file.find_method("borrowObject", kBorrowByKeyFor).has_value();
  return edit.method.descriptor == (by_duration ? kBorrowByKeyFor : kBorrowByKeyForMilliseconds) ? take_by_key(edit)
                                                                                                 : base::Status();
}
base::Status invalidate_by_key(Edit& edit) {
  return edit.file.find_method("invalidateObject", kInvalidateByKeyBy) ? base::Status() : give_by_key(edit);
}

// The thread that waits takes here what it found, and of one that another thread has meanwhile nothing.
base::Status acquire_handler(Edit& edit) {
  constexpr std::string_view kPool = "Lio/agroal/pool/Pool;";
  if (!has_field(edit, "connectionPool", kPool)) return other_version(edit);
  return edit.at_exit([&](Sequence& s) {
    const auto end = s.new_label();
    s.dup().ifeq(end);
    s.aload(0).getfield(kAgroalHandler, "connectionPool", kPool).invokestatic(kResourcesClass, "taken", kOfPool);
    s.bind(end);
  });
}

// An object is given back where one of these methods takes it out of the state "in use": to be used again, or to be destroyed.
base::Status change_state(Edit& edit) {
  const std::string_view name = edit.method.name;
  const bool gets = name == "getConnection" || name == "internalGetConnection" || name == "getRecoveryConnection";
  if ((!gets && name != "returnConnectionHandler") || !has_call(edit, kAgroalHandler, "setState")) return {};
  return edit.wrap(calls(kAgroalHandler, "setState"), [](const CallOperands&, Sequence& before, Sequence&, Sequence&) {
    before.aload(0).invokestatic(kResourcesClass, "given", kOfPool);
  });
}

base::Status refuse_borrowed(Edit& edit) {
  return edit.at_exit(
      [](Sequence& s) { s.dup().aload(0).invokestatic(kResourcesClass, "refused", "(ZLjava/lang/Object;)V"); });
}

// A health check has no use for what it gets.
base::Status check_health(Edit& edit) {
  return edit.wrap(calls("handlerFromSharedCache"), [](const CallOperands&, Sequence&, Sequence& after, Sequence&) {
    after.aload(0).invokestatic(kResourcesClass, "given", kOfPool);
  });
}

constexpr std::string_view kGetsObject = "()Ljava/lang/Object;";

base::Status release_http(Edit& edit) {
  return edit.at_entry([&](Sequence& s) {
    const auto none = s.new_label();
    const uint32_t entry = edit.parameter_slot(0);
    s.aload(entry).ifnull(none);
    s.aload(0).aload(entry).invokevirtual("org/apache/http/pool/PoolEntry", "getRoute", kGetsObject);
    s.invokestatic(kResourcesClass, "givenOf", kOfKey);
    s.bind(none);
  });
}

// Version 5 hands connections to futures. The thread that waits for its own takes the connection once it has it.
base::Status acquire_endpoint(Edit& edit) {
  constexpr std::string_view kManager = "Lorg/apache/hc/client5/http/io/HttpClientConnectionManager;";
  if (!has_field(edit, "manager", kManager) || edit.code.descriptor.arguments.size() < 2) return other_version(edit);
  return edit.at_exit([&](Sequence& s) {
    s.aload(0).getfield(kHttp5Runtime, "manager", kManager).aload(edit.parameter_slot(1));
    s.invokestatic(kResourcesClass, "takenOf", kOfKey);
  });
}

base::Status release_endpoint(Edit& edit) {
  return edit.wrap(
      [](const CallSite& site) {
        return site.name == "release" && site.descriptor == "(Lorg/apache/hc/core5/pool/PoolEntry;Z)V";
      },
      [](const CallOperands& operands, Sequence& before, Sequence&, Sequence&) {
        before.aload(0).aload(operands.arguments[0]);
        before.invokevirtual("org/apache/hc/core5/pool/PoolEntry", "getRoute", kGetsObject);
        before.invokestatic(kResourcesClass, "givenOf", kOfKey);
      });
}

constexpr std::string_view kDealt = "(Ljava/lang/Object;Ljava/lang/Object;Ljava/lang/Object;)V";
constexpr std::string_view kTaken = "(ZLjava/lang/Object;Ljava/lang/Object;)V";

// H2 has counted the connection when it begins to make or fetch it; where that fails, it is given back.
base::Status take_now(Edit& edit) {
  const uint32_t pool = edit.object();
  return edit.finish(
      [&](Sequence& s) {
        s.aload(0).dup().astore(pool).invokestatic(kResourcesClass, "taken", "(Ljava/lang/Object;)V");
      },
      {}, [&](Sequence& s) { s.aload(pool).invokestatic(kResourcesClass, "given", "(Ljava/lang/Object;)V"); });
}

constexpr Probe kProbes[] = {
    {kHikariPool, "<init>", "(Lcom/zaxxer/hikari/HikariConfig;)V", note_maker},
    {kCommonsPool, "<init>", kCommonsArguments, note_maker},
    {kTomcatPool, "<init>", "(Lorg/apache/tomcat/jdbc/pool/PoolConfiguration;)V", note_maker},
    {kH2Pool, "<init>", "(Ljavax/sql/ConnectionPoolDataSource;)V", note_maker},
    {kHikariBag, "borrow", "", take<push_listener>},
    {kHikariBag, "requite", "", give<push_listener>},
    {kHikariBag, "remove", "(Lcom/zaxxer/hikari/util/ConcurrentBag$IConcurrentBagEntry;)Z", remove_from_bag},
    {kCommonsPool, "borrowObject", kBorrowFor, take<push_pool>},
    {kCommonsPool, "borrowObject", "(J)Ljava/lang/Object;", borrow_for_milliseconds},
    {kCommonsPool, "returnObject", "(Ljava/lang/Object;)V", give<push_pool>},
    {kCommonsPool, "invalidateObject", kInvalidateBy, give<push_pool>},
    {kCommonsPool, "invalidateObject", "(Ljava/lang/Object;)V", invalidate},
    {kTomcatPool, "borrowConnection",
     "(ILjava/lang/String;Ljava/lang/String;)Lorg/apache/tomcat/jdbc/pool/PooledConnection;", take<push_pool>},
    {kTomcatPool, "returnConnection", "(Lorg/apache/tomcat/jdbc/pool/PooledConnection;)V", give<push_pool>},
    {kTomcatPool, "abandon", "(Lorg/apache/tomcat/jdbc/pool/PooledConnection;)V", give<push_pool>},
    {kH2Pool, "getConnectionNow", "()Ljava/sql/Connection;", take_now},
    {kH2Pool, "recycleConnection", "(Ljavax/sql/PooledConnection;)V", give<push_pool>},
    {kOldCommonsPool, "<init>", "", note_maker},
    {kOldCommonsPool, "borrowObject", "()Ljava/lang/Object;", take<push_pool>},
    {kOldCommonsPool, "returnObject", "(Ljava/lang/Object;)V", give<push_pool>},
    {kOldCommonsPool, "invalidateObject", "(Ljava/lang/Object;)V", give<push_pool>},
    {kKeyedPool, "borrowObject", "", borrow_by_key},
    {kKeyedPool, "returnObject", "(Ljava/lang/Object;Ljava/lang/Object;)V", give_by_key},
    {kKeyedPool, "invalidateObject", kInvalidateByKeyBy, give_by_key},
    {kKeyedPool, "invalidateObject", "(Ljava/lang/Object;Ljava/lang/Object;)V", invalidate_by_key},
    {kC3p0Pool, "<init>", "", note_maker},
    {kC3p0Pool, "checkoutResource", "(J)Ljava/lang/Object;", take_from_receiver},
    {kC3p0Pool, "checkinResource", "(Ljava/lang/Object;)V", give_to_receiver},
    {kDruidPool, "<init>", "", note_maker},
    {kDruidPool, "getConnectionInternal", "", take_from_receiver},
    {kDruidPool, "recycle", "", give_to_receiver},
    {kDruidPool, "discardConnection", "", give_to_receiver},
    {kAgroalPool, "<init>", "", note_maker},
    {kAgroalHandler, "acquire", "()Z", acquire_handler},
    {kAgroalPool, "*", "", change_state},
    {kAgroalPool, "borrowValidation", "", refuse_borrowed},
    {kAgroalPool, "isHealthy", "", check_health},
    {kHttpPool, "getPoolEntryBlocking", "", take_by_key},
    {kHttpPool, "release", "(Lorg/apache/http/pool/PoolEntry;Z)V", release_http},
    {kHttp5Runtime, "acquireEndpoint", "", acquire_endpoint},
    {kHttp5Pool, "release", "", release_endpoint},
    {kMongoPool, "<init>", "", note_maker},
    {kMongoPool, "get", "", take_from_receiver},
    {kMongoPool, "getImmediate*", "", take_from_receiver},
    {kMongoPool, "release", "", give_to_receiver},
};
constexpr AddedField kFields[] = {
    {kHikariPool, "contrafactPool", "I"},
    {kHikariPool, "contrafactMade", "I"},
    {kCommonsPool, "contrafactPool", "I"},
    {kCommonsPool, "contrafactMade", "I"},
    {kTomcatPool, "contrafactPool", "I"},
    {kTomcatPool, "contrafactMade", "I"},
    {kH2Pool, "contrafactPool", "I"},
    {kH2Pool, "contrafactMade", "I"},
    {kOldCommonsPool, "contrafactPool", "I"},
    {kOldCommonsPool, "contrafactMade", "I"},
    {kC3p0Pool, "contrafactPool", "I"},
    {kC3p0Pool, "contrafactMade", "I"},
    {kDruidPool, "contrafactPool", "I"},
    {kDruidPool, "contrafactMade", "I"},
    {kAgroalPool, "contrafactPool", "I"},
    {kAgroalPool, "contrafactMade", "I"},
    {kMongoPool, "contrafactPool", "I"},
    {kMongoPool, "contrafactMade", "I"},
    {kKeyedPool, "contrafactKeys", "Ljava/lang/Object;"},
    {kHttpPool, "contrafactKeys", "Ljava/lang/Object;"},
    {kHttp5Pool, "contrafactKeys", "Ljava/lang/Object;"},
};

}  // namespace

base::Status take_from_receiver(Edit& edit) {
  if (edit.method.is_constructor()) return base::Error{"a constructor takes nothing from its object"};
  const uint32_t pool = edit.object(), outer = edit.object();
  const classfile::TypeDescriptor& result = edit.code.descriptor.result;
  return edit.finish(
      [&](Sequence& s) {
        s.aload(0).dup().astore(pool);
        s.invokestatic(kResourcesClass, "dealing", "(Ljava/lang/Object;)Ljava/lang/Object;").astore(outer);
      },
      [&](Sequence& s) {
        if (result.is_reference() || result.kind == 'Z') {
          s.dup();
        } else {
          s.iconst(1);
        }
        s.aload(pool).aload(outer).invokestatic(kResourcesClass, "dealt", result.is_reference() ? kDealt : kTaken);
      },
      [&](Sequence& s) { s.aload(outer).invokestatic(kResourcesClass, "dealt", "(Ljava/lang/Object;)V"); });
}

base::Status give_to_receiver(Edit& edit) {
  if (edit.method.is_constructor()) return base::Error{"a constructor gives nothing to its object"};
  const uint32_t outer = edit.object();
  const auto end = [&](Sequence& s) { s.aload(outer).invokestatic(kResourcesClass, "dealt", "(Ljava/lang/Object;)V"); };
  return edit.finish(
      [&](Sequence& s) {
        s.aload(0).invokestatic(kResourcesClass, "giving", "(Ljava/lang/Object;)Ljava/lang/Object;").astore(outer);
      },
      end, end);
}

Family resource_family() {
  return {"resource", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
