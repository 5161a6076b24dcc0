#include "symbols/demangle.h"

#include <cxxabi.h>
#include <libiberty/demangle.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace contrafact::symbols {
namespace {

// Text that a demangler has allocated; null: it does not know the name.
using Text = std::unique_ptr<char, decltype(&std::free)>;

bool opens(char c) {
  return c == '(' || c == '<' || c == '{' || c == '[';
}
bool closes(char c) {
  return c == ')' || c == '>' || c == '}' || c == ']';
}

// "std::string::str[abi:cxx11]() const" -> "std::string::str() const".
std::string without_abi_tags(std::string_view text) {
  constexpr std::string_view kTag = "[abi:";
  std::string out;
  for (size_t at = text.find(kTag); at != std::string_view::npos; at = text.find(kTag)) {
    const size_t end = text.find(']', at);
    if (end == std::string_view::npos) break;
    out += text.substr(0, at);
    text.remove_prefix(end + 1);
  }
  return out + std::string(text);
}

}  // namespace

std::string without_signature(std::string_view demangled) {
  const std::string without_tags = without_abi_tags(demangled);
  std::string_view text = without_tags;
  text = text.substr(0, text.find(" [clone"));
  for (std::string_view suffix : {" const", " volatile", " &", " &&"}) {
    if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  }
  const bool is_operator = text.find("operator") != std::string_view::npos;
  if (text.ends_with(')')) {
    int depth = 0;
    size_t at = text.size();
    while (at > 0) {
      --at;
      if (text[at] == ')') ++depth;
      if (text[at] == '(' && --depth == 0) break;
    }
    if (at > 0) text = text.substr(0, at);
  }
  if (is_operator) return std::string(text);
  // A return type stands before the last blank that is in no bracket.
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (closes(text[i])) ++depth;
    if (opens(text[i])) --depth;
    if (text[i] == ' ' && depth == 0) return std::string(text.substr(i + 1));
  }
  return std::string(text);
}

std::string thread_body_name(const std::string& function) {
  constexpr std::string_view kBefore = "_Invoker<std::tuple<";
  const size_t begin = function.find(kBefore);
  if (begin == std::string::npos || !function.ends_with("::_M_run")) return function;
  int depth = 1;
  size_t at = begin + kBefore.size();
  for (; at < function.size(); ++at) {
    if (function[at] == '<') ++depth;
    if (function[at] == '>' && --depth == 0) break;
  }
  return function.substr(begin + kBefore.size(), at - begin - kBefore.size());
}

// Where a compiler's name for a part or a copy of a function begins: "load.cold", "load.part.0", "runtime.futex.abi0".
// Other dots belong to the name, as in Go's.
static size_t end_of_function(std::string_view linkage_name) {
  constexpr std::string_view kParts[] = {"cold",       "part.", "constprop.", "isra.",      "lto_priv.",
                                         "localalias", "llvm.", "abi0",       "abiinternal"};
  for (size_t dot = linkage_name.find('.', 1); dot != std::string_view::npos; dot = linkage_name.find('.', dot + 1)) {
    const std::string_view rest = linkage_name.substr(dot + 1);
    if (std::ranges::any_of(kParts, [&](std::string_view part) { return rest.starts_with(part); })) return dot;
  }
  return linkage_name.size();
}

std::string function_name(const std::string& linkage_name) {
  // Rust's former mangling looks like that of C++, but for a hash at its end.
  if (const Text rust(rust_demangle(linkage_name.c_str(), DMGL_NO_OPTS), &std::free); rust) return rust.get();
  const std::string whole = linkage_name.substr(0, end_of_function(linkage_name));
  if (!whole.starts_with("_Z")) return whole;
  int status = 0;
  const Text text(abi::__cxa_demangle(whole.c_str(), nullptr, nullptr, &status), &std::free);
  return text ? without_signature(text.get()) : whole;
}

}  // namespace contrafact::symbols
