#include "analysis/conflict_places.h"

#include <gmock/gmock.h>

#include "analysis/text_trace_for_test.h"

namespace contrafact::analysis {
namespace {

// Field 5 is at 40, field 6 at 48, of the object of hash 1.
constexpr std::string_view kTwoWriters =
    "method m1 shop.Cache.put Cache.java:7\nmethod m2 shop.Cache.get Cache.java:9\ncontext c1 - m1:7\n"
    "context c2 - m2:9\nlock l1 monitor \"shop.Cache\"\nthread a\nthread b\n"
    "access_set s1 complete 0x100000028+4:rwc 0x100000030+4:r\n"
    "access_set s2 complete 0x100000028+4:r 0x180000003+1:wc\n"
    "access_set s3 complete 0x180000003+1:r\n"
    "10 a lock_acquire l1 c1\n20 a accesses s1\n20 a lock_release l1 c1\n"
    "30 b lock_acquire l1 c2\n40 b accesses s2\n40 b lock_release l1 c2\n"
    "50 a lock_acquire l1 c1\n60 a accesses s3\n60 a lock_release l1 c1\n";

std::vector<std::string> conflicts(const std::string& facts) {
  const model::Trace trace = parsed(facts + std::string(kTwoWriters));
  const model::Facts of_trace(trace);
  const SectionFacts sections(of_trace);
  std::vector<std::string> out;
  for (const ConflictPlace& place : conflict_places(sections, model::MemoryNames(trace)))
    out.push_back(sections.sites.sites()[place.site].label + " " + place.memory + " " + std::to_string(place.pairs));
  return out;
}

TEST(ConflictPlaces, AreNamedByFieldAndByElements) {
  EXPECT_THAT(conflicts("fact sets.source bytecode\nfact field.5 shop.Cache.hits\nfact field.6 shop.Cache.size\n"),
              testing::UnorderedElementsAre("Cache.get (Cache.java:9) shop.Cache.hits 1",
                                            "Cache.put (Cache.java:7) an array's elements 1"));
}

TEST(ConflictPlaces, WithoutNamesThereAreNone) {
  EXPECT_TRUE(conflicts("fact field.5 shop.Cache.hits\n").empty());
}

}  // namespace
}  // namespace contrafact::analysis
