#include "cli/completion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/manual_page.h"

namespace contrafact::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const OptionFacts& option_of(const CommandFacts& facts, const std::string& name) {
  for (const OptionFacts& option : facts.options) {
    if (option.names.back() == name) return option;
  }
  ADD_FAILURE() << facts.command->name << " has no " << name;
  return facts.options.front();
}

const CommandFacts& command_of(const CommandTree& tree, std::string_view name) {
  for (const CommandFacts& facts : tree.commands) {
    if (facts.command->name == name) return facts;
  }
  ADD_FAILURE() << "no " << name;
  return tree.commands.front();
}

TEST(CommandTree, KnowsWhatWasDeclared) {
  const CommandTree tree = command_tree();
  const CommandFacts& record = command_of(tree, "record");
  const OptionFacts& output = option_of(record, "--output");
  EXPECT_THAT(output.names, ElementsAre("-o", "--output"));
  EXPECT_EQ(output.value_name, "FILE");
  EXPECT_EQ(output.shown_default, "run.cft");
  EXPECT_FALSE(output.repeatable);
  EXPECT_TRUE(option_of(record, "--include").repeatable);
  EXPECT_THAT(option_of(record, "--clock").choices, ElementsAre("processor", "kernel"));
  EXPECT_EQ(option_of(record, "--children").value_name, "");
  EXPECT_TRUE(option_of(record, "--sets").value_optional);
  EXPECT_EQ(option_of(record, "--sets").value_name, "WINDOW/PERIOD");
  const OptionFacts& trace = option_of(command_of(tree, "info"), "trace");
  EXPECT_TRUE(trace.is_argument() && trace.required);
  EXPECT_TRUE(option_of(command_of(tree, "compare"), "trace").repeatable);
}

// A value that is shown as TEXT is neither a file nor one of a few words; a new option that is one has to say so.
TEST(Completion, ValuesAreFilesFoldersOrWords) {
  const CommandTree tree = command_tree();
  EXPECT_EQ(value_kind(option_of(command_of(tree, "advise"), "--specs")), ValueKind::folder);
  EXPECT_EQ(value_kind(option_of(command_of(tree, "advise"), "--plot")), ValueKind::file);
  EXPECT_EQ(value_kind(option_of(command_of(tree, "profile"), "--analysis")), ValueKind::file);
  EXPECT_EQ(value_kind(option_of(command_of(tree, "help"), "topic")), ValueKind::command);
  EXPECT_EQ(value_kind(option_of(command_of(tree, "record"), "--clock")), ValueKind::words);
  EXPECT_EQ(value_kind(option_of(command_of(tree, "record"), "--memory")), ValueKind::none);
}

TEST(ManualPage, TextIsNoRequestOfTheFormatter) {
  const Command command{.name = "x",
                        .summary = "it's a \\ and a-b",
                        .examples = ".dots\n'quotes",
                        .declare = nullptr,
                        .operands = "-- PROGRAM"};
  const std::string page = manual_page(CommandFacts{.command = &command, .options = {}});
  EXPECT_THAT(page, HasSubstr("it's a \\e and a\\-b\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.dots\n\\&'quotes\n"));
  EXPECT_THAT(page, HasSubstr("\\-\\- PROGRAM\n"));
}

}  // namespace
}  // namespace contrafact::cli
