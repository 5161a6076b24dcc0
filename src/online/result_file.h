// What the result files of the built-in analyses have in common: pieces of JSON.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>

#include "contrafact/analysis.h"

namespace contrafact::online {

// A string of JSON, of UTF-8.
std::string quoted(const char* text);

// Class, name, descriptor, file and line of a method, as elements of an array; for code outside "" and "(outside)".
std::string method_fields(const contrafact_host& host, uint32_t id);

// The members of the object `run`; `more` are the analysis's own.
void write_run(std::FILE* file, const contrafact_run& run,
               std::initializer_list<std::pair<const char*, uint64_t>> more);

}  // namespace contrafact::online
