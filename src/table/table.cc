#include "table/table.h"

#include <utility>

#include "base/check.h"

namespace contrafact::table {
namespace {

bool fits(const Cell::Value& cell, Type type) {
  if (std::holds_alternative<std::monostate>(cell)) return true;
  switch (type) {
    case Type::text:
    case Type::word:
    case Type::name:
    case Type::places:
      return std::holds_alternative<std::string>(cell);
    case Type::integer:
    case Type::duration:
      return std::holds_alternative<int64_t>(cell);
    case Type::number:
    case Type::ratio:
      return std::holds_alternative<double>(cell);
    case Type::interval:
      return std::holds_alternative<Interval>(cell);
    case Type::change:
      return std::holds_alternative<Change>(cell);
    case Type::location:
      return std::holds_alternative<Location>(cell);
  }
  return false;
}

}  // namespace

Cell::Cell() = default;
Cell::Cell(std::monostate) {}
Cell::Cell(std::string text) : value_(std::move(text)) {}
Cell::Cell(const char* text) : value_(std::string(text)) {}
Cell::Cell(int64_t whole) : value_(whole) {}
Cell::Cell(int whole) : value_(int64_t{whole}) {}
Cell::Cell(uint32_t whole) : value_(int64_t{whole}) {}
Cell::Cell(double number) : value_(number) {}
Cell::Cell(Interval range) : value_(range) {}
Cell::Cell(Change change) : value_(change) {}
Cell::Cell(Location at) : value_(std::move(at)) {}
Cell::Cell(const Cell& other) = default;
Cell::Cell(Cell&& other) noexcept = default;
Cell::~Cell() = default;

Cell& Cell::operator=(Cell other) noexcept {
  value_ = std::move(other.value_);
  return *this;
}

void Table::add_row(std::vector<Cell> cells) {
  CHECK(cells.size() == schema_->columns.size());
  for (size_t i = 0; i < cells.size(); ++i) CHECK(fits(cells[i].value(), schema_->columns[i].type));
  rows_.push_back(std::move(cells));
}

std::string_view name_of(Type type) {
  switch (type) {
    case Type::text:
      return "text";
    case Type::word:
      return "word";
    case Type::name:
      return "name";
    case Type::places:
      return "places";
    case Type::integer:
      return "integer";
    case Type::number:
      return "number";
    case Type::duration:
      return "duration";
    case Type::ratio:
      return "ratio";
    case Type::interval:
      return "interval";
    case Type::change:
      return "change";
    case Type::location:
      return "location";
  }
  return "?";
}

std::string_view name_of(Unit unit) {
  switch (unit) {
    case Unit::none:
      return "";
    case Unit::ns:
      return "ns";
    case Unit::ratio:
      return "ratio";
    case Unit::threads:
      return "threads";
    case Unit::tasks:
      return "tasks";
    case Unit::events:
      return "events";
    case Unit::bytes:
      return "bytes";
    case Unit::requests:
      return "requests";
  }
  return "?";
}

}  // namespace contrafact::table
