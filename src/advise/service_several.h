// Several recordings of one service that differ. The advice is of one of them, the shown one; here the gains of its rows are found in
// the others, too: they are medians then, with their spread (gain_over.h). All else stays that of the shown one.
//
// One call at a time.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "advise/pricer.h"
#include "advise/recorded_service.h"
#include "advise/service_advice.h"
#include "improve/spec.h"

namespace contrafact::advise {

struct OtherRecording {
  std::string path;
  const Pricer& pricer;
  improve::SpecTrace specs;
};

struct OverOptions {
  ServiceReading reading;
  ServiceAdviceOptions advice;
  uint32_t cores = 0;
  std::function<void()> progress;  // after each simulated load; may be empty
};

struct OverRecordingsFound {
  std::vector<std::string> paths;  // of the other recordings that count
  std::vector<std::string> notes;  // why others do not
};

// A change is found in the other recordings by kind and place. Where its place does not occur, it gains nothing; where it cannot be simulated,
// or hangs, that recording does not count. Rows that are no members and may be no gain go.
base::Result<OverRecordingsFound> advise_service_over(ServiceAdvice& advice, const improve::SpecTrace& shown,
                                                      std::span<const OtherRecording> others,
                                                      const OverOptions& options);

}  // namespace contrafact::advise
