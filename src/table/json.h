// Json: a JSON value that is put together and written, never read. A type of its own, because the library that parses
// JSON costs a second or more of compile time in each file that includes it. Only code that parses includes it.
//
//   Json document{{"command", "info"}, {"loss", {{"events", 3}, {"notes", notes}}}};
//   document["rows"] = Json::array();
//   document["rows"].push_back({{"name", "main"}, {"time_ns", 12}});
//
// Braces make an object if each item is a pair that begins with a text, otherwise an array. Members keep their order.
// Finding a member is linear: objects here have few. Not thread-safe.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace contrafact::table {

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json();  // null
  Json(std::nullptr_t);
  Json(double number);
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  Json(const std::vector<std::string>& texts);
  Json(std::initializer_list<Json> items);
  template <std::same_as<bool> Bool>  // a pointer is none
  Json(Bool value) : Json(Value(value)) {}
  template <std::integral Whole>
    requires(!std::same_as<Whole, bool>)
  Json(Whole value) : Json(Value(std::conditional_t<std::is_signed_v<Whole>, int64_t, uint64_t>(value))) {}
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  static Json array();
  static Json object();

  // The member of that name, null if it is new. REQUIRES: an object, or null, which becomes one.
  Json& operator[](std::string_view name);
  // REQUIRES: an array that has it.
  const Json& operator[](size_t index) const;
  // REQUIRES: an array, or null, which becomes one.
  void push_back(Json item);

  // REQUIRES: an object.
  const Object& members() const;

  // Two blanks for each level; broken UTF-8 replaced; no line break at the end.
  std::string text() const;

 private:
  using Value = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object>;
  explicit Json(Value value);
  void write(std::string& out, size_t level) const;

  Value value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

}  // namespace contrafact::table
