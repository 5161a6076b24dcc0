// Graphviz, which lays graphs out: a program of its own that need not be installed.
#pragma once

#include <string>

#include "base/result.h"

namespace contrafact::cli {

// Graphviz's picture of a DOT text, as SVG.
base::Result<std::string> laid_out(const std::string& dot);

}  // namespace contrafact::cli
