#include "table/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "table/json_stream.h"
#include "table/render.h"
#include "table/terminal.h"
#include "table/value_text.h"

namespace contrafact::table {
namespace {

const Schema kSchema{"improvements",
                     "What to change.",
                     {{"what", "what", Type::text, Unit::none, "The optimisation."},
                      {"where", "where", Type::location, Unit::none, "The spawn."},
                      {"count", "count", Type::integer, Unit::tasks, "How often.", 1},
                      {"time_ns", "time", Type::change, Unit::ns, "Duration."},
                      {"gain", "gain", Type::ratio, Unit::ratio, "Share saved."},
                      {"gain_range", "range", Type::interval, Unit::ratio, "Interval of the gain.", 2}}};

Table sample() {
  Table table(kSchema);
  table.add_row({"inline", Location{"Feed.load", "Feed.java", 41}, int64_t{12345}, Change{12.5e6, 8e6}, 0.36,
                 Interval{0.3, 0.4}});
  table.add_row({"combinator, \"b\"", Location{"Very.long.package.name.Handler.respond", "Handler.java", 7}, int64_t{3},
                 Change{12.5e6, 12.5e6}, std::monostate{}, std::monostate{}});
  return table;
}

TEST(ValueText, DurationsChooseTheirUnit) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(999'999), "1 ms");
  EXPECT_EQ(duration_text(1'234'567), "1.23 ms");
  EXPECT_EQ(duration_text(-1'234'567), "-1.23 ms");
  EXPECT_EQ(duration_text(90e9), "90 s");
  EXPECT_EQ(duration_text(180e9), "3 min");
  EXPECT_EQ(duration_text(10800e9), "3 h");
}

TEST(ValueText, NumbersKeepThreeDigits) {
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(-0.0), "0");
  EXPECT_EQ(number_text(3.14159), "3.14");
  EXPECT_EQ(number_text(0.0092), "0.0092");
  EXPECT_EQ(number_text(-0.00012345), "-0.000123");
  EXPECT_EQ(number_text(1e-15), "0");
  EXPECT_EQ(number_text(100), "100");
  EXPECT_EQ(number_text(20), "20");
  EXPECT_EQ(count_text(1234), "1234");
  EXPECT_EQ(count_text(-1234567), "-1 234 567");
  EXPECT_EQ(percent_text(0.1234), "12.3 %");
  EXPECT_EQ(percent_text(-3.45e-9), "0 %");
  EXPECT_EQ(percent_text(0.00002), "0 %");
  EXPECT_EQ(percent_text(-0.000384), "-0.04 %");
  EXPECT_EQ(percent_text(0.00384), "0.38 %");
  EXPECT_EQ(bytes_text(65'536), "65.5 kB");
}

TEST(ValueText, NamesFromTheProgramCannotUpsetATerminal) {
  EXPECT_EQ(printable("a\x1b[31mb\nc", true), "a?[31mb?c");
  EXPECT_EQ(printable("gr\xc3\xbcn\xff", true), "gr\xc3\xbcn?");
  EXPECT_EQ(printable("gr\xc3\xbcn", false), "gr?n");
  EXPECT_EQ(printable("abc\xe2\x80\xaegnp.exe", true), "abc?gnp.exe");
}

TEST(ValueText, ElidesInTheMiddle) {
  EXPECT_EQ(elide_middle("short", 10, false), "short");
  EXPECT_EQ(elide_middle("org.example.shop.Handler", 12, false), "org.e..ndler");
  EXPECT_EQ(elide_middle("org.example.shop.Handler", 12, true), "org.e…andler");
  EXPECT_EQ(display_width(elide_middle("漢字漢字漢字", 6, true)), 5u);
  EXPECT_EQ(elide_middle("abcdef", 2, false), "ab");
  EXPECT_EQ(elide_location("Feed.load (Feed.java:41)", 24, false), "Feed.load (Feed.java:41)");
  EXPECT_EQ(elide_location("Feed.load (Feed.java:41)", 23, false), "load (Feed.java:41)");
  EXPECT_EQ(elide_location("Feed.load (Feed.java:41)", 18, false), "Feed.java:41");
  EXPECT_EQ(elide_location("Feed.load (Feed.java:41)", 8, false), "Fee..:41");
  EXPECT_EQ(elide_location("Feed.loadEverything (Feed.java:41)", 24, false), "loa..hing (Feed.java:41)");
  const std::string place = "at shop.api.Feed.load(Feed.java:41) via Reactor";
  EXPECT_EQ(elide_location(place, 47, false), place);
  EXPECT_EQ(elide_location(place, 46, false), "shop.api.Feed.load(Feed.java:41) via Reactor");
  EXPECT_EQ(elide_location(place, 38, false), "Feed.load(Feed.java:41) via Reactor");
  EXPECT_EQ(elide_location(place, 30, false), "load(Feed.java:41) via Reactor");
  EXPECT_EQ(elide_location(place, 29, false), "load(Feed.java:41)");
  EXPECT_EQ(elide_location("load (/srv/src/feed.cc:41)", 20, false), "load (feed.cc:41)");
  const std::string of_template = "Guarded<Feed>::use<shop::main()::{lambda(Feed&)#1}> (feed.cc:41)";
  EXPECT_EQ(elide_location(of_template, 64, false), of_template);
  EXPECT_EQ(elide_location(of_template, 63, false), "Guarded::use<..> (feed.cc:41)");
  EXPECT_EQ(elide_location(of_template, 28, false), "use<..> (feed.cc:41)");
  EXPECT_EQ(elide_location("Feed::operator<< <char> (feed.cc:41)", 30, false), "operator<< <char> (feed.cc:41)");
  EXPECT_EQ(readable_width(place, Type::location), 35u);
  EXPECT_EQ(readable_width("load (/srv/src/feed.cc:41)", Type::location), 17u);
}

TEST(ValueText, ElidesThePackageBeforeTheMethod) {
  EXPECT_EQ(elide_name("java.util.HashMap.put(java.lang.Object)", 40, false),
            "java.util.HashMap.put(java.lang.Object)");
  EXPECT_EQ(elide_name("java.util.HashMap.put(java.lang.Object)", 33, false), "..HashMap.put(java.lang.Object)");
  EXPECT_EQ(elide_name("java.util.HashMap.<init>(int)", 24, false), "..HashMap.<init>(int)");
  EXPECT_EQ(elide_name("shop::Queue::push<shop::Item>", 24, true), "…Queue::push<shop::Item>");
  EXPECT_EQ(elide_name("shop::Queue::push<shop::Item>", 12, false), "push<..Item>");
}

TEST(ValueText, ElidesAllPlacesButTheFirst) {
  const std::string places = "update_a (tables.cc:13), update_b (tables.cc:19), and 2 more";
  EXPECT_EQ(elide_places(places, 80, false), places);
  EXPECT_EQ(elide_places(places, 40, false), "update_a (tables.cc:13) and 3 more");
  EXPECT_EQ(elide_places(places, 26, false), "tables.cc:13 and 3 more");
  EXPECT_EQ(elide_places("update_a (tables.cc:13)", 14, false), "tables.cc:13");
  EXPECT_EQ(elide_places("uv_mutex_lock (libuv.so.1.0.0)", 20, false), "uv_mutex_lock");
  EXPECT_EQ(elide_places("uv_mutex_lock (libuv.so.1.0.0)", 30, false), "uv_mutex_lock (libuv.so.1.0.0)");
}

TEST(ValueText, OneIsNoPlural) {
  EXPECT_EQ(counted_text(1, "wait was", "waits were"), "1 wait was");
  EXPECT_EQ(counted_text(12345, "wait was", "waits were"), "12 345 waits were");
}

TEST(RenderText, AlignsNumbersToTheRight) {
  EXPECT_EQ(
      render_text(sample(), {}),
      "what             where                                                       count                time  gain"
      "         range\n"
      "inline           at Feed.load(Feed.java:41)                                 12 345     12.5 ms -> 8 ms  36 %"
      "  30 % .. 40 %\n"
      "combinator, \"b\"  at Very.long.package.name.Handler.respond(Handler.java:7)       3  12.5 ms -> 12.5 ms"
      "     -             -\n");
}

TEST(RenderText, FitsTheTerminal) {
  for (size_t width : {120u, 100u, 80u}) {
    std::string text = render_text(sample(), {.width = width, .unicode = true});
    size_t begin = 0;
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      EXPECT_LE(display_width(text.substr(begin, end - begin)), width) << text;
    }
  }
}

TEST(RenderText, HidesColumnsInTheirOrderAndSaysSo) {
  std::string text = render_text(sample(), {.width = 86});
  EXPECT_NE(text.find("(no room in 86 columns for: range)"), std::string::npos) << text;
  text = render_text(sample(), {.width = 66});
  EXPECT_NE(text.find("(no room in 66 columns for: count, range)"), std::string::npos) << text;
}

TEST(RenderText, HidesAnEmptyColumnOfFiguresThatElseStays) {
  static const Schema schema{"locks",
                             "",
                             {{"lock", "lock", Type::name, Unit::none, ""},
                              {"acquired", "acquired", Type::integer, Unit::none, ""},
                              {"wait", "wait", Type::integer, Unit::none, "", 1}}};
  const std::string name(40, 'n');
  Table empty(schema), full(schema);
  empty.add_row({name, Cell(), 5});
  full.add_row({name, 7, 5});
  EXPECT_THAT(render_text(empty, {.width = 50}), testing::HasSubstr("(no room in 50 columns for: acquired)"));
  EXPECT_THAT(render_text(full, {.width = 50}), testing::HasSubstr("(no room in 50 columns for: wait)"));
}

TEST(RenderText, PutsSentencesBelowEachOnceWithItsRows) {
  static const Schema schema{"remedies",
                             "",
                             {{"rank", "#", Type::integer, Unit::none, ""},
                              {"what", "what", Type::text, Unit::none, ""},
                              {"note", "note", Type::text, Unit::none, "", 0, true}}};
  Table table(schema);
  table.add_row({1, "split", "two locks"});
  table.add_row({2, "drop", {}});
  table.add_row({3, "share", "two locks"});
  EXPECT_EQ(render_text(table, {.width = 20}), "#  what\n1  split\n2  drop\n3  share\n#1, #3 note: two locks\n");
}

TEST(RenderText, ASentenceInTheLastColumnGoesOnBelow) {
  static const Schema schema{"left-out",
                             "",
                             {{"what", "what", Type::text, Unit::none, ""},
                              {"number", "number", Type::integer, Unit::none, ""},
                              {"reason", "reason", Type::text, Unit::none, ""}}};
  Table table(schema);
  table.add_row({"split-lock", 12, "sections touch what all of its parts share"});
  table.add_row({"drop-lock", 3, "needed"});
  EXPECT_EQ(render_text(table, {.width = 45}),
            "what        number  reason\n"
            "split-lock      12  sections touch what all\n"
            "                    of its parts share\n"
            "drop-lock        3  needed\n");
}

// The line of a table that begins with the text, whose columns are two or more blanks apart.
std::vector<std::string> fields_of(const std::string& text, std::string_view begin) {
  const size_t at = text.find(begin);
  const std::string line = at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line.compare(i, 2, "  ") != 0) {
      fields.back() += line[i];
      continue;
    }
    while (i + 1 < line.size() && line[i + 1] == ' ') ++i;
    fields.emplace_back();
  }
  return fields;
}

TEST(RenderText, AWiderTerminalNeverShowsLessOfAName) {
  size_t before = 0, before_columns = 0;
  for (size_t width = 50; width < 150; ++width) {
    const std::vector<std::string> fields = fields_of(render_text(sample(), {.width = width}), "combinator");
    ASSERT_GE(fields.size(), 2u);
    EXPECT_GE(fields[1].size(), before) << width;
    EXPECT_GE(fields.size(), before_columns) << width;
    before = fields[1].size();
    before_columns = fields.size();
  }
  EXPECT_EQ(before, std::string("at Very.long.package.name.Handler.respond(Handler.java:7)").size());
}

TEST(RenderText, PlacesLeadToTheirFilesWhereTheTerminalCan) {
  Table table(kSchema);
  table.add_row({"inline", Location{"load", "feed.cc", 41, "/srv/a b/feed.cc"}, 1, Change{1, 2}, 0.1, Interval{0, 1}});
  table.add_row({"inline", Location{"make", "feed.cc", 9}, 1, Change{1, 2}, 0.1, Interval{0, 1}});
  const std::string text = render_text(table, {.links = true});
  EXPECT_NE(text.find("\x1b]8;;file:///srv/a%20b/feed.cc\x1b\\load (/srv/a b/feed.cc:41)\x1b]8;;\x1b\\  "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  make (feed.cc:9)  "), std::string::npos) << text;
  EXPECT_EQ(render_text(table, {}).find("\x1b]8"), std::string::npos);
}

TEST(RenderText, AnEmptyTableSaysWhyAndNotesFollow) {
  Table table(kSchema);
  table.set_empty_reason("no task was recorded");
  table.add_note("12 events were dropped");
  EXPECT_EQ(render_text(table, {}), "improvements: nothing to show: no task was recorded\n12 events were dropped\n");
}

TEST(RenderText, AnIntervalThatIsOneValueIsPrintedOnce) {
  const Column& column = kSchema.columns[5];
  ASSERT_EQ(column.type, Type::interval);
  EXPECT_EQ(cell_text(Interval{0.3, 0.3}, column, false), "30 %");
  EXPECT_EQ(cell_text(Interval{0.3, 0.31}, column, false), "30 % .. 31 %");
}

TEST(Terminal, WhatIsNoTerminalHasAWidthAllTheSame) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ::unsetenv("COLUMNS");
  EXPECT_EQ(style_for(ends[1]).width, 120u);
  ::setenv("COLUMNS", "200", 1);
  EXPECT_EQ(style_for(ends[1]).width, 200u);
  ::unsetenv("COLUMNS");
  EXPECT_FALSE(style_for(ends[1]).unicode);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(RenderText, ColourOnlyWhereAsked) {
  EXPECT_EQ(render_text(sample(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(render_text(sample(), {.colour = true}).find("\x1b[1m"), std::string::npos);
}

TEST(RenderJson, KeepsRawValues) {
  const auto json = nlohmann::ordered_json::parse(json_text(render_json(sample())), nullptr, false);
  ASSERT_FALSE(json.is_discarded());
  EXPECT_EQ(json["rows"][0]["time_ns"]["after"], 8e6);
  EXPECT_EQ(json["rows"][0]["where"]["line"], 41);
  EXPECT_EQ(json["rows"][0]["count"], 12345);
  EXPECT_TRUE(json["rows"][1]["gain"].is_null());
  EXPECT_FALSE(json.contains("empty_reason"));
  EXPECT_EQ(json_text({{"x", "a\xff"}}), "{\n  \"x\": \"a\xef\xbf\xbd\"\n}\n");
}

// The library that parses JSON writes the same document in the same way.
TEST(Json, IsWrittenAsTheParsersLibraryWritesIt) {
  const std::vector<std::string> texts{"plain", "", "\"quoted\" \\ \b\f\n\r\t\x01", "gr\xc3\xbcn", "broken \xff\xc3"};
  auto document = [&]<typename Document>(Document) {
    Document out{{"texts", texts}, {"none", nullptr}, {"yes", true}, {"no", false}};
    out["a \"name\"\n"] = "text";
    out["least"] = INT64_MIN;
    out["most"] = UINT64_MAX;
    out["small"] = uint8_t{7};
    out["numbers"] = Document::array();
    for (double number : {0.0, -0.0, 1.0, 0.1, 1.0 / 3, 1e15, 1e16, 123456789.125, 1e-4, 1e-5, 2.5e300, -7e-320}) {
      out["numbers"].push_back(number);
    }
    out["numbers"].push_back(std::numeric_limits<double>::quiet_NaN());
    out["numbers"].push_back(std::numeric_limits<double>::infinity());
    out["empty"] = {{"array", Document::array()}, {"object", Document::object()}, {"null", Document()}};
    out["rows"].push_back({{"name", "main"}, {"at", {"a", "b"}}});
    out["rows"].push_back({1, "two", 3.5});
    out["pair"] = {"is an array", 1};
    out["none"] = std::string_view("replaced");
    return out;
  };
  const nlohmann::ordered_json other = document(nlohmann::ordered_json());
  EXPECT_EQ(document(Json()).text(), other.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

TEST(JsonDeathTest, AnArrayHasNoNames) {
  Json array = Json::array();
  EXPECT_DEATH(array["x"], "internal error");
  Json object = Json::object();
  EXPECT_DEATH(object.push_back(1), "internal error");
}

TEST(JsonStream, WritesWhatTheWholeDocumentWouldBe) {
  const Json document{{"version", 1}, {"loss", {{"notes", {"a\nb", "c\xff"}}, {"any", true}}}};
  Json whole = document;
  whole["rows"] = rows_json(sample());
  whole["none"] = Json::array();
  whole["last"] = nullptr;
  const std::string text = base::text_of([&](const base::TextSink& sink) {
    JsonStream out(sink);
    out.members(document);
    out.rows("rows", sample());
    out.begin_array("none");
    out.end_array();
    out.member("last", nullptr);
    out.finish();
  });
  EXPECT_EQ(text, json_text(whole));
}

TEST(JsonStream, HandsOnWhatItHas) {
  size_t parts = 0;
  JsonStream out([&](std::string_view part) {
    ++parts;
    EXPECT_LT(part.size(), 2 * base::kTextPieceBytes);
  });
  out.begin_array("rows");
  for (int i = 0; i < 1000; ++i) out.item(std::string(1000, 'x'));
  out.end_array();
  out.finish();
  EXPECT_GT(parts, 10u);
}

TEST(RenderCsv, QuotesAndSplits) {
  EXPECT_EQ(
      render_csv(sample()),
      "what,where_method,where_file,where_line,count,time_ns_before,time_ns_after,gain,gain_range_low,gain_range_high"
      "\n"
      "inline,Feed.load,Feed.java,41,12345,12500000,8000000,0.36,0.3,0.4\n"
      "\"combinator, \"\"b\"\"\",Very.long.package.name.Handler.respond,Handler.java,7,3,12500000,12500000,,,\n");
}

TEST(RenderCsv, TextIsNoFormula) {
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)", "\uff1d1"}) {
    EXPECT_EQ(csv_field(formula), std::string("'") + formula);
  }
  EXPECT_EQ(csv_field("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  EXPECT_EQ(csv_field("\t=1"), "'?=1");
  EXPECT_EQ(csv_field("\r=1"), "'?=1");
  EXPECT_EQ(csv_field("a=1"), "a=1");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_field("a\x1b[31m\r\xe2\x80\xae\xff"), "a?[31m???");
  EXPECT_EQ(csv_field(""), "");
  Table table(kSchema);
  table.add_row({"=x", Location{"-m", "+f", 1}, int64_t{-3}, Change{-1, -2}, -0.5, Interval{-2, -1}});
  EXPECT_NE(render_csv(table).find("\n'=x,'-m,'+f,1,-3,-1,-2,-0.5,-2,-1\n"), std::string::npos) << render_csv(table);
}

TEST(RenderJson, HarmfulCharactersAreEscaped) {
  const std::string name = "a\x1b\x7f\xc2\x9b\xe2\x80\xae\xf3\xa0\x81\x81 gr\xc3\xbcn";
  const std::string text = json_text({{"x", name}});
  EXPECT_EQ(text, "{\n  \"x\": \"a\\u001b\\u007f\\u009b\\u202e\\udb40\\udc41 gr\xc3\xbcn\"\n}\n");
  EXPECT_EQ(nlohmann::ordered_json::parse(text)["x"], name);
}

TEST(TableDeathTest, ARowMustFitItsSchema) {
  Table table(kSchema);
  EXPECT_DEATH(table.add_row({"inline"}), "internal error");
}

TEST(Describe, OneSentenceForEachColumn) {
  EXPECT_NE(describe(kSchema).find("  time_ns     Duration.\n"), std::string::npos) << describe(kSchema);
}

}  // namespace
}  // namespace contrafact::table
