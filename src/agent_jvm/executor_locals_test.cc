#include "agent_jvm/executor_locals.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "classfile/test_class.h"

namespace contrafact::agent_jvm {
namespace {

using classfile::ByteWriter;
using classfile::ClassFile;
using classfile::TestClass;

// A method `m` of one line, 10, with `count` variables of this type, called `name`.
TestClass class_with(std::string_view descriptor, std::string_view name = "pool", uint32_t count = 1) {
  return TestClass(52, [&](ClassFile& file) {
    ByteWriter table;
    table.u2(count);
    for (uint32_t i = 0; i < count; ++i) {
      table.u2(0), table.u2(1);
      table.u2(file.pool().add_utf8(name)), table.u2(file.pool().add_utf8(descriptor));
      table.u2(1);
    }
    const classfile::RawCode raw{
        .code = {classfile::kReturn},
        .attributes = {{"LineNumberTable", {0, 1, 0, 0, 0, 10}}, {"LocalVariableTable", table.release()}}};
    return class_with_method(file, raw, classfile::kAccStatic, "m", "()V");
  });
}

std::string noted(std::string_view class_name, const TestClass& test) {
  ExecutorLocals locals;
  locals.note(class_name, test.bytes);
  return locals.take("shop.Feed");
}

TEST(ExecutorLocals, AreListedOnce) {
  ExecutorLocals locals;
  locals.note("shop/Feed", class_with("Ljava/util/concurrent/ExecutorService;").bytes);
  EXPECT_EQ(locals.take("shop.Other"), "");
  EXPECT_EQ(locals.take("shop.Feed"), "m 10-10 ExecutorService pool;");
  EXPECT_EQ(locals.take("shop.Feed"), "");
}

TEST(ExecutorLocals, AreOfExecutorsTypes) {
  EXPECT_EQ(noted("shop/Feed", class_with("Ljava/util/concurrent/ForkJoinPool;")), "m 10-10 ForkJoinPool pool;");
  EXPECT_EQ(noted("shop/Feed", class_with("Ljava/util/concurrent/CountDownLatch;")), "");
  EXPECT_EQ(noted("shop/Feed", class_with("[Ljava/util/concurrent/Executor;")), "");
  EXPECT_EQ(noted("java/Feed", class_with("Ljava/util/concurrent/Executor;")), "");
  ExecutorLocals locals;
  locals.note("shop/Feed", std::vector<uint8_t>{1, 2, 3});
  EXPECT_EQ(locals.take("shop.Feed"), "");
}

// Names of other languages may hold what separates the entries.
TEST(ExecutorLocals, OfNamesThatAreNoneInJavaAreLeftOut) {
  EXPECT_EQ(noted("shop/Feed", class_with("Ljava/util/concurrent/Executor;", "my pool")), "");
  EXPECT_EQ(noted("shop/Feed", class_with("Ljava/util/concurrent/Executor;", "a;b")), "");
}

TEST(ExecutorLocals, OfOneClassAreBounded) {
  const std::string text = noted("shop/Feed", class_with("Ljava/util/concurrent/Executor;", "pool", 1000));
  EXPECT_LE(text.size(), ExecutorLocals::kTextMax);
  EXPECT_TRUE(text.ends_with("m 10-10 Executor pool;"));
}

}  // namespace
}  // namespace contrafact::agent_jvm
