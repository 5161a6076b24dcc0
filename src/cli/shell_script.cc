#include "cli/shell_script.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>

namespace contrafact::cli {
namespace {

bool is_name_char(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// NAME=VALUE or NAME+=VALUE; npos if it is none, else where the value begins.
size_t value_of_assignment(std::string_view word) {
  size_t end = 0;
  while (end < word.size() && is_name_char(word[end])) ++end;
  if (end == 0 || std::isdigit(static_cast<unsigned char>(word[0])) != 0) return std::string_view::npos;
  if (word.substr(end).starts_with("+=")) return end + 2;
  return word.substr(end).starts_with('=') ? end + 1 : std::string_view::npos;
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  ShellScript run() {
    while (at_ < text_.size()) step();
    end_command();
    return std::move(script_);
  }

 private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void take() {
    if (text_[at_] == '\n') ++line_;
    word_ += text_[at_++];
    has_word_ = true;
  }
  void skip() {
    if (text_[at_] == '\n') ++line_;
    ++at_;
  }

  void step() {
    const char c = peek();
    if (c == '\\' && peek(1) == '\n') return skip(), skip();
    if (c == '\n') return end_command(), skip(), skip_documents();
    if (c == ' ' || c == '\t' || c == '\r') return end_word(), skip();
    if (c == '#' && !has_word_) return skip_line();
    if (c == '\'' || c == '"') return quoted(c);
    if (c == '\\') {
      skip();
      if (at_ < text_.size()) take();
      return;
    }
    if (c == '$' && (peek(1) == '(' || peek(1) == '{')) return nested();
    if (c == '`') return until_backquote();
    if (c == '<' && peek(1) == '<') return document();
    if (c == '>' || c == '<') return redirection();
    if (c == ';' || c == '&' || c == '|') return end_command(), skip();
    if (c == '(') return open();
    if (c == ')') return close();
    take();
  }

  void skip_line() {
    while (at_ < text_.size() && peek() != '\n') skip();
  }

  void quoted(char quote) {
    skip();
    has_word_ = true;
    while (at_ < text_.size() && peek() != quote) {
      if (quote == '"' && peek() == '\\' && (peek(1) == '"' || peek(1) == '\\' || peek(1) == '$')) skip();
      if (quote == '"' && peek() == '$' && (peek(1) == '(' || peek(1) == '{')) {
        nested();
      } else if (at_ < text_.size()) {
        take();
      }
    }
    if (at_ < text_.size()) skip();
  }

  // $( ... ) or ${ ... }, whole.
  void nested() {
    const char opens = peek(1), closes = opens == '(' ? ')' : '}';
    take();
    size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = peek();
      if (c == '\\' && at_ + 1 < text_.size()) take();
      take();
      if (c == opens) ++depth;
      if (c == closes && --depth == 0) return;
    }
  }
  void until_backquote() {
    take();
    while (at_ < text_.size() && peek() != '`') take();
    if (at_ < text_.size()) take();
  }

  // <<WORD begins a document behind this line; <<<WORD is a word.
  void document() {
    skip(), skip();
    if (peek() == '<') return skip(), redirection_target();
    const bool indented = peek() == '-';
    if (indented) skip();
    while (peek() == ' ') skip();
    std::string mark;
    while (at_ < text_.size() && !std::isspace(static_cast<unsigned char>(peek())) && peek() != ';' && peek() != ')') {
      if (peek() != '\'' && peek() != '"' && peek() != '\\') mark += peek();
      skip();
    }
    if (!mark.empty()) documents_.push_back(mark);
  }
  void skip_documents() {
    for (const std::string& mark : documents_) {
      while (at_ < text_.size()) {
        std::string_view line = text_.substr(at_, text_.find('\n', at_) - at_);
        skip_line();
        if (at_ < text_.size()) skip();
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
        if (line == mark) break;
      }
    }
    documents_.clear();
  }

  void redirection() {
    if (std::ranges::all_of(word_, [](unsigned char c) { return std::isdigit(c) != 0; }))
      word_.clear(), has_word_ = false;
    end_word();
    while (peek() == '>' || peek() == '<' || peek() == '&' || peek() == '|') skip();
    redirection_target();
  }
  void redirection_target() { is_target_ = true; }

  void open() {
    if (value_of_assignment(word_) == word_.size() && has_word_) return array();
    if (peek(1) == ')' && has_word_) {
      script_.functions.insert(word_);
      drop_word();
      return skip(), skip();
    }
    if (peek(1) == ')' && words_.size() == 1) {  // name ()
      script_.functions.insert(words_.front());
      words_.clear();
      return skip(), skip();
    }
    end_command();
    ++depth_;
    skip();
  }
  // NAME=( ... )
  void array() {
    for (skip(); at_ < text_.size() && peek() != ')';) {
      if (peek() == '\'' || peek() == '"') {
        quoted(peek());
      } else if (peek() == '$' && (peek(1) == '(' || peek(1) == '{')) {
        nested();
      } else {
        take();
      }
    }
    if (at_ < text_.size()) skip();
  }
  // Without an open one before it, it ends a pattern of `case`.
  void close() {
    if (depth_ == 0) {
      drop_word();
      words_.clear();
    } else {
      --depth_;
      end_command();
    }
    skip();
  }

  void drop_word() {
    word_.clear();
    has_word_ = false;
  }
  void end_word() {
    if (!has_word_) return;
    if (words_.empty()) command_line_ = line_;
    if (!is_target_) words_.push_back(word_);
    is_target_ = false;
    drop_word();
  }

  void end_command() {
    end_word();
    is_target_ = false;
    add_command();
    words_.clear();
  }
  void add_command() {
    static constexpr std::array<std::string_view, 14> kKeywords = {
        "if", "then", "elif", "else", "while", "until", "do", "done", "fi", "esac", "!", "{", "}", "time"};
    static constexpr std::array<std::string_view, 5> kDeclare = {"export", "local", "readonly", "declare", "typeset"};
    size_t first = 0;
    while (first < words_.size() && std::ranges::find(kKeywords, words_[first]) != kKeywords.end()) ++first;
    if (first < words_.size() && words_[first] == "function" && first + 1 < words_.size()) {
      script_.functions.insert(words_[first + 1]);
      first += 2;
    }
    const bool declares = first < words_.size() && std::ranges::find(kDeclare, words_[first]) != kDeclare.end();
    for (size_t i = first + (declares ? 1 : 0); i < words_.size(); ++i) {
      const size_t value = value_of_assignment(words_[i]);
      if (value == std::string_view::npos) {
        if (declares) continue;
        break;
      }
      const std::string name = words_[i].substr(0, words_[i].find_first_of("+="));
      script_.assigned.emplace(name, words_[i].substr(value));
      if (!declares) first = i + 1;
    }
    if (declares || first >= words_.size()) return;
    script_.commands.push_back({{words_.begin() + static_cast<ptrdiff_t>(first), words_.end()}, command_line_});
  }

  std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 1;
  size_t command_line_ = 1;
  size_t depth_ = 0;
  std::string word_;
  bool has_word_ = false;
  bool is_target_ = false;  // the next word is a redirection's
  std::vector<std::string> words_;
  std::vector<std::string> documents_;
  ShellScript script_;
};

}  // namespace

ShellScript read_shell_script(std::string_view text) {
  return Reader(text).run();
}

}  // namespace contrafact::cli
