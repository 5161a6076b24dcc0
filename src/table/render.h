// A table as text for a terminal or a pipe, as JSON and as CSV. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "table/json.h"
#include "table/table.h"

namespace contrafact::table {

struct TextStyle {
  size_t width = 0;      // columns to keep within; 0: as wide as the content
  size_t prose = 0;      // columns in which sentences are wrapped; 0: a line for each, as a pipe wants it
  bool colour = false;   // ANSI sequences
  bool unicode = false;  // arrows and ellipses; otherwise ASCII only
  bool links = false;    // places lead to their files (OSC 8)
};

// Aligned columns with a heading; numbers to the right; text elided in its middle, then columns hidden, until it fits.
// Ends with the notes. An empty table is its reason, in one line.
std::string render_text(const Table& table, const TextStyle& style);

// {"columns": [...]} is not repeated in each result: rows are objects keyed by column name. An interval is
// {"low":, "high":}, a change {"before":, "after":}, a location {"method":, "file":, "line":}, nothing is null.
Json rows_json(const Table& table);
Json row_json(const Schema& schema, const std::vector<Cell>& cells);
// {"name":, "rows": [...], "empty_reason":?, "notes": [...]?}
Json render_json(const Table& table);
// Text of any JSON value of ours: broken UTF-8 replaced, never an exception; ends with a line break. All controls and
// direction marks are escaped, those beyond ASCII too.
std::string json_text(const Json& value);

// RFC 4180, with one heading line; raw numbers in the column's unit. Intervals, changes and locations take two or three
// columns (name_low, name_high; name_before, name_after; name_method, name_file, name_line). Text that a spreadsheet
// would run as a formula has an apostrophe in front; what could upset a terminal becomes '?', but for line breaks.
std::string render_csv(const Table& table);
// The same piece by piece: the heading line, and each row's.
std::string csv_heading(const Schema& schema);
std::string csv_line(const Schema& schema, const std::vector<Cell>& cells);
std::string csv_field(std::string_view text);  // of text: numbers need none

// "name: sentence" for each column, for help texts and documents. Width 0: a line for each.
std::string describe(const Schema& schema, size_t width = 0);

}  // namespace contrafact::table
