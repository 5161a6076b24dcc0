// The options and operands that a command takes. Each command declares its own. Only options.cc includes the library
// that parses the command line: that library's headers take seconds to compile.
//
// An Option is a handle: it is valid as long as the Parser that it was declared with. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace contrafact::cli {

// A check of an option's value.
struct ValueCheck {
  std::function<std::string(std::string&)> refusal;  // returns why the value is bad; empty: it is good
  std::string shown = {};                            // in the help, behind the option's name
  bool rewrites = false;                             // `refusal` replaces a good value by what it stands for
};

class Option {
 public:
  Option() = default;
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option& required();
  Option& check(ValueCheck check);
  // The help shows the value that the target has now.
  Option& show_default();
  Option& show_default(const std::string& text);
  Option& value_name(const std::string& name);
  // May be given several times, with one value each time. REQUIRES: the target is a list.
  Option& repeatable();
  // REQUIRES: the target is a list.
  Option& number_of_values(int least, int most);
  // May stand without a value, and then has this one.
  Option& value_if_bare(const std::string& value);
  Option& excludes(const Option& other);

  // Whether the command line that was parsed holds it. REQUIRES: was declared.
  bool given() const;

 private:
  CLI::Option* option_ = nullptr;
};

// The options and arguments of one command. Names are as in "-o,--output"; one without a dash is an argument, known by
// its place. Targets must live until the line is parsed, and hold the defaults.
class OptionList {
 public:
  explicit OptionList(CLI::App& app) : app_(&app) {}

  Option add_option(const std::string& names, std::string& target, const std::string& description);
  Option add_option(const std::string& names, std::vector<std::string>& target, const std::string& description);
  Option add_option(const std::string& names, uint32_t& target, const std::string& description);
  Option add_option(const std::string& names, uint64_t& target, const std::string& description);
  Option add_option(const std::string& names, double& target, const std::string& description);
  // `set` is called with the value.
  Option add_option(const std::string& names, std::function<void(const std::string&)> set,
                    const std::string& description);
  Option add_flag(const std::string& names, bool& target, const std::string& description);

 private:
  CLI::App* app_;
};

// An option or argument as declared, for help texts and completion.
struct OptionFacts {
  std::vector<std::string> names;  // "-o" and "--output"; of an argument, which has no dash, its one name
  std::string description;
  std::string value_name;            // "FILE", "SIZE"; empty: it takes no value
  std::vector<std::string> choices;  // all the values that there are; empty: others
  std::string shown_default;
  std::vector<std::string> excludes;      // options that may not stand beside it: "--apply"
  bool value_optional = false;            // a value must then stand behind "="
  int values_least = 0, values_most = 0;  // of an argument: how often it may stand
  bool repeatable = false;
  bool required = false;

  bool is_argument() const { return !names.front().starts_with('-'); }
};

// Why a command line cannot be used.
struct UsageError {
  enum class Kind {
    extra_words,  // `words` have no place
    bad_value,
    missing,  // a required option or argument
    number_of_values,
    other,
  };
  Kind kind = Kind::other;
  std::string message;             // the parser's own; begins with the name of the option or argument
  std::vector<std::string> words;  // those without a place, in their order
  std::vector<std::string> known;  // options that there are instead: "--json", "-q"
  bool repeatable = false;         // whether the option that the message speaks of may be given several times
};

struct Parsed {
  std::string command;  // that was named, even if the rest cannot be used; empty: none
  bool help_wanted = false;
  std::optional<UsageError> error;
};

class Parser {
 public:
  Parser(const std::string& name, const std::string& description);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  OptionList options() { return OptionList(*app_); }
  // At most one of the commands may stand on the line.
  Parser& add_command(const std::string& name, const std::string& description);

  // In the order of their declaration; without those of the commands.
  std::vector<OptionFacts> option_facts() const;
  // `words`: without the program's name.
  Parsed parse(std::vector<std::string> words);

 private:
  explicit Parser(CLI::App& app);

  std::unique_ptr<CLI::App> whole_;  // null: of a command
  CLI::App* app_;
  std::vector<std::unique_ptr<Parser>> commands_;
};

}  // namespace contrafact::cli
