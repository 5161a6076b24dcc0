#include "table/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"

namespace contrafact::table {
namespace {

// The library's spelling, of numbers with decimals too.
template <typename T>
std::string scalar_text(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; });
}

void write_text(std::string& out, const std::string& text) {
  if (!is_plain(text)) {
    out += scalar_text(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void begin_line(std::string& out, size_t level) {
  out += '\n';
  out.append(2 * level, ' ');
}

}  // namespace

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(double number) : value_(number) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(const std::vector<std::string>& texts) : value_(Array(texts.begin(), texts.end())) {}
Json::Json(Value value) : value_(std::move(value)) {}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json::~Json() = default;

Json& Json::operator=(Json other) noexcept {
  value_.swap(other.value_);
  return *this;
}

Json::Json(std::initializer_list<Json> items) {
  auto is_member = [](const Json& item) {
    const Array* pair = std::get_if<Array>(&item.value_);
    return pair != nullptr && pair->size() == 2 && std::holds_alternative<std::string>(pair->front().value_);
  };
  if (!std::ranges::all_of(items, is_member)) {
    value_ = Array(items);
    return;
  }
  Object members;
  members.reserve(items.size());
  for (const Json& item : items) {
    const Array& pair = std::get<Array>(item.value_);
    members.push_back({std::get<std::string>(pair[0].value_), pair[1]});
  }
  value_ = std::move(members);
}

Json Json::array() {
  return Json(Value(Array()));
}

Json Json::object() {
  return Json(Value(Object()));
}

Json& Json::operator[](std::string_view name) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Object();
  Object* members = std::get_if<Object>(&value_);
  CHECK(members != nullptr);
  const auto at = std::ranges::find(*members, name, &Member::name);
  if (at != members->end()) return at->value;
  members->push_back({std::string(name), {}});
  return members->back().value;
}

const Json& Json::operator[](size_t index) const {
  const Array* items = std::get_if<Array>(&value_);
  CHECK(items != nullptr && index < items->size());
  return (*items)[index];
}

void Json::push_back(Json item) {
  if (std::holds_alternative<std::monostate>(value_)) value_ = Array();
  Array* items = std::get_if<Array>(&value_);
  CHECK(items != nullptr);
  items->push_back(std::move(item));
}

const Json::Object& Json::members() const {
  const Object* members = std::get_if<Object>(&value_);
  CHECK(members != nullptr);
  return *members;
}

void Json::write(std::string& out, size_t level) const {
  if (const auto* object = std::get_if<Object>(&value_)) {
    out += '{';
    for (const Member& member : *object) {
      if (&member != &object->front()) out += ',';
      begin_line(out, level + 1);
      write_text(out, member.name);
      out += ": ";
      member.value.write(out, level + 1);
    }
    if (!object->empty()) begin_line(out, level);
    out += '}';
  } else if (const auto* array = std::get_if<Array>(&value_)) {
    out += '[';
    for (const Json& item : *array) {
      if (&item != &array->front()) out += ',';
      begin_line(out, level + 1);
      item.write(out, level + 1);
    }
    if (!array->empty()) begin_line(out, level);
    out += ']';
  } else if (const auto* text = std::get_if<std::string>(&value_)) {
    write_text(out, *text);
  } else if (const auto* signed_whole = std::get_if<int64_t>(&value_)) {
    out += std::to_string(*signed_whole);
  } else if (const auto* whole = std::get_if<uint64_t>(&value_)) {
    out += std::to_string(*whole);
  } else if (const auto* number = std::get_if<double>(&value_)) {
    out += scalar_text(*number);
  } else if (const auto* truth = std::get_if<bool>(&value_)) {
    out += *truth ? "true" : "false";
  } else {
    out += "null";
  }
}

std::string Json::text() const {
  std::string out;
  write(out, 0);
  return out;
}

}  // namespace contrafact::table
