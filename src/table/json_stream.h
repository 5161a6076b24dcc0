// JsonStream: a JSON document written member by member and row by row. The text is that of json_text for the whole,
// whose tree takes gigabytes for a million rows. Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text_sink.h"
#include "table/json.h"
#include "table/table.h"

namespace contrafact::table {

class JsonStream {
 public:
  explicit JsonStream(base::TextSink sink) : sink_(std::move(sink)) {}

  // The members of an object that is made already.
  void members(const Json& object);
  void member(std::string_view key, const Json& value);
  // An array, item by item.
  void begin_array(std::string_view key);
  void item(const Json& value);
  // REQUIRES: a cell for each column.
  void row(const Schema& schema, const std::vector<Cell>& cells);
  // Text that is JSON already.
  void item_text(std::string_view json);
  void end_array();
  void rows(std::string_view key, const Table& table);
  void finish();

 private:
  void begin_member(std::string_view key);

  base::TextSink sink_;
  std::string text_;
  bool any_member_ = false;
  bool any_item_ = false;
};

}  // namespace contrafact::table
