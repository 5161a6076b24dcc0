// The name that the program's source gives an object, where it is kept in a field of a class on the current stack. Reads
// fields only: no Java code runs, and no class is looked for.
//
// Slow: walks the stack and the fields of its classes.
#pragma once

#include <jvmti.h>

#include <functional>
#include <string>
#include <string_view>

namespace contrafact::agent_jvm {

// "shop.Feed.POOL": a static field whose value `is_it` accepts, of a class of the program's among the innermost frames.
// Empty if there is none.
std::string static_field_on_stack(jvmtiEnv* jvmti, JNIEnv* jni, const std::function<bool(jobject value)>& is_it);

// "shop.Feed.pool": of the innermost class of the program's, the one instance field whose declared type `may_hold`
// accepts, by its signature. Empty if there is none or there are several, or if a class of the JDK's that `may_lie_between`
// does not accept is called in between: then the object may be that one's own. Whether an object's field really holds it
// is not checked: there is no receiver at hand.
std::string only_instance_field_on_stack(jvmtiEnv* jvmti, JNIEnv* jni,
                                         const std::function<bool(std::string_view signature)>& may_hold,
                                         const std::function<bool(std::string_view signature)>& may_lie_between);

}  // namespace contrafact::agent_jvm
