#include "table/json_stream.h"

#include "table/render.h"

namespace contrafact::table {
namespace {

std::string dump(const Json& value) {
  std::string text = json_text(value);
  text.pop_back();  // the line break
  return text;
}

// Line breaks inside of texts are escaped: those that are left are between lines.
void append_indented(std::string& out, std::string_view json, std::string_view indent) {
  for (const char c : json) {
    out += c;
    if (c == '\n') out += indent;
  }
}

}  // namespace

void JsonStream::begin_member(std::string_view key) {
  text_ += any_member_ ? ",\n  " : "{\n  ";
  any_member_ = true;
  text_ += dump(Json(std::string(key)));
  text_ += ": ";
}

void JsonStream::member(std::string_view key, const Json& value) {
  begin_member(key);
  append_indented(text_, dump(value), "  ");
  base::hand_on(text_, sink_);
}

void JsonStream::members(const Json& object) {
  for (const auto& [name, value] : object.members()) member(name, value);
}

void JsonStream::begin_array(std::string_view key) {
  begin_member(key);
  text_ += '[';
  any_item_ = false;
}

void JsonStream::item_text(std::string_view json) {
  text_ += any_item_ ? ",\n    " : "\n    ";
  any_item_ = true;
  append_indented(text_, json, "    ");
  base::hand_on(text_, sink_);
}

void JsonStream::item(const Json& value) {
  item_text(dump(value));
}

void JsonStream::row(const Schema& schema, const std::vector<Cell>& cells) {
  item(row_json(schema, cells));
}

void JsonStream::end_array() {
  text_ += any_item_ ? "\n  ]" : "]";
}

void JsonStream::rows(std::string_view key, const Table& table) {
  begin_array(key);
  for (const auto& cells : table.rows()) row(table.schema(), cells);
  end_array();
}

void JsonStream::finish() {
  text_ += any_member_ ? "\n}\n" : "{}\n";
  base::hand_on(text_, sink_, 0);
}

}  // namespace contrafact::table
