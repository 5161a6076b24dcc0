// Edits as a person writes them.
#include "whatif/section_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/text_trace.h"
#include "model/trace_builder.h"

namespace contrafact::whatif {
namespace {

using Mode = SectionEdit::Mode;

model::Trace queue() {
  base::Result<model::Trace> trace = model::parse_text(
      "fact agent native\nmethod m1 .put q.cc:10\nmethod m2 .take q.cc:20\ncontext c1 - m1:12\ncontext c2 - m2:22\n"
      "lock l mutex queue\nlock other mutex\nthread t\n"
      "0 t lock_acquire l c1\n1000 t lock_release l c1\n2000 t lock_acquire l c2\n4000 t lock_release l c2\n"
      "5000 t lock_acquire other c2\n5100 t lock_release other c2\n");
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return std::move(*trace);
}

base::Result<std::vector<SectionEdit>> edited(const model::Trace& trace, const std::vector<std::string>& texts,
                                              const std::vector<SectionEdit>& before = {}) {
  std::vector<SectionRule> rules;
  for (const std::string& text : texts) {
    base::Result<SectionRule> rule = parse_section_rule(text);
    if (!rule) return rule.error();
    rules.push_back(*rule);
  }
  return edits_of(trace, model::critical_sections(trace), rules, before);
}

std::string error_of(const std::vector<std::string>& texts) {
  const auto result = edited(queue(), texts);
  return result.ok() ? "" : result.error().message;
}

TEST(SectionRules, ChooseByLockAndSite) {
  const model::Trace trace = queue();
  const auto edits = edited(trace, {"lock=queue,site=take,as=b,mode=shared", "lock=queue,site=put,head=80%,tail=10ns"});
  ASSERT_TRUE(edits.ok());
  ASSERT_EQ(edits->size(), 3u);
  EXPECT_EQ((*edits)[0], (SectionEdit{0, Mode::exclusive, 800, 10}));
  EXPECT_EQ((*edits)[1], (SectionEdit{2, Mode::shared, 0, 0}));
  EXPECT_EQ((*edits)[2], (SectionEdit{1, Mode::exclusive, 0, 0}));
}

TEST(SectionRules, ASecondLockMayBeTaken) {
  const model::Trace trace = queue();
  const auto edits = edited(trace, {"lock=queue,site=take,as=b,also=c", "lock=queue,site=put,also=b"});
  ASSERT_TRUE(edits.ok());
  EXPECT_EQ((*edits)[0].lock, 0u);
  EXPECT_EQ((*edits)[0].also, (*edits)[1].lock);
  EXPECT_EQ((*edits)[1].lock, 2u);
  EXPECT_EQ((*edits)[1].also, 3u);
}

// A rule's new lock is none of those that earlier edits made; what no rule names stays.
TEST(SectionRules, ComeOnTopOfEarlierEdits) {
  const model::Trace trace = queue();
  const auto before = edited(trace, {"lock=queue,site=take,as=b,also=c", "lock=queue,site=put,head=80%"});
  ASSERT_TRUE(before.ok());
  const auto edits = edited(trace, {"lock=queue,site=put,as=d"}, *before);
  ASSERT_TRUE(edits.ok());
  EXPECT_EQ((*edits)[0].lock, 4u);
  EXPECT_EQ((*edits)[0].head_outside_ns, 800);
  EXPECT_EQ((*edits)[1], (*before)[1]);
  EXPECT_FALSE(edited(trace, {"lock=queue,site=put,head=80%"}, *before).ok());  // it is so already
}

TEST(SectionRules, LocksWithoutANameHaveANumber) {
  model::TraceBuilder builder;
  builder.add_fact("agent", "native");
  const model::ThreadId thread = builder.add_thread("t");
  const model::LockId lock = builder.add_lock("", format::LockKind::mutex);
  builder.add(thread, model::EventKind::lock_acquire, 0, {lock.value, UINT32_MAX, 0, 0});
  builder.add(thread, model::EventKind::lock_release, 10, {lock.value, UINT32_MAX, 0, 0});
  const base::Result<model::Trace> trace = builder.build();
  ASSERT_TRUE(trace.ok());
  const auto edits = edited(*trace, {"lock=mutex 0,mode=none"});
  ASSERT_TRUE(edits.ok());
  EXPECT_EQ((*edits)[0].mode, Mode::none);
}

TEST(SectionRules, APartOfANameWillDoIfNoOtherHasIt) {
  const auto whole = edited(queue(), {"lock=queue,site=take,as=b", "lock=queue,site=put,as=b"});
  ASSERT_TRUE(whole.ok());
  for (const char* part : {"que", "ue", "q*", "*ueu*"}) {
    const auto edits = edited(queue(), {std::string("lock=") + part + ",site=take,as=b", "lock=queue,site=put,as=b"});
    ASSERT_TRUE(edits.ok()) << part << ": " << edits.error().message;
    EXPECT_EQ(*edits, *whole) << part;
  }
}

TEST(SectionRules, APartOfANumberIsNoPart) {
  model::TraceBuilder builder;
  builder.add_fact("agent", "native");
  const model::ThreadId thread = builder.add_thread("t");
  for (int i = 0; i < 13; ++i) builder.add_lock("", format::LockKind::mutex);
  for (const auto& [kind, time_ns] :
       {std::pair(model::EventKind::lock_acquire, 0), {model::EventKind::lock_release, 9}})
    builder.add(thread, kind, time_ns, {12, UINT32_MAX, 0, 0});
  const base::Result<model::Trace> trace = builder.build();
  ASSERT_TRUE(trace.ok());
  EXPECT_FALSE(edited(*trace, {"lock=mutex 1,mode=none"}).ok());
  EXPECT_TRUE(edited(*trace, {"lock=mutex 12,mode=none"}).ok());
  EXPECT_TRUE(edited(*trace, {"lock=mutex,mode=none"}).ok());
}

TEST(SectionRules, ErrorsSayWhatThereIs) {
  EXPECT_THAT(error_of({"lock=quay,mode=none"}),
              testing::HasSubstr(
                  "no lock named 'quay' was held, and none whose name has that in it; those that were: other, queue"));
  EXPECT_THAT(
      error_of({"lock=*quay,mode=none"}),
      testing::HasSubstr("no lock named '*quay' was held, and none that fits it; those that were: other, queue"));
  EXPECT_THAT(error_of({"lock=e,mode=none"}),
              testing::HasSubstr("'e' may be any of 2 locks: other, queue; write more of the name"));
  EXPECT_THAT(error_of({"lock=queue,site=get,mode=none"}),
              testing::HasSubstr("it was at: put (q.cc:12), take (q.cc:22)"));
  EXPECT_THAT(error_of({"site=put"}), testing::HasSubstr("no lock is named; an edit is lock=NAME[,"));
  EXPECT_THAT(error_of({"lock=queue,mode"}), testing::HasSubstr("'mode' has no '='; an edit is lock=NAME[,"));
  EXPECT_THAT(error_of({"lock=queue,head=110%"}), testing::HasSubstr("head= cannot be '110%': it is a share"));
  EXPECT_THAT(error_of({"lock=queue"}), testing::HasSubstr("it names a lock and no change of it; add mode=none"));
  EXPECT_THAT(error_of({"lock=queue,mode=exclusive"}), testing::HasSubstr("nothing changes: the sections are so"));
  EXPECT_THAT(error_of({"lock=queue,tail=5"}),
              testing::HasSubstr("tail= cannot be '5': it is a share of the hold or a time"));
  EXPECT_THAT(error_of({"lock=queue,mode=off"}),
              testing::HasSubstr("mode= cannot be 'off': it is exclusive, shared or none"));
  EXPECT_THAT(error_of({"lock=queue,as="}), testing::HasSubstr("as= has no value; an edit is lock=NAME[,"));
  EXPECT_THAT(error_of({"queue=none"}), testing::HasSubstr("there is no queue=; an edit is lock=NAME[,"));
}

}  // namespace
}  // namespace contrafact::whatif
