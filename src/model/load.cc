#include "model/load.h"

#include "base/file.h"
#include "model/text_trace.h"

namespace contrafact::model {

base::Result<Trace> load_any(const std::string& path) {
  base::Result<std::string> text = base::read_text_file(path);
  if (!text) return text.error();
  base::Result<Trace> trace = parse_text(*text);
  if (!trace) return base::Error{path + ": " + trace.error().message};
  return trace;
}

}  // namespace contrafact::model
