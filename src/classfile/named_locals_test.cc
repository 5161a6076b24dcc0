#include "classfile/named_locals.h"

#include <gtest/gtest.h>

#include <string>

#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {

constexpr std::string_view kExecutor = "Ljava/util/concurrent/ExecutorService;";

bool is_executor(std::string_view descriptor) {
  return descriptor == kExecutor;
}

// Four lines, 10 to 13, of one instruction each, and a variable `pool`; the last bytes of its table may be missing.
TestClass class_with_local(uint16_t start, uint16_t length, size_t bytes_cut = 0,
                           std::string_view descriptor = kExecutor) {
  return TestClass(52, [=](ClassFile& file) {
    ByteWriter table;
    table.u2(1);
    table.u2(start), table.u2(length);
    table.u2(file.pool().add_utf8("pool")), table.u2(file.pool().add_utf8(descriptor));
    table.u2(1);
    std::vector<uint8_t> locals = table.release();
    locals.resize(locals.size() - bytes_cut);
    const RawCode raw{.code = {kNop, kNop, kNop, kReturn},
                      .attributes = {{"LineNumberTable", {0, 4, 0, 0, 0, 10, 0, 1, 0, 11, 0, 2, 0, 12, 0, 3, 0, 13}},
                                     {"LocalVariableTable", locals}}};
    return class_with_method(file, raw, kAccStatic, "m", "()V");
  });
}

std::string listed(const TestClass& test) {
  std::string text;
  for (const NamedLocal& local : named_locals(*test.file, test.method(), is_executor)) {
    text += std::string(local.name) + " " + std::string(local.descriptor) + " " + std::to_string(local.first_line) +
            "-" + std::to_string(local.last_line) + ";";
  }
  return text;
}

TEST(NamedLocals, HaveTheLinesOfTheirScope) {
  const std::string variable = "pool " + std::string(kExecutor);
  EXPECT_EQ(listed(class_with_local(0, 4)), variable + " 10-13;");
  EXPECT_EQ(listed(class_with_local(1, 2)), variable + " 11-12;");
  EXPECT_EQ(listed(class_with_local(3, 1)), variable + " 13-13;");
}

TEST(NamedLocals, AreNoneWhereNothingNamesThem) {
  EXPECT_EQ(listed(class_with_local(2, 0)), "");
  EXPECT_EQ(listed(class_with_local(1, 2, 4)), "");
  EXPECT_EQ(listed(class_with_local(1, 2, 0, "Ljava/lang/String;")), "");
  EXPECT_EQ(listed(TestClass(RawCode{.code = {kReturn}})), "");
}

}  // namespace
}  // namespace contrafact::classfile
