// Pools of connections and other objects, of which there are only so many: HikariCP, Apache Commons Pool (and DBCP on
// top of it), Tomcat's JDBC pool, H2's. Whoever has one of its objects has a permit of the pool's. Waiting for one is
// blocking like any other (probes_park.cc); model/library_calls.cc knows by these methods what it was for.
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
};
constexpr AddedField kFields[] = {
    {kHikariPool, "contrafactPool", "I"},  {kHikariPool, "contrafactMade", "I"}, {kCommonsPool, "contrafactPool", "I"},
    {kCommonsPool, "contrafactMade", "I"}, {kTomcatPool, "contrafactPool", "I"}, {kTomcatPool, "contrafactMade", "I"},
    {kH2Pool, "contrafactPool", "I"},      {kH2Pool, "contrafactMade", "I"},
};

}  // namespace

Family resource_family() {
  return {"resource", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
