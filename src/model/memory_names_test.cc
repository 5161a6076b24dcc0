#include "model/memory_names.h"

#include <gtest/gtest.h>

#include "model/text_trace.h"

namespace contrafact::model {
namespace {

Trace trace_with(const std::string& facts) {
  auto trace = parse_text(facts + "thread a\n1 a thread_begin\n");
  EXPECT_TRUE(trace.ok());
  return *std::move(trace);
}

TEST(MemoryNames, AreThoseOfFieldsAndElements) {
  const MemoryNames names(
      trace_with("fact sets.source bytecode\nfact field.5 shop.Cache.hits\nfact field.x shop.No\n"));
  EXPECT_EQ(names.name(uint64_t{77} << 32 | 40), "shop.Cache.hits") << "of an object";
  EXPECT_EQ(names.name(40), "shop.Cache.hits") << "a static one";
  EXPECT_EQ(names.name(uint64_t{77} << 32 | 1u << 31 | 40), "an array's elements");
  EXPECT_EQ(names.name(48), "") << "no section wrote it";
}

TEST(MemoryNames, OfANativeProgramNothingIsKnown) {
  const MemoryNames names(trace_with("fact sets.source translation\nfact field.5 x\n"));
  EXPECT_TRUE(names.empty());
  EXPECT_EQ(names.name(40), "");
}

}  // namespace
}  // namespace contrafact::model
