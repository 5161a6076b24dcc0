#include "advise/replacements.h"

#include <gtest/gtest.h>

namespace contrafact::advise {
namespace {

std::string_view by(const std::vector<analysis::ConflictField>& fields) {
  const Replacement* row = replacement_for(fields);
  return row == nullptr ? "" : row->by;
}

TEST(Replacements, AreOfTheClassWhoseFieldMostPairsConflictOn) {
  EXPECT_EQ(by({{"java.util.Hashtable.count", 9, false}, {"shop.Cache.hits", 2, false}}),
            "java.util.concurrent.ConcurrentHashMap");
  EXPECT_EQ(by({{"shop.Cache.hits", 9, false}, {"java.util.Hashtable.count", 2, false}}), "");
}

TEST(Replacements, WhatLiesInAClassCountsForIt) {
  EXPECT_EQ(by({{"java.util.TreeMap$Entry.left", 1, false}}), "java.util.concurrent.ConcurrentSkipListMap");
  EXPECT_EQ(by({{"java.util.TreeMapLike.left", 1, false}}), "");
  EXPECT_EQ(by({{"java.util.Random.Seed.x", 1, false}}), "");
}

// A LinkedHashMap's entries are in the fields of a HashMap, too.
TEST(Replacements, TheClassThatHoldsAnotherOneStandsBeforeIt) {
  EXPECT_EQ(by({{"java.util.HashMap.size", 5, false}, {"java.util.LinkedHashMap.tail", 4, false}}),
            "java.util.concurrent.ConcurrentHashMap, or a cache such as Caffeine");
}

TEST(Replacements, ACounterOfTheProgramsIsAnAdder) {
  EXPECT_EQ(by({{"shop.Cache.hits", 3, true}}), "java.util.concurrent.atomic.LongAdder");
  EXPECT_EQ(by({{"shop.Cache.hits", 3, true}, {"shop.Cache.last", 1, false}}), "");
}

TEST(Replacements, WithoutFieldsThereIsNone) {
  EXPECT_EQ(by({}), "");
}

}  // namespace
}  // namespace contrafact::advise
