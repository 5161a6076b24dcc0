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

// In the table's order; without those that are in scope on no known line. Empty for what is malformed.
std::vector<NamedLocal> named_locals(const ClassFile& file, const Member& method);

}  // namespace contrafact::classfile
