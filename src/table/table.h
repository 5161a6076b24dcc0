// Result tables: what every analysis returns and every output format prints. A schema is declared once, with a sentence
// for each column; rows are typed cells, so that a number keeps its unit until it is rendered.
//
//   inline const table::Schema kPools{"pools", "Thread pools of the recorded program.", {
//       {"pool", "pool", table::Type::text, table::Unit::none, "Class and thread name prefix of the executor."},
//       {"busy_ns", "busy", table::Type::duration, table::Unit::ns, "Time its workers spent in tasks, summed."}}};
//   table::Table result(kPools);
//   result.add_row({"http-worker", int64_t{1200}});
//
// A Table is not thread-safe; a Schema is immutable and must outlive its tables.
// Invariants, checked by add_row:
//  1. A row has exactly one cell for each column.
//  2. A cell holds its column's type, or nothing (std::monostate: not known, shown as "-", null in JSON).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace contrafact::table {

enum class Type : uint8_t {
  text,      // std::string; elided when the terminal is narrow, as are name, places and location
  word,      // std::string: one or a few words, never elided
  name,      // std::string: a qualified name; its package or namespace is left out first
  places,    // std::string: "f (a.cc:1), g (b.cc:2), and 3 more"; all but the first are left out first
  integer,   // int64_t
  number,    // double
  duration,  // int64_t nanoseconds; shown as 1.23 ms
  ratio,     // double, 1 is all; shown as per cent
  interval,  // Interval in the column's unit
  change,    // Change in the column's unit; shown as 12.1 -> 4.0
  location,  // Location in the source
};

enum class Unit : uint8_t { none, ns, ratio, threads, tasks, events, bytes, requests };

struct Interval {
  double low = 0;
  double high = 0;
  bool operator==(const Interval&) const = default;
};

// A value before and after an improvement. The column says which origin `after` has (estimated, simulated, measured).
struct Change {
  double before = 0;
  double after = 0;
  bool operator==(const Change&) const = default;
};

struct Location {
  std::string method;      // "Feed.load"; may be empty
  std::string file;        // empty if unknown
  uint32_t line = 0;       // 0 if unknown
  std::string path = {};   // of the file, where it is known
  std::string via = {};    // the library that the program calls there: "Reactor"; empty if none
  std::string owner = {};  // whose code it is, "JDK" or a library's name; empty: the program's
  std::string apart = {};  // tells it from the same place in another row: "from Feed.load"; empty: there is none
  bool operator==(const Location&) const = default;
};

// The value of one row in one column. Copying is defined in table.cc, not inline: every place that adds a row would
// otherwise compile a copy of this code.
class Cell {
 public:
  using Value = std::variant<std::monostate, std::string, int64_t, double, Interval, Change, Location>;

  Cell();
  Cell(std::monostate);
  Cell(std::string text);
  Cell(const char* text);
  Cell(int64_t whole);
  Cell(int whole);
  Cell(uint32_t whole);
  Cell(double number);
  Cell(Interval range);
  Cell(Change change);
  Cell(Location at);
  Cell(const Cell& other);
  Cell(Cell&& other) noexcept;
  Cell& operator=(Cell other) noexcept;
  ~Cell();

  const Value& value() const { return value_; }
  bool is_empty() const { return value_.index() == 0; }

 private:
  Value value_;
};

struct Column {
  std::string_view name;   // key in JSON and CSV: snake_case, unit last
  std::string_view title;  // heading on a terminal
  Type type = Type::text;
  Unit unit = Unit::none;
  std::string_view description;  // one sentence
  // Columns with the highest number are hidden first when a terminal is too narrow, those that are empty before all; 0
  // is hidden only where it is an empty column of figures.
  uint8_t hide_order = 0;
  // On a terminal no column, but a line for each row under the table: "#2 note: ...". For sentences.
  bool below = false;
};

struct Schema {
  std::string_view name;
  std::string_view description;  // one sentence
  std::vector<Column> columns;
};

class Table {
 public:
  explicit Table(const Schema& schema) : schema_(&schema) {}

  // REQUIRES: the invariants above. An int literal is taken for either of integer and duration.
  void add_row(std::vector<Cell> cells);

  const Schema& schema() const { return *schema_; }
  const std::vector<std::vector<Cell>>& rows() const { return rows_; }
  bool empty() const { return rows_.empty(); }

  // Why there are no rows; every producer of a table that may be empty sets it.
  void set_empty_reason(std::string reason) { empty_reason_ = std::move(reason); }
  const std::string& empty_reason() const { return empty_reason_; }

  // Lines printed below the table: warnings, losses, what was left out.
  void add_note(std::string note) { notes_.push_back(std::move(note)); }
  const std::vector<std::string>& notes() const { return notes_; }

  // Keeps the first `count` rows.
  void truncate(size_t count) {
    if (rows_.size() > count) rows_.resize(count);
  }

 private:
  const Schema* schema_;
  std::vector<std::vector<Cell>> rows_;
  std::string empty_reason_;
  std::vector<std::string> notes_;
};

// The names used in documents and in JSON: "duration", "ns".
std::string_view name_of(Type type);
std::string_view name_of(Unit unit);

}  // namespace contrafact::table
