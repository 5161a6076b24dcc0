#include "classfile/named_locals.h"

#include <algorithm>

namespace contrafact::classfile {
namespace {

struct LineStart {
  uint32_t pc = 0;
  uint16_t line = 0;
};

// A method may have several tables of lines, which need not be in order.
std::vector<LineStart> line_starts(const std::vector<Attribute>& attributes) {
  std::vector<LineStart> starts;
  for (const Attribute& attribute : attributes) {
    if (attribute.name != "LineNumberTable") continue;
    ByteReader table(attribute.content);
    for (int left = table.u2(); left > 0; --left) {
      const LineStart start{table.u2(), table.u2()};
      if (!table.ok()) break;
      starts.push_back(start);
    }
  }
  std::ranges::stable_sort(starts, {}, &LineStart::pc);
  return starts;
}

// The lines of the code from `begin` to before `end`, into `local`. False if there are none.
bool find_lines(const std::vector<LineStart>& starts, uint32_t begin, uint32_t end, NamedLocal& local) {
  bool found = false;
  for (size_t i = 0; i < starts.size(); ++i) {
    const uint32_t line_end = i + 1 < starts.size() ? starts[i + 1].pc : UINT32_MAX;
    if (starts[i].pc >= end || line_end <= begin) continue;
    local.first_line = found ? std::min(local.first_line, starts[i].line) : starts[i].line;
    local.last_line = std::max(local.last_line, starts[i].line);
    found = true;
  }
  return found;
}

}  // namespace

std::vector<NamedLocal> named_locals(const ClassFile& file, const Member& method, bool (*wanted)(std::string_view)) {
  ByteReader code(method.code);
  code.take(4);  // max_stack, max_locals
  code.take(code.u4());
  code.take(size_t{code.u2()} * 8);  // the exception table
  const auto attributes = read_attributes(code, file.pool());
  if (!attributes) return {};
  const std::vector<LineStart> starts = line_starts(*attributes);
  std::vector<NamedLocal> locals;
  for (const Attribute& attribute : *attributes) {
    if (attribute.name != "LocalVariableTable") continue;
    ByteReader table(attribute.content);
    for (int left = table.u2(); left > 0; --left) {
      const uint32_t begin = table.u2();
      const uint32_t end = begin + table.u2();
      const auto name = file.pool().utf8(table.u2());
      const auto descriptor = file.pool().utf8(table.u2());
      table.u2();  // the slot
      if (!table.ok()) break;
      NamedLocal local;
      if (!name || !descriptor || !wanted(*descriptor) || !find_lines(starts, begin, end, local)) continue;
      local.name = *name;
      local.descriptor = *descriptor;
      locals.push_back(local);
    }
  }
  return locals;
}

}  // namespace contrafact::classfile
