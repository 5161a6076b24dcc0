#include "classfile/class_file.h"

#include <gmock/gmock.h>

#include "classfile/sequence.h"
#include "classfile/test_class.h"

namespace contrafact::classfile {
namespace {

using testing::HasSubstr;

TEST(ClassFile, ReadsNamesAndWritesTheSameBytes) {
  const std::vector<uint8_t> bytes = empty_class(52);
  auto file = ClassFile::parse(bytes);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->name(), "Test");
  EXPECT_EQ(file->super_name(), "java/lang/Object");
  EXPECT_TRUE(file->interfaces().empty());
  EXPECT_EQ(file->source_file(), "");
  EXPECT_EQ(file->write(), bytes);
  EXPECT_FALSE(file->edited());
}

TEST(ClassFile, SaysWhatIsWrong) {
  const std::vector<uint8_t> bytes = empty_class(52);
  std::vector<uint8_t> magic = bytes;
  magic[0] = 0;
  EXPECT_THAT(ClassFile::parse(magic).error().message, HasSubstr("CAFEBABE"));
  EXPECT_THAT(ClassFile::parse(empty_class(70)).error().message, HasSubstr("version 70"));
  EXPECT_THAT(ClassFile::parse(empty_class(44)).error().message, HasSubstr("version 44"));
  std::vector<uint8_t> tag = bytes;
  tag[10] = 2;
  EXPECT_THAT(ClassFile::parse(tag).error().message, HasSubstr("unknown tag 2"));
  std::vector<uint8_t> longer = bytes;
  longer.push_back(0);
  EXPECT_THAT(ClassFile::parse(longer).error().message, HasSubstr("1 bytes follow"));
}

TEST(ClassFile, RefusesEveryPrefix) {
  const TestClass test(RawCode{.code = {kReturn}});
  for (size_t size = 0; size < test.bytes.size(); size++) {
    EXPECT_FALSE(ClassFile::parse(Bytes(test.bytes).first(size)).ok()) << size;
  }
}

TEST(ClassFile, AddsFieldsOnce) {
  const std::vector<uint8_t> bytes = empty_class(52);
  auto file = ClassFile::parse(bytes);
  ASSERT_TRUE(file->add_field(kAccTransient, "id", "J").ok());
  EXPECT_THAT(file->add_field(kAccTransient, "id", "J").error().message, HasSubstr("id J: the class has it already"));
  ASSERT_TRUE(file->add_field(kAccTransient, "id", "I").ok());
  const std::vector<uint8_t> written = file->write();
  auto again = ClassFile::parse(written);
  ASSERT_EQ(again->fields().size(), 2u);
  EXPECT_EQ(again->fields()[0].name, "id");
  EXPECT_EQ(again->fields()[0].descriptor, "J");
  EXPECT_EQ(again->fields()[0].access, kAccTransient);
}

TEST(ClassFile, AddsMethods) {
  const std::vector<uint8_t> bytes = empty_class(52);
  auto file = ClassFile::parse(bytes);
  Sequence body(file->pool());
  const auto negative = body.new_label();
  body.iload(0).branch(kIflt, negative).iconst(1).op(kIreturn).bind(negative).iconst(100000).op(kIreturn);
  auto code = assemble_method(*file, kAccStatic, "sign", "(I)I", body);
  ASSERT_TRUE(code.ok());
  ASSERT_TRUE(file->add_method(kAccStatic, "sign", "(I)I", *code).ok());
  const std::vector<uint8_t> written = file->write();
  auto again = ClassFile::parse(written);
  auto parsed = Code::parse(*again, again->methods()[*again->find_method("sign", "(I)I")]);
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(listing(*again, *parsed), "0:21 2:155>7 5:4 6:172 7:19 10:172");
  EXPECT_EQ(parsed->frames.size(), 1u);
  EXPECT_EQ(parsed->max_stack, 1u);
  EXPECT_EQ(parsed->max_locals, 1u);
  EXPECT_FALSE(again->find_method("sign", "(J)I").has_value());
}

TEST(ClassFile, FindsLines) {
  // Out of order, as javac writes loops.
  const TestClass test(RawCode{.code = {kNop, kNop, kNop, kReturn},
                               .attributes = {{"LineNumberTable", {0, 2, 0, 2, 0, 20, 0, 1, 0, 10}}}});
  EXPECT_EQ(test.file->line_of(test.method(), 0), std::nullopt);
  EXPECT_EQ(test.file->line_of(test.method(), 1), 10);
  EXPECT_EQ(test.file->line_of(test.method(), 3), 20);
  EXPECT_EQ(test.file->line_of(test.method(), 4), std::nullopt);
}

TEST(ConstantPool, ReusesEntries) {
  const std::vector<uint8_t> bytes = empty_class(52);
  auto file = ClassFile::parse(bytes);
  ConstantPool& pool = file->pool();
  EXPECT_EQ(pool.add_utf8("Test"), 1);
  EXPECT_EQ(pool.add_class("java/lang/Object"), 4);
  EXPECT_FALSE(pool.grown());
  const uint16_t wide = pool.add_long(1);
  EXPECT_EQ(pool.add_integer(7), wide + 2);
  EXPECT_EQ(pool.add_long(1), wide);
  const uint16_t method = pool.add_member_ref(kTagMethodRef, "A", "b", "()V");
  EXPECT_EQ(pool.add_member_ref(kTagMethodRef, "A", "b", "()V"), method);
  EXPECT_NE(pool.add_member_ref(kTagInterfaceMethodRef, "A", "b", "()V"), method);
  EXPECT_EQ(pool.member_ref(method)->owner, "A");
  EXPECT_EQ(pool.member_ref(wide), std::nullopt);
  EXPECT_EQ(pool.tag(wide + 1), kTagNone);
  EXPECT_EQ(pool.tag(70000), kTagNone);
}

TEST(ConstantPool, IsFullAt65535) {
  const std::vector<uint8_t> bytes = empty_class(52);
  auto file = ClassFile::parse(bytes);
  int added = 0;
  while (file->pool().add_integer(added) != 0) added++;
  EXPECT_EQ(added, 65535 - 5);
  EXPECT_EQ(file->pool().add_utf8(std::string(65536, 'x')), 0);
  Sequence sequence(file->pool());
  sequence.ldc_string("no room");
  EXPECT_THAT(assemble_method(*file, kAccStatic, "m", "()V", sequence).error().message, HasSubstr("pool is full"));
  EXPECT_TRUE(ClassFile::parse(file->write()).ok());
}

TEST(Descriptor, Parses) {
  const auto method = parse_method_descriptor("(IJ[[Ljava/lang/String;D[I)Lx/Y;");
  ASSERT_TRUE(method.has_value());
  EXPECT_EQ(method->arguments.size(), 5u);
  EXPECT_EQ(method->argument_slots(), 7);
  EXPECT_EQ(method->arguments[2].class_name(), "[[Ljava/lang/String;");
  EXPECT_EQ(method->result.class_name(), "x/Y");
  for (const char* bad : {"", "()", "(V)V", "()VV", "(L;)V", "(Lx)V", "([)V", "([V)V", "(I", "I", "(Q)V"}) {
    EXPECT_FALSE(parse_method_descriptor(bad).has_value()) << bad;
  }
  EXPECT_FALSE(parse_field_descriptor("V").has_value());
}

}  // namespace
}  // namespace contrafact::classfile
