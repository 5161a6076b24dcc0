// Annotations of a member that are kept at run time (JVMS 4.7.16). A pure function.
#pragma once

#include <string_view>

#include "classfile/class_file.h"

namespace contrafact::classfile {

// Whether `member` has an annotation of this type ("Ljava/lang/Deprecated;"). False for malformed ones.
bool has_annotation(const ClassFile& file, const Member& member, std::string_view type);

}  // namespace contrafact::classfile
