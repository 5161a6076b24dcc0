#include "model/code_owners.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

struct Source {
  std::string_view package;
  std::string_view location;
};

// A trace with a method of each class, and the facts that a recording of such a program holds.
Trace trace_of(std::string_view main, std::initializer_list<Source> sources,
               const std::vector<std::string>& class_names) {
  std::string text;
  if (!main.empty()) text += fmt::format("fact jvm.main {}\n", main);
  for (const Source& source : sources)
    text += fmt::format("fact {}{} \"{}\"\n", kPackageFact, source.package, source.location);
  text += "thread main\n";
  for (size_t i = 0; i < class_names.size(); ++i) text += fmt::format("method m{} {}.run\n", i + 1, class_names[i]);
  text += "0 main thread_begin\n9 main thread_end\n";
  base::Result<Trace> trace = parse_text(text);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return *std::move(trace);
}

// "" the program's, "JDK", or the library's name.
std::vector<std::string> owners_of(Trace trace, const std::vector<std::string>& patterns = {}) {
  find_owners(trace, patterns);
  std::vector<std::string> owners;
  for (uint32_t i = 0; i < trace.methods.size(); ++i) owners.emplace_back(trace.owner_name(MethodId(i)));
  return owners;
}

using Names = std::vector<std::string>;

// Spring, Hibernate and others make classes around those of a program.
TEST(CodeOwners, AProxyIsNobodysSource) {
  const Trace trace =
      trace_of("shop.Main", {{"shop", "file:/home/a/shop/target/classes/"}},
               {"shop.Service$$SpringCGLIB$$0", "shop.Order$HibernateProxy$x7Qk", "shop.$Proxy9", "shop.Service"});
  EXPECT_EQ(owners_of(trace), (Names{"JDK", "JDK", "JDK", ""}));
  Trace with_files = *parse_text(
      "fact jvm.main shop.Main\nthread main\nmethod m1 shop.Service.work <generated>:1\n"
      "method m2 shop.Main$$anon$1.run Main.scala:9\n0 main thread_begin\n9 main thread_end\n");
  EXPECT_EQ(owners_of(std::move(with_files)), (Names{"JDK", ""}));
}

TEST(CodeOwners, AClassFolderIsTheProgramsAndAJarOfItsOwnALibrary) {
  const Trace trace = trace_of("shop.Main",
                               {{"shop", "file:/home/a/shop/target/classes/"},
                                {"reactor.core.scheduler", "file:/home/a/.m2/reactor-core-3.6.2.jar"},
                                {"com.acme.pool", "file:/home/a/.m2/acme-pool-1.0-SNAPSHOT.jar"}},
                               {"shop.Feed", "reactor.core.scheduler.BoundedElasticScheduler", "com.acme.pool.Pool",
                                "java.util.concurrent.FutureTask"});
  EXPECT_EQ(owners_of(trace), (Names{"", "Reactor", "acme-pool", "JDK"}));
}

TEST(CodeOwners, TheJarOfTheMainClassIsTheProgramsOthersAreNot) {
  const Trace trace = trace_of("com.shop.server.start.Main",
                               {{"com.shop.server.start", "file:/opt/shop/lib/shop-server-2.1.jar"},
                                {"com.shop.server.feed", "file:/opt/shop/lib/shop-feed-2.1.jar"},
                                {"tools", "file:/opt/shop/lib/shop-server-2.1.jar"},
                                {"com.other", "file:/opt/shop/lib/other.jar"},
                                {"com.google.common.util.concurrent", "file:/opt/shop/lib/guava-33.0.0-jre.jar"}},
                               {"com.shop.server.start.Main", "com.shop.server.feed.Feed", "tools.Job", "com.other.A",
                                "com.google.common.util.concurrent.AbstractFuture"});
  EXPECT_EQ(owners_of(trace), (Names{"", "", "", "other", "Guava"}));
}

// As Spring Boot's loaders write them, before and from 3.2 on. Its main class is the loader's.
TEST(CodeOwners, NestedJarsOfSpringBoot) {
  const std::vector<std::string> classes{"com.example.demo.DemoApplication",
                                         "org.springframework.core.task.SyncTaskExecutor", "com.vendor.Client",
                                         "org.springframework.boot.loader.launch.JarLauncher"};
  const Trace now =
      trace_of("app.jar",
               {{"com.example.demo", "jar:nested:/srv/app.jar/!BOOT-INF/classes/!/"},
                {"org.springframework.core.task", "jar:nested:/srv/app.jar/!BOOT-INF/lib/spring-core-6.1.4.jar!/"},
                {"com.vendor", "jar:nested:/srv/app.jar/!BOOT-INF/lib/vendor-client-2.0.1.jar!/"},
                {"org.springframework.boot.loader.launch", "file:/srv/app.jar"}},
               classes);
  const Trace before =
      trace_of("/srv/app.jar",
               {{"com.example.demo", "jar:file:/srv/app.jar!/BOOT-INF/classes!/"},
                {"org.springframework.core.task", "jar:file:/srv/app.jar!/BOOT-INF/lib/spring-core-5.3.9.jar!/"},
                {"com.vendor", "jar:file:/srv/app.jar!/BOOT-INF/lib/vendor-client-2.0.1.jar!/"},
                {"org.springframework.boot.loader.launch", "file:/srv/app.jar"}},
               classes);
  EXPECT_EQ(owners_of(now), (Names{"", "Spring", "vendor-client", "Spring"}));
  EXPECT_EQ(owners_of(before), (Names{"", "Spring", "vendor-client", "Spring"}));
}

// Everything in one jar: known libraries are known by their packages.
TEST(CodeOwners, ARepackedJarHoldsBoth) {
  const std::string_view jar = "file:/srv/app-fat.jar";
  const Trace trace =
      trace_of("app-fat.jar",
               {{"com.shop", jar},
                {"io.vertx.core.impl", jar},
                {"scala.concurrent.impl", jar},
                {"org.apache.pekko.dispatch", jar},
                {"io.netty.util.concurrent", jar}},
               {"com.shop.MainVerticle", "io.vertx.core.impl.TaskQueue", "scala.concurrent.impl.Promise$Transformation",
                "org.apache.pekko.dispatch.Mailbox", "io.netty.util.concurrent.SingleThreadEventExecutor"});
  EXPECT_EQ(owners_of(trace), (Names{"", "Vert.x", "Scala", "Pekko", "Netty"}));
}

// clojure.main and GroovyStarter start what they compile: such classes have no place, or their script's.
TEST(CodeOwners, ScriptsAreTheProgramTheirLanguageIsNot) {
  const Trace clojure = trace_of(
      "clojure.main",
      {{"clojure.core", "file:/usr/share/java/clojure-1.11.jar"}, {"clojure", "file:/usr/share/java/clojure-1.11.jar"}},
      {"clojure.core$future_call$reify__8544", "work$slow", "clojure.main"});
  EXPECT_EQ(owners_of(clojure), (Names{"Clojure", "", "Clojure"}));
  const Trace groovy =
      trace_of("org.codehaus.groovy.tools.GroovyStarter",
               {{"", "file:/groovy/script"},
                {"org.codehaus.groovy.tools", "file:/usr/share/groovy/lib/groovy-4.0.18.jar"},
                {"groovyx.gpars", "file:/usr/share/groovy/lib/gpars-1.2.1.jar"}},
               {"work$_run_closure1", "groovyx.gpars.GParsPool", "org.codehaus.groovy.tools.GroovyStarter"});
  EXPECT_EQ(owners_of(groovy), (Names{"", "GPars", "Groovy"}));
}

// Whoever works on a library records it from class folders, and its tests share its packages.
TEST(CodeOwners, ALibrarysOwnFolderIsTheProgram) {
  const Trace trace = parse_text(R"(fact jvm.main com.google.common.util.concurrent.Bench
fact code.package.com.google.common.util.concurrent file:/home/a/guava/target/guava-34.jar
fact code.class.com.google.common.util.concurrent.Bench file:/home/a/guava/target/test-classes/
thread main
method m1 com.google.common.util.concurrent.Bench.run
method m2 com.google.common.util.concurrent.Futures.get
0 main thread_begin
9 main thread_end
)")
                          .value();
  EXPECT_EQ(owners_of(trace), (Names{"", "Guava"}));
}

TEST(CodeOwners, AnOldRecordingKnowsLibrariesByName) {
  const Trace trace =
      trace_of("", {}, {"shop.Feed", "reactor.core.publisher.Mono", "java.lang.Thread", "com.sun.proxy.P"});
  EXPECT_EQ(owners_of(trace), (Names{"", "Reactor", "JDK", "JDK"}));
}

TEST(CodeOwners, ModulesOfTheJdkAreItsOwnOthersAreTheirs) {
  const Trace trace = trace_of(
      "shop.Main",
      {{"shop", "jrt:/com.shop"}, {"org.lib", "jrt:/org.lib"}, {"javax.servlet", "file:/l/servlet-api-4.0.jar"}},
      {"shop.Main", "org.lib.A", "javax.servlet.Servlet", "javax.sql.DataSource"});
  EXPECT_EQ(owners_of(trace), (Names{"", "org.lib", "servlet-api", "JDK"}));
}

TEST(CodeOwners, PatternsSayOtherwise) {
  const Trace trace =
      trace_of("shop.Main", {{"shop", "file:/classes/"}, {"com.acme", "file:/l/acme-1.jar"}},
               {"shop.Main", "com.acme.Pool", "com.acme.Pool$Worker", "com.acmes.B", "java.lang.Thread"});
  EXPECT_EQ(owners_of(trace, {"com.acme"}), (Names{"shop", "", "", "com.acmes", "JDK"}));
  EXPECT_EQ(owners_of(trace, {"com.acme.Pool"}), (Names{"shop", "", "", "com.acmes", "JDK"}));
  EXPECT_EQ(owners_of(trace, {"*.Pool$*", "shop.*"}), (Names{"", "acme", "", "com.acmes", "JDK"}));
}

// A harness starts it, and every class lies in a jar that is not the harness's.
TEST(CodeOwners, WithoutAnyCodeOfTheProgramJarsAre) {
  const Trace trace = trace_of(
      "org.junit.platform.console.ConsoleLauncher",
      {{"org.junit.platform.console", "file:/l/junit-platform-console-1.10.jar"}, {"com.acme", "file:/l/acme-1.jar"}},
      {"com.acme.PoolTest", "org.junit.platform.console.ConsoleLauncher"});
  EXPECT_EQ(owners_of(trace), (Names{"", "JUnit"}));
}

TEST(CodeOwners, APlaceIsTheInnermostOfTheProgramAndTheLibraryIsNamedBesideIt) {
  Trace trace = parse_text(R"(fact jvm.main shop.Main
fact code.package.shop file:/classes/
fact code.package.reactor.core.publisher file:/l/reactor-core-3.6.2.jar
thread main
method m1 shop.Main.main Main.java:10
method m2 reactor.core.publisher.Mono.subscribe Mono.java:4400
method m3 reactor.core.scheduler.BoundedElasticScheduler.schedule BoundedElasticScheduler.java:947
method m4 java.util.concurrent.ThreadPoolExecutor.execute ThreadPoolExecutor.java:1329
context c1 - m1:11
context c2 c1 m2:4512
context c3 c2 m3:950
context c4 c3 m4:1350
context c5 - m3:950
context c6 c5 m4:1350
context c7 - m4:1350
0 main thread_begin
9 main thread_end
)")
                    .value();
  find_owners(trace);
  const ContextId main(0), spawn(3), library(4), in_library(5), jdk(6);
  EXPECT_EQ(trace.program_frame(spawn), main);
  EXPECT_EQ(trace.called_library(spawn), "Reactor");
  EXPECT_EQ(trace.called_library(main), "");
  EXPECT_EQ(trace.program_frame(in_library), library);
  EXPECT_FALSE(trace.has_program_frame(in_library));
  EXPECT_EQ(trace.called_library(in_library), "");
  EXPECT_EQ(trace.program_frame(jdk), jdk);
  EXPECT_FALSE(trace.has_program_frame(jdk));
}

TEST(CodeOwners, JarsAreNamedWithoutTheirVersion) {
  EXPECT_EQ(jar_name("file:/m2/reactor-core-3.6.2.jar"), "reactor-core");
  EXPECT_EQ(jar_name("jar:nested:/a.jar/!BOOT-INF/lib/guava-33.0.0-jre.jar!/"), "guava");
  EXPECT_EQ(jar_name("file:/m2/my-lib.jar"), "my-lib");
  EXPECT_EQ(jar_name("file:/m2/classes/"), "");
}

}  // namespace
}  // namespace contrafact::model
