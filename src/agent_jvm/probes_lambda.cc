// The class that the lambda metafactory makes for a lambda or method reference never passes the class hook; so its
// maker reports which method it stands for.
#include "agent_jvm/agent_state.h"
#include "agent_jvm/probes.h"

namespace contrafact::agent_jvm {
namespace {

constexpr std::string_view kFactory = "java/lang/invoke/InnerClassLambdaMetafactory";

base::Status spin(Edit& edit) {
  return edit.at_exit([](Sequence& s) {
    s.dup()
        .aload(0)
        .getfield(kFactory, "implClass", "Ljava/lang/Class;")
        .aload(0)
        .getfield(kFactory, "implMethodName", "Ljava/lang/String;")
        .aload(0)
        .getfield(kFactory, "implInfo", "Ljava/lang/invoke/MethodHandleInfo;")
        .invokeinterface("java/lang/invoke/MethodHandleInfo", "getMethodType", "()Ljava/lang/invoke/MethodType;")
        .invokevirtual("java/lang/invoke/MethodType", "toMethodDescriptorString", "()Ljava/lang/String;")
        .invokestatic(kProbesClass, "lambda",
                      "(Ljava/lang/Class;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;)V");
  });
}

constexpr Probe kProbes[] = {{kFactory, "spinInnerClass", "", spin}};
constexpr AddedField kFields[] = {
    {"java/lang/Class", "contrafactBody", "I"},
    {"java/lang/Class", "contrafactInner", "J"},
    {"java/lang/Class", "contrafactLambda", "Ljava/lang/Object;"},
    {"java/lang/Class", "contrafactForks", "I"},
    {"java/lang/Class", "contrafactForkContext", "I"},
    {"java/lang/Class", "contrafactJoins", "I"},
    {"java/lang/Class", "contrafactJoinContext", "I"},
    {"java/lang/Class", "contrafactOwnContext", "I"},
    {"java/lang/Class", "contrafactHanded", "I"},
    {"java/lang/Class", "contrafactHandsOn", "I"},
    {"java/lang/Class", "contrafactTaskField", "J"},
    {"java/lang/Class", "contrafactPoolField", "J"},
    {"java/lang/Class", "contrafactKeysField", "J"},
};

}  // namespace

Family lambda_family() {
  return {"lambda", kProbes, kFields};
}

}  // namespace contrafact::agent_jvm
