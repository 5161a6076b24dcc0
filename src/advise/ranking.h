// All findings about a trace, in the order in which a person reads them, and the recommendation in one sentence. Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "advise/combination.h"
#include "analysis/starvation.h"

namespace contrafact::advise {

// One of several recordings, as a document reports it.
struct RecordingNote {
  std::string path;
  int64_t duration_ns = 0;
  Headline headline;
  std::optional<whatif::BaselineCheck> baseline;
};

// Another recording than the shown one, in which pools starved or came near to it.
struct StarvedElsewhere {
  std::string path;
  const model::Trace* trace;  // outlives it
  analysis::Starvations found;
};

// `facts` and `sections` outlive it.
struct AdviceDocument {
  std::string path;
  std::string recordings;              // the recordings that times and sets come from: lines; empty: nothing to say
  std::vector<RecordingNote> several;  // the shown recording first; empty where there is only one
  const model::Facts* facts = nullptr;
  const analysis::SectionFacts* sections = nullptr;  // null: the trace has none, or it is not known what they touched
  Weights weights;
  Advices advices;
  Combination best;
  analysis::Starvations starvations;
  std::vector<StarvedElsewhere> starved_elsewhere = {};
  std::string bounded = "";  // figures not worked out because the trace is long: clauses; empty: none
  size_t shown = 20;
  uint32_t cores = 0;                   // of the simulated machine; 0: as recorded
  bool threads_scarce = true;           // false: most are virtual, and only time counts
  std::vector<std::string> flows = {};  // what the flows between sections say of each lock (flow_advice.h), sentences
  bool left_out = false;
  bool all = false;  // print also improvements that change nothing measurable by themselves

  const model::Trace& trace() const { return facts->trace(); }
};

// Whether the improvement by itself gains time, peak or mean by more than noise.
bool is_tellable(const AdviceDocument& document, const Advice& advice);

// How the ranking is shown: indexes into Advices::ranked.
struct Shown {
  std::vector<size_t> best;  // of the best combination
  std::vector<size_t>
      others;             // worth making by themselves: at most `document.shown`; with `document.all`, all there are
  size_t cut = 0;         // tellable ones beyond that number
  size_t untellable = 0;  // those that change nothing measurable by themselves
};
Shown shown_of(const AdviceDocument& document);

// Ranks as they are shown, without holes: the best combination's first, then improvements worth making by themselves,
// then the rest; in each group the best first.
void rank_as_shown(AdviceDocument& document);

// A line, if there are several recordings: those that gains come from, and the one that everything else comes from.
std::string several_sentence(const AdviceDocument& document);

// "31 % in b.cft, 29 % in a.cft, not known in c.cft"; empty where there is one recording.
std::string gains_by_recording(const AdviceDocument& document, const Effect& effect);

// A line: the limit of the run, whether or not anything can be changed.
std::string limit_sentence(const AdviceDocument& document);

// The first change to make, its place, and how much work it is: "convert-to-inline at shop.Main.main (Main.java:9), one
// line". `what` and `place` are those of the first change. Empty where nothing gains more than repeated runs differ by.
// REQUIRES: something is ranked.
std::string first_sentence(const AdviceDocument& document, const std::string& what, const std::string& place);

// How certain the gains are: the model that they come from, and its error where the truth is known.
std::string certainty_sentence(const AdviceDocument& document);

// The recommendation and its gain. REQUIRES: something is ranked.
std::string summary_sentence(const AdviceDocument& document);

}  // namespace contrafact::advise
