// For classes of the JDK and of common libraries, which are not made for many threads, the class to use instead (FlowProf,
// pattern 2: threads come in each other's way only because of how the data are held).
//
// To add one: a row in the table of replacements.cc. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/conflict_places.h"

namespace contrafact::advise {

struct Replacement {
  std::string_view class_name;  // with package; what lies in it ($) counts as well
  std::string_view by;
  std::string_view reason;  // why that helps, and when
};

// Null: another data structure is to be thought of. Of several classes that nearly as many pairs conflict on, the one
// that stands first in the table.
const Replacement* replacement_for(const std::vector<analysis::ConflictField>& fields);

}  // namespace contrafact::advise
