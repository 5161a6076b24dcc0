// The local variables and parameters of a method that its LocalVariableTable names (JVMS 4.7.13): compilers write one with
// -g, as Maven and Gradle ask them to. A pure function.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "classfile/class_file.h"

namespace contrafact::classfile {

struct NamedLocal {
  std::string_view name;
  std::string_view descriptor;  // "Ljava/util/concurrent/ExecutorService;"
  uint16_t first_line = 0;      // of the lines within which the variable has a value
  uint16_t last_line = 0;
};

// The variables whose descriptor is `wanted`, in the table's order, without those that are in scope on no known line. Their
// lines go from the first to the last line of the scope, though the code between may have others. Empty if the method is
// malformed.
std::vector<NamedLocal> named_locals(const ClassFile& file, const Member& method, bool (*wanted)(std::string_view));

}  // namespace contrafact::classfile
