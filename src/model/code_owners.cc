#include "model/code_owners.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <vector>

#include "base/glob.h"
#include "model/processes.h"

namespace contrafact::model {
namespace {

struct KnownLibrary {
  std::string_view package;  // with its last dot
  std::string_view name;
};

// The libraries between a program and the JDK's executors, by the names that people write. A library in a jar of its
// own needs no row: the rows are for repacked jars, for old recordings, and for the name.
constexpr KnownLibrary kLibraries[] = {
    {"akka.", "Akka"},
    {"cats.effect.", "Cats Effect"},
    {"ch.qos.logback.", "Logback"},
    {"clojure.", "Clojure"},
    {"com.fasterxml.jackson.", "Jackson"},
    {"com.github.benmanes.caffeine.", "Caffeine"},
    {"com.google.common.", "Guava"},
    {"com.lmax.disruptor.", "Disruptor"},
    {"com.zaxxer.hikari.", "HikariCP"},
    {"groovy.", "Groovy"},
    {"groovyx.gpars.", "GPars"},
    {"io.grpc.", "gRPC"},
    {"io.micronaut.", "Micronaut"},
    {"io.netty.", "Netty"},
    {"io.quarkus.", "Quarkus"},
    {"io.reactivex.", "RxJava"},
    {"io.smallrye.", "SmallRye"},
    {"io.undertow.", "Undertow"},
    {"io.vertx.", "Vert.x"},
    {"junit.", "JUnit"},
    {"kotlin.", "Kotlin"},
    {"kotlinx.coroutines.", "Kotlin coroutines"},
    {"monix.", "Monix"},
    {"okhttp3.", "OkHttp"},
    {"org.apache.catalina.", "Tomcat"},
    {"org.apache.commons.", "Apache Commons"},
    {"org.apache.coyote.", "Tomcat"},
    {"org.apache.groovy.", "Groovy"},
    {"org.apache.hc.", "Apache HttpClient"},
    {"org.apache.http.", "Apache HttpClient"},
    {"org.apache.logging.", "Log4j"},
    {"org.apache.maven.", "Maven"},
    {"org.apache.pekko.", "Pekko"},
    {"org.apache.tomcat.", "Tomcat"},
    {"org.codehaus.groovy.", "Groovy"},
    {"org.eclipse.jetty.", "Jetty"},
    {"org.gradle.", "Gradle"},
    {"org.hibernate.", "Hibernate"},
    {"org.jboss.threads.", "JBoss Threads"},
    {"org.junit.", "JUnit"},
    {"org.openjdk.jmh.", "JMH"},
    {"org.slf4j.", "SLF4J"},
    {"org.springframework.", "Spring"},
    {"org.testng.", "TestNG"},
    {"org.xnio.", "XNIO"},
    {"reactor.", "Reactor"},
    {"rx.", "RxJava"},
    {"scala.", "Scala"},
    {"zio.", "ZIO"},
};

constexpr std::array<std::string_view, 5> kPlatformPackages{"java.", "javax.", "jdk.", "sun.", "com.sun."};

// Folders of archives, and of a distribution, that hold the program's classes alone.
constexpr std::array<std::string_view, 3> kProgramFolders{"BOOT-INF/classes", "WEB-INF/classes", "/quarkus-app/app/"};

std::string_view package_of(std::string_view class_name) {
  const size_t dot = class_name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : class_name.substr(0, dot);
}

std::string_view library_of_package(std::string_view class_name) {
  for (const KnownLibrary& library : kLibraries) {
    if (class_name.starts_with(library.package)) return library.name;
  }
  return "";
}

bool is_platform_package(std::string_view class_name) {
  return std::ranges::any_of(kPlatformPackages,
                             [&](std::string_view prefix) { return class_name.starts_with(prefix); });
}

bool is_platform_module(std::string_view source) {
  return source.starts_with("jrt:/java.") || source.starts_with("jrt:/jdk.");
}

// "nested:/app.jar/!BOOT-INF/lib/a.jar!/" -> "a.jar"
std::string_view last_part(std::string_view source) {
  while (source.ends_with('/') || source.ends_with('!')) source.remove_suffix(1);
  return source.substr(source.find_last_of("/!") + 1);  // npos + 1: all of it
}

bool is_jar(std::string_view source) {
  return last_part(source).ends_with(".jar");
}

bool chosen(std::string_view pattern, std::string_view name) {
  if (pattern.find('*') != std::string_view::npos) return base::matches_glob(pattern, name);
  if (!name.starts_with(pattern)) return false;
  const std::string_view rest = name.substr(pattern.size());
  return rest.empty() || pattern.ends_with('.') || rest[0] == '.' || rest[0] == '$' || rest.starts_with("::");
}

// The places that classes came from, as far as the recording says.
class Sources {
 public:
  explicit Sources(const Trace& trace) {
    for (const Fact& fact : trace.facts) {
      const std::string_view key = fact.key;
      if (key.starts_with(kPackageFact)) of_package_.emplace(key.substr(kPackageFact.size()), fact.value);
      if (key.starts_with(kClassFact)) of_class_.emplace(key.substr(kClassFact.size()), fact.value);
      if (key == kMainFact || is_of_process(key)) mains_.push_back({.name = fact.value});
    }
    if (mains_.empty()) mains_.emplace_back();
    for (Main& main : mains_) find_code(main);
  }

  // Empty: not known, or made at run time.
  std::string_view of(std::string_view class_name) const {
    if (const auto found = of_class_.find(class_name); found != of_class_.end()) return found->second;
    const auto found = of_package_.find(package_of(class_name));
    return found == of_package_.end() ? std::string_view() : found->second;
  }

  bool in_main_packages(std::string_view class_name) const {
    return std::ranges::any_of(mains_, [&](const Main& main) {
      return !main.package.empty() && class_name.starts_with(main.package) &&
             class_name.substr(main.package.size()).starts_with('.');
    });
  }

  bool is_main(std::string_view source) const {
    return std::ranges::any_of(mains_, [&](const Main& main) {
      return main.is_jar ? last_part(source) == last_part(main.name) : source == main.source;
    });
  }

 private:
  // What was started: a class or a jar. Several recorded processes may have different ones.
  struct Main {
    std::string_view name;
    std::string_view source;
    std::string_view package;
    bool is_jar = false;
  };

  // `process.1.jvm.main`
  static bool is_of_process(std::string_view key) {
    if (!key.starts_with(kProcessFact) || !key.ends_with(kMainFact)) return false;
    key.remove_prefix(kProcessFact.size());
    const size_t digits = std::min(key.find_first_not_of("0123456789"), key.size());
    return digits > 0 && key.size() == digits + 1 + kMainFact.size() && key[digits] == '.';
  }

  void find_code(Main& main) const {
    main.is_jar = is_jar(main.name);
    if (main.is_jar) return;
    main.source = of(main.name);
    if (library_of_package(main.name).empty() && !is_platform_package(main.name))
      main.package = cut_to_three(package_of(main.name));
  }

  // A program's packages begin alike: com.acme.shop of com.acme.shop.server.start.
  static std::string_view cut_to_three(std::string_view package) {
    size_t end = 0;
    for (int part = 0; part < 3 && end != std::string_view::npos; ++part) end = package.find('.', end + (part > 0));
    package = package.substr(0, end);
    // "com" and its like are everybody's.
    constexpr size_t kTopLevelMax = 3;
    return package.size() <= kTopLevelMax ? std::string_view() : package;
  }

  std::unordered_map<std::string_view, std::string_view> of_class_, of_package_;
  std::vector<Main> mains_;
};

std::string library_name(std::string_view class_name, std::string_view source) {
  if (const std::string_view known = library_of_package(class_name); !known.empty()) return std::string(known);
  if (source.starts_with("jrt:/")) return std::string(source.substr(std::string_view("jrt:/").size()));
  return jar_name(source);
}

// Decides about one class at a time: a library's name, or one of the two marks.
class Decider {
 public:
  Decider(const Trace& trace, std::span<const std::string> patterns) : sources_(trace), patterns_(patterns) {}

  // No class was found to be the program's: then every jar is, except those of known libraries.
  void take_jars() { jars_are_programs_ = true; }

  struct Verdict {
    uint32_t owner = CodeOwners::kProgram;
    std::string library;
  };

  Verdict of(std::string_view class_name) const {
    const std::string_view source = sources_.of(class_name);
    if (!patterns_.empty()) {
      if (std::ranges::any_of(patterns_, [&](const std::string& p) { return chosen(p, class_name); })) return {};
      if (is_platform(class_name, source)) return {CodeOwners::kPlatform, {}};
      const std::string name = library_name(class_name, source);
      return library(name.empty() ? std::string(package_of(class_name)) : name);
    }
    if (is_platform(class_name, source)) return {CodeOwners::kPlatform, {}};
    if (is_programs_folder(source) || sources_.in_main_packages(class_name)) return {};
    if (const std::string_view known = library_of_package(class_name); !known.empty())
      return library(std::string(known));
    const bool packed = is_jar(source) || source.starts_with("jrt:/");
    return !packed || jars_are_programs_ || sources_.is_main(source) ? Verdict{}
                                                                     : library(library_name(class_name, source));
  }

 private:
  static Verdict library(std::string name) { return {CodeOwners::kLibraries, std::move(name)}; }

  static bool is_platform(std::string_view class_name, std::string_view source) {
    if (class_name == kNativeRuntime) return true;
    return source.empty() ? is_platform_package(class_name) : is_platform_module(source);
  }

  static bool is_programs_folder(std::string_view source) {
    if (std::ranges::any_of(kProgramFolders,
                            [&](std::string_view folder) { return source.find(folder) != std::string_view::npos; }))
      return true;
    return source.ends_with('/') && !is_jar(source);
  }

  Sources sources_;
  std::span<const std::string> patterns_;
  bool jars_are_programs_ = false;
};

// A class that a library made at run time, in the program's package: a proxy around methods of the program's. It has no
// source. The place to look at is the program's code that called it.
bool is_proxy(std::string_view class_name, std::string_view file) {
  if (file == "<generated>") return true;
  constexpr std::string_view kMarks[] = {"$$", "$Proxy", "Proxy$", "ByteBuddy"};
  return file.empty() && std::ranges::any_of(kMarks, [&](std::string_view mark) {
           return class_name.find(mark) != std::string_view::npos;
         });
}

void decide_classes(Trace& trace, const Decider& decider, bool by_patterns) {
  CodeOwners& owners = trace.owners;
  std::unordered_map<uint32_t, uint32_t> of_class;  // by the name's row
  for (size_t i = 0; i < trace.methods.size(); ++i) {
    const StringId name = trace.methods[i].class_name;
    const auto [known, added] = of_class.try_emplace(name.value, CodeOwners::kProgram);
    if (added) {
      const Decider::Verdict verdict = decider.of(trace.string(name));
      known->second = verdict.owner == CodeOwners::kLibraries ? owners.library(verdict.library) : verdict.owner;
    }
    owners.of_method[i] = known->second;
    if (!by_patterns && is_proxy(trace.string(name), trace.string(trace.methods[i].file)))
      owners.of_method[i] = CodeOwners::kPlatform;
  }
}

// The code that found a native function's name has looked at the function's object file.
void decide_functions(Trace& trace, std::span<const std::string> patterns) {
  CodeOwners& owners = trace.owners;
  for (size_t i = 0; i < trace.methods.size(); ++i) {
    const format::MethodRow& method = trace.methods[i];
    if (trace.string(method.class_name) == kNativeRuntime) owners.of_method[i] = CodeOwners::kPlatform;
    if (patterns.empty()) continue;
    const std::string_view name = trace.string(method.name);
    if (std::ranges::any_of(patterns, [&](const std::string& pattern) { return chosen(pattern, name); }))
      owners.of_method[i] = CodeOwners::kProgram;
    else if (owners.of_method[i] == CodeOwners::kProgram)
      owners.of_method[i] = owners.library("other code");
  }
}

}  // namespace

std::string jar_name(std::string_view source) {
  std::string_view name = last_part(source);
  if (!name.ends_with(".jar")) return "";
  name.remove_suffix(std::string_view(".jar").size());
  for (size_t at = name.find('-'); at != std::string_view::npos; at = name.find('-', at + 1)) {
    if (at + 1 < name.size() && name[at + 1] >= '0' && name[at + 1] <= '9') return std::string(name.substr(0, at));
  }
  return std::string(name);
}

void find_owners(Trace& trace, std::span<const std::string> program_patterns) {
  CodeOwners& owners = trace.owners;
  owners.of_method.resize(trace.methods.size(), CodeOwners::kProgram);
  if (trace.fact("agent") == "native") return decide_functions(trace, program_patterns);
  Decider decider(trace, program_patterns);
  decide_classes(trace, decider, !program_patterns.empty());
  if (!program_patterns.empty() || std::ranges::find(owners.of_method, CodeOwners::kProgram) != owners.of_method.end())
    return;
  owners.libraries.clear();
  decider.take_jars();
  decide_classes(trace, decider, false);
}

}  // namespace contrafact::model
