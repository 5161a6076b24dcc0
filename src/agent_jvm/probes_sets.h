// The edits of --sets on one method (probes_sets.cc).
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "agent_jvm/edits.h"
#include "base/result.h"
#include "classfile/second_body.h"

namespace contrafact::agent_jvm {

class FieldNumbers;

// Whether what the class's methods access counts. Its internal name.
bool may_be_observed(std::string_view class_name);

// The method's own body carries taints while its thread is observed; the first edit of a method that observe_in_place()
// will concern. `has_sections`: the method is one of a chosen class, in which sections begin and end.
base::Status track_in_place(Edit& edit, FieldNumbers& fields, bool has_sections);
// The method's own body tells what it accesses, while its thread is observed. `with_flow`: it is tracked, too.
base::Status observe_in_place(Edit& edit, FieldNumbers& fields, bool with_flow);
// A second body does, which runs instead while its thread is observed. The caller adds it to the class. Nothing where the
// method does it in place, since it matters who calls what it calls, or has nothing to tell.
// `with_flow`: the second one carries taints, and its own one looks for what is tainted outside of sections.
base::Result<std::optional<classfile::SecondBody>> observe_apart(Edit& edit, FieldNumbers& fields, bool with_flow);
// Of a class that is not chosen: whether the method does it in place.
bool is_observed_in_place(const Edit& edit);
// What the method does is the JVM's affair: an initialiser of a class.
base::Status pause_observation(Edit& edit);
// The method says that it cannot be observed.
base::Status tell_of_unobserved(Edit& edit);

// Of a chosen class. A method that takes a lock may end before it has given it back, and the section goes on in its
// caller: of this one it is known that it is observed if it says so.
base::Status follow_section_to_caller(Edit& edit);
// The method's calls are told of, if it takes a lock: a long one ends a part of the section.
base::Status tell_parts(Edit& edit, const std::function<int32_t(uint32_t pc)>& place_of);
base::Status return_observed(Edit& edit);

}  // namespace contrafact::agent_jvm
