#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace contrafact::cli {
namespace {

UsageError::Kind kind_of(const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return UsageError::Kind::extra_words;
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return UsageError::Kind::bad_value;
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return UsageError::Kind::missing;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return UsageError::Kind::number_of_values;
  return UsageError::Kind::other;
}

UsageError usage_error(const CLI::App& app, const CLI::App* command, const CLI::ParseError& error) {
  UsageError out{.kind = kind_of(error), .message = error.what()};
  if (out.kind == UsageError::Kind::extra_words) {
    out.words = app.remaining(true);
    for (const CLI::Option* option : (command == nullptr ? app : *command).get_options()) {
      for (const std::string& name : option->get_lnames()) out.known.push_back("--" + name);
    }
  }
  const std::string name = out.message.substr(0, out.message.find_first_of(": "));
  const CLI::Option* option = command == nullptr ? nullptr : command->get_option_no_throw(name);
  out.repeatable = option != nullptr && option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
  return out;
}

// What one_of() shows behind the option's name: ":{fixed,both}".
std::vector<std::string> choices_of(const std::string& type_name) {
  std::vector<std::string> words;
  const size_t begin = type_name.find(":{");
  if (begin == std::string::npos || !type_name.ends_with('}')) return words;
  for (size_t at = begin + 2; at < type_name.size();) {
    const size_t end = type_name.find_first_of(",}", at);
    words.push_back(type_name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// The library's names of types, in the words of a help.
std::string value_name_of(const std::string& type_name) {
  if (type_name.find(":{") != std::string::npos) return "WORD";
  if (type_name == "UINT" || type_name == "FLOAT") return "NUMBER";
  std::string name = type_name.substr(0, type_name.find(':'));
  std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
  return name;
}

OptionFacts facts_of(const CLI::Option& option) {
  OptionFacts facts;
  for (const std::string& name : option.get_snames()) facts.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) facts.names.push_back("--" + name);
  if (facts.names.empty()) facts.names.push_back(option.get_name());
  facts.description = option.get_description();
  facts.repeatable =
      option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll || option.get_expected_max() > 1;
  facts.required = option.get_required();
  for (const CLI::Option* other : option.get_excludes()) facts.excludes.push_back("--" + other->get_lnames().front());
  std::ranges::sort(facts.excludes);  // CLI11 has them by where they lie in memory
  const std::string type_name = option.get_type_name();
  if (type_name.empty()) return facts;  // a flag
  facts.choices = choices_of(type_name);
  facts.value_name = value_name_of(type_name);
  facts.values_least = option.get_expected_min();
  facts.values_most = option.get_expected_max();
  facts.value_optional = option.get_expected_min() == 0 && !facts.is_argument();
  if (!facts.value_optional) facts.shown_default = option.get_default_str();
  return facts;
}

}  // namespace

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::check(ValueCheck check) {
  CLI::Validator validator(std::move(check.refusal), std::move(check.shown));
  if (check.rewrites) {
    option_->transform(std::move(validator));
  } else {
    option_->check(std::move(validator));
  }
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option& Option::value_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option& Option::repeatable() {
  option_->expected(1)->take_all()->allow_extra_args(false);
  return *this;
}

Option& Option::number_of_values(int least, int most) {
  option_->expected(least, most);
  return *this;
}

Option& Option::value_if_bare(const std::string& value) {
  option_->expected(0, 1)->default_str(value);
  return *this;
}

Option& Option::excludes(const Option& other) {
  option_->excludes(other.option_);
  return *this;
}

bool Option::given() const {
  return option_->count() > 0;
}

Option OptionList::add_option(const std::string& names, std::string& target, const std::string& description) {
  return Option(*app_->add_option(names, target, description));
}

Option OptionList::add_option(const std::string& names, std::vector<std::string>& target,
                              const std::string& description) {
  return Option(*app_->add_option(names, target, description));
}

Option OptionList::add_option(const std::string& names, uint32_t& target, const std::string& description) {
  return Option(*app_->add_option(names, target, description));
}

Option OptionList::add_option(const std::string& names, uint64_t& target, const std::string& description) {
  return Option(*app_->add_option(names, target, description));
}

Option OptionList::add_option(const std::string& names, double& target, const std::string& description) {
  return Option(*app_->add_option(names, target, description));
}

Option OptionList::add_option(const std::string& names, std::function<void(const std::string&)> set,
                              const std::string& description) {
  return Option(*app_->add_option_function<std::string>(names, std::move(set), description));
}

Option OptionList::add_flag(const std::string& names, bool& target, const std::string& description) {
  return Option(*app_->add_flag(names, target, description));
}

Parser::Parser(const std::string& name, const std::string& description)
    : whole_(std::make_unique<CLI::App>(description, name)), app_(whole_.get()) {}

Parser::Parser(CLI::App& app) : app_(&app) {}

Parser::~Parser() = default;

Parser& Parser::add_command(const std::string& name, const std::string& description) {
  app_->require_subcommand(0, 1);
  commands_.push_back(std::unique_ptr<Parser>(new Parser(*app_->add_subcommand(name, description))));
  return *commands_.back();
}

std::vector<OptionFacts> Parser::option_facts() const {
  std::vector<OptionFacts> facts;
  for (const CLI::Option* option : std::as_const(*app_).get_options()) facts.push_back(facts_of(*option));
  return facts;
}

Parsed Parser::parse(std::vector<std::string> words) {
  std::ranges::reverse(words);  // as CLI11 wants it
  Parsed parsed;
  auto named_command = [&]() -> const CLI::App* {
    const std::vector<CLI::App*> named = app_->get_subcommands();
    return named.empty() ? nullptr : named.front();
  };
  try {
    app_->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    parsed.help_wanted = true;
  } catch (const CLI::ParseError& error) {
    parsed.error = usage_error(*app_, named_command(), error);
  }
  if (const CLI::App* command = named_command()) parsed.command = command->get_name();
  return parsed;
}

}  // namespace contrafact::cli
