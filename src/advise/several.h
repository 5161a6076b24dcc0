// Several recordings of one program that differs from run to run. Each has advice of its own; here the advice on one of
// them, the shown one, is rewritten from all of them: gains are medians with their spread, and a change that gains in
// one recording and loses in another is left out.
//
// One call at a time.
#pragma once

#include <span>
#include <string>

#include "advise/combination.h"
#include "improve/spec.h"

namespace contrafact::advise {

// One recording, as the engines see it, with its own advice.
struct RecordingAdvice {
  std::string path;
  Engines engines;
  improve::SpecTrace specs;
  Advices advices;
  Combination best;
};

// A change is found in the other recordings by kind and place. Where its place does not occur, it gains nothing; where
// it cannot be priced, that recording does not count. A change that only another recording's advice suggests joins the
// ranking, if the shown recording has its place. Of the recordings' own best combinations and the first change alone,
// the one that scores best by the gains over all is the best combination.
void advise_over(RecordingAdvice& shown, std::span<const RecordingAdvice> others, const AdviceOptions& options);

}  // namespace contrafact::advise
