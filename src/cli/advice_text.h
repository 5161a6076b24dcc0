// Advice as a person reads it, as JSON, and as spec files.
#pragma once

#include <string>
#include <vector>

#include "advise/ranking.h"
#include "cli/command.h"
#include "improve/spec.h"
#include "table/render.h"

namespace contrafact::cli {

using advise::AdviceDocument;

std::string advice_text(const AdviceDocument& document, const table::TextStyle& style);
// `service`: its member of that name.
std::string advice_json(const AdviceDocument& document, table::Json service = {});

// NN-OPTIMISATION.json for each ranked improvement and best.json for the combination, into `folder`, which is made if
// it is not there and there is something to write, but not its parents. Older specs in it are replaced only where the
// names are the same. Every spec written can be applied to the trace (`contrafact estimate --apply`). Standard error
// names the specs that were written, and the improvements that cannot be applied.
base::Status write_specs(const std::string& folder, const advise::Engines& engines, const AdviceDocument& document,
                         const Session& session);

// The same of other improvements than the ranked ones: `all`, in their order; `best`: positions in it.
struct SpecList {
  std::vector<improve::SpecEntry> all;
  std::vector<size_t> best;
};
base::Status write_specs(const std::string& folder, const advise::Engines& engines, const AdviceDocument& document,
                         const SpecList& list, const Session& session);

}  // namespace contrafact::cli
