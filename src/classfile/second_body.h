// Two bodies for a method: its own, and another one that runs instead while a function says so.
//
//   auto code = Code::parse(file, method);
//   Code second = *code;                       // with edits of its own
//   auto added = add_second_body(*code, second, file, method, {.observer = "java/lang/Observer"});
//   ... replace_code(i, code->encode(...)); and then, when all methods are done, file.add_method(added->access, ...)
//
// The second body becomes a private static method of the same name and class, whose last parameter is of the observer's
// class, or an array of it where the method is not static: so it is never another overload, and a stack trace shows the
// method's name with the right line. It runs in the method's place: the method holds its monitor if it is synchronized,
// and keeps its modifiers. It begins with
//
//     if (Observer.observers != 0 && Observer.observing()) return method(this, arguments..., null);
//
// on the line kSecondBodyLine, by which its frame, one more than without the edit, is known in a stack trace.
//
// Not thread-safe. Refuses constructors, initialisers of classes and what instrument_entry_exit refuses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/code.h"

namespace contrafact::classfile {

inline constexpr uint16_t kSecondBodyLine = 65535;

struct SecondBody {
  uint16_t access = 0;
  std::string name;
  std::string descriptor;
  std::vector<uint8_t> code;  // content of its Code attribute
};

// `second` is used up; it may be a copy of `code`, which has to outlive it. `code` gets the test at its entry: open_synchronized
// comes before that.
base::Result<SecondBody> add_second_body(Code& code, Code& second, ClassFile& file, const Member& method,
                                         std::string_view observer);

}  // namespace contrafact::classfile
