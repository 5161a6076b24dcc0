#include "cli/help_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>

#include "table/value_text.h"

namespace contrafact::cli {
namespace {

using testing::HasSubstr;

// The widest line but for the examples, which are commands to copy.
std::string widest(const std::string& help) {
  std::string widest, line;
  std::istringstream lines(help.substr(0, help.find("\nExamples:")));
  while (std::getline(lines, line)) {
    const bool is_example = line.starts_with("    contrafact ");
    if (!is_example && table::display_width(line) > table::display_width(widest)) widest = line;
  }
  return widest;
}

TEST(HelpText, FitsTheTerminal) {
  const CommandTree tree = command_tree();
  for (const size_t width : {40u, 60u, 80u, 100u}) {
    EXPECT_LE(table::display_width(widest(help_text(tree, width))), width) << widest(help_text(tree, width));
    for (const CommandFacts& facts : tree.commands) {
      const std::string line = widest(help_text(facts, width));
      EXPECT_LE(table::display_width(line), width) << line;
    }
  }
}

// Sentences begin with a capital and have no full stop; what stands for a value is in capitals.
TEST(HelpText, HasOneStyle) {
  const auto is_sentence = [](std::string_view text) {
    return !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) != 0 && !text.ends_with('.');
  };
  for (const CommandFacts& facts : command_tree().commands) {
    EXPECT_TRUE(is_sentence(facts.command->summary)) << facts.command->summary;
    for (const OptionFacts& option : facts.options) {
      EXPECT_TRUE(is_sentence(option.description)) << option.description;
      EXPECT_NE(option.value_name, "TEXT") << option.names.back() << " does not say what its value is";
      for (const char c : option.value_name) EXPECT_FALSE(c >= 'a' && c <= 'z') << option.value_name;
    }
    const std::string help = help_text(facts, 80);
    for (const char* foreign : {"TEXT:{", "UINT", "FLOAT", "REQUIRED", "Positionals", "examples:"})
      EXPECT_EQ(help.find(foreign), std::string::npos) << facts.command->name << ": " << foreign;
  }
}

TEST(HelpText, SaysWhatMayStandWhere) {
  const auto help = [](std::string_view command) { return help_of(command, 100); };
  EXPECT_THAT(help("record"), HasSubstr("Usage: contrafact record [OPTIONS] -- PROGRAM [ARGUMENTS]\n"));
  EXPECT_THAT(help("advise"), HasSubstr("Usage: contrafact advise [OPTIONS] TRACE...\n"));
  EXPECT_THAT(help("ulc"), HasSubstr("Usage: contrafact ulc [OPTIONS] TRACE [SETS]\n"));
  EXPECT_THAT(help("flow"), HasSubstr("Usage: contrafact flow [OPTIONS] TRACE [SETS] [FLOW]\n"));
  EXPECT_THAT(help("compare"), HasSubstr("Usage: contrafact compare [OPTIONS] TRACE [TRACE] [TRACE]\n"));
  EXPECT_THAT(help("record"), HasSubstr("\n  -o, --output FILE         The trace to write [default: run.cft]\n"));
  EXPECT_THAT(help("record"), HasSubstr("\n      --sets[=WINDOW/PERIOD]\n"));
  EXPECT_THAT(help("record"), HasSubstr("[not with: --accesses, --flow]"));
  EXPECT_THAT(help("export"), HasSubstr("[one of: csv, json, text, cft, perfetto] [required]"));
  EXPECT_EQ(help("nonsense"), "");
}

}  // namespace
}  // namespace contrafact::cli
