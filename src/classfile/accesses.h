// Code around the instructions of a method that read and write fields, statics and elements of arrays, or make objects:
// calls of static functions of one class, the observer, which is told what is accessed.
//
//   AccessProbe probe{.observer = "java/lang/Observer", .number = ...};
//   auto count = probe_accesses(code, file, probe);
//
// The observer's functions; V stands for I (also of boolean, byte, char and short), J, F, D and java.lang.Object:
//
//   read(Object, int number)                          before a field is read; the object may be null
//   readStatic(int number)
//   wrote(Object, V before, V after, int number)      before a field is written, with what it holds and will hold
//   wroteStatic(V before, V after, int number)
//   readElement(Object array, int index)              before an element is read; the array may be null, the index wrong
//   storing(V[] array, int index, V value, int adds)  before one is written; of byte and boolean arrays an Object
//   made(Object)                                      behind the making of an array
//
// `number` names the field. With kAdds set in it, or `adds` not 0, the write adds to or subtracts from the old value, which
// nothing else uses: of `x += n` where n is a constant or a local variable, there is no read beside it.
//
// Of a constructor's writes to fields of `this` before the call of this() or super() nothing is told. Code that an edit
// inserted is left alone. Not thread-safe. An error says why the method cannot be instrumented; then drop the Code.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "classfile/class_file.h"
#include "classfile/code.h"

namespace contrafact::classfile {

struct FieldSite {
  std::string_view owner;  // as the instruction names it: the class that declares the field, or one derived from that
  std::string_view name;
  bool is_static = false;
  bool is_write = false;
};

struct AccessProbe {
  static constexpr uint32_t kAdds = uint32_t{1} << 31;
  std::string_view observer;                         // its internal name
  std::function<uint32_t(const FieldSite&)> number;  // below kAdds; 0: the access is not observed
  bool when_observed = false;                        // only while the observer's static `int observers` is not 0
};

// Yields how many instructions are observed.
base::Result<size_t> probe_accesses(Code& code, ClassFile& file, const AccessProbe& probe);

}  // namespace contrafact::classfile
