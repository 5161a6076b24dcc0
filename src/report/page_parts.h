// What the pages of this folder share. Pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "report/profile.h"

namespace contrafact::report {

// A section with a heading, the table's sentence, the table and its notes.
std::string table_html(const PageTable& one);

// Replaces {{name}} by its value, once through: values are not searched. REQUIRES: each name has a value.
std::string fill(std::string_view form, const std::map<std::string, std::string>& values);

}  // namespace contrafact::report
