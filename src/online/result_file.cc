#include "online/result_file.h"

namespace contrafact::online {

std::string quoted(const char* text) {
  std::string out = "\"";
  for (; *text; ++text) {
    const auto c = static_cast<unsigned char>(*text);
    if (c == '"' || c == '\\') out += '\\';
    if (c >= 0x20) {
      out += *text;
    } else {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    }
  }
  return out + '"';
}

std::string method_fields(const contrafact_host& host, uint32_t id) {
  contrafact_method method{"", "(outside)", "", "", 0};
  if (id != CONTRAFACT_OUTSIDE && !host.method(host.context, id, &method)) method.name = "(unknown)";
  return quoted(method.class_name) + ',' + quoted(method.name) + ',' + quoted(method.descriptor) + ',' +
         quoted(method.file) + ',' + std::to_string(method.line);
}

void write_run(std::FILE* file, const contrafact_run& run,
               std::initializer_list<std::pair<const char*, uint64_t>> more) {
  const char* separator = "";
  const auto number = [&](const char* name, uint64_t value) {
    std::fprintf(file, "%s\"%s\":%llu", separator, name, static_cast<unsigned long long>(value));
    separator = ",";
  };
  number("events", run.events);
  number("lost", run.lost);
  number("methods", run.methods);
  number("refused", run.refused);
  number("unseen_sites", run.unseen_sites);
  number("buffers", run.buffers);
  number("buffer_bytes_max", run.buffer_bytes_max);
  number("consumers_cpu_ns", run.consumers_cpu_ns);
  number("rest_ns", run.rest_ns);
  for (const auto& [name, value] : more) number(name, value);
}

}  // namespace contrafact::online
