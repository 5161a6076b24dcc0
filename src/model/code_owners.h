// Whose code a method is: the program's, a library's, or the platform's (the JDK, the C library). A place that advice
// names is the program's, so this decides where a person is sent.
//
// In a JVM, the place that the class was loaded from decides. The recording's facts `code.*` and `jvm.main` name it
// (docs/format.md):
//  1. the JDK's modules, and classes of its packages without a place of their own, are the platform's;
//  2. the program's are a class folder, the classes of a nested archive (BOOT-INF/classes, WEB-INF/classes), the main
//     class's packages, and classes made by a script or at run time, except proxies, which have no source;
//  3. known libraries (kLibraries in code_owners.cc) are libraries wherever they were loaded from: also when repacked
//     into the main jar, or in a recording without such facts;
//  4. the jar that the main class came from is the program's, every other jar a library.
// Patterns that the user gives replace all these rules: what they match is the program's, and all else is not.
// Pure; linear in methods and facts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/trace.h"

namespace contrafact::model {

// Facts: the place that the first recorded class of a package was loaded from; a class of that package that came from
// another place; the main class, or the jar that was started.
inline constexpr std::string_view kPackageFact = "code.package.";
inline constexpr std::string_view kClassFact = "code.class.";
inline constexpr std::string_view kMainFact = "jvm.main";

// `*` stands for any characters, dots included; a pattern without one is a class, or a package with all that is in it.
// REQUIRES: symbols are resolved.
void find_owners(Trace& trace, std::span<const std::string> program_patterns = {});

// "reactor-core" of "file:/srv/lib/reactor-core-3.6.2.jar"; empty if it names no jar.
std::string jar_name(std::string_view source);

}  // namespace contrafact::model
