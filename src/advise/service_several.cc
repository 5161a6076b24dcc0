#include "advise/service_several.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "advise/gain_over.h"
#include "advise/service_gain.h"
#include "advise/service_worth.h"

namespace contrafact::advise {
namespace {

using improve::Candidate;
using whatif::Improvement;

const Gain kGainOfNothing{.origin = model::Origin::simulated};

// Of one row.
struct RowGains {
  std::optional<Gain> gain, adds;
};

// The rows' changes in another recording, the members of the best combination first: none where the place does not occur.
using Elsewhere = std::vector<std::optional<Candidate>>;

Elsewhere find_in(const improve::SpecTrace& specs, std::span<const std::string> selections) {
  Elsewhere found;
  for (base::Result<Candidate>& one : improve::select_each(specs, selections))
    found.push_back(one ? std::optional(*std::move(one)) : std::nullopt);
  return found;
}

// The rows' gains in one other recording.
class OtherGains {
 public:
  OtherGains(const WorthMeter& meter, const Pricer& pricer, const ServiceAdvice& advice, const Elsewhere& found)
      : meter_(meter), pricer_(pricer), advice_(advice), found_(found) {
    const double clients = meter.clients() * advice.clients_ratio;
    clients_ = static_cast<uint32_t>(std::clamp<double>(std::round(clients), 1, kClientsMost));
    all_ = meter.measured(members_but(found.size()), clients_);
  }

  std::vector<RowGains> rows() const {
    std::vector<RowGains> rows;
    for (size_t row = 0; row < found_.size(); ++row) {
      const std::optional<Gain>& adds =
          row < advice_.best.size() ? advice_.best[row].adds : advice_.others[row - advice_.best.size()].adds;
      rows.push_back({gain_of(row), adds ? adds_of(row) : std::nullopt});
    }
    return rows;
  }

 private:
  // Of the best combination, as far as it is there, without one row.
  std::vector<Improvement> members_but(size_t row) const {
    std::vector<Improvement> members;
    for (size_t i = 0; i < advice_.best.size(); ++i) {
      if (i != row && found_[i]) members.push_back(found_[i]->improvement);
    }
    return members;
  }

  std::optional<Gain> gain_of(size_t row) const {
    if (!found_[row]) return kGainOfNothing;
    const base::Result<whatif::Variant> variant = pricer_.variant(std::span(&found_[row]->improvement, 1));
    if (!variant) return std::nullopt;
    const base::Result<LoadPoint> rate = meter_.rate(*variant);
    return rate ? meter_.rate_gain(*rate) : std::nullopt;
  }

  std::optional<Gain> adds_of(size_t row) const {
    if (!found_[row]) return kGainOfNothing;
    std::vector<Improvement> others = members_but(row);
    if (row < advice_.best.size()) return between(meter_.measured(others, clients_), all_);
    others.push_back(found_[row]->improvement);
    return between(all_, meter_.measured(others, clients_));
  }

  std::optional<Gain> between(const std::optional<LoadPoint>& before, const std::optional<LoadPoint>& after) const {
    return before && after ? meter_.gain(*before, *after) : std::nullopt;
  }

  const WorthMeter& meter_;
  const Pricer& pricer_;
  const ServiceAdvice& advice_;
  const Elsewhere& found_;
  uint32_t clients_ = 0;
  std::optional<LoadPoint> all_;  // with all members; none: that hangs
};

// Empty rows: the recording does not count, and `why` says why.
base::Result<std::vector<RowGains>> gains_in(const OtherRecording& other, const ServiceAdvice& advice,
                                             std::span<const std::string> selections, const OverOptions& options,
                                             std::string& why) {
  const base::Result<RecordedService> recorded = recorded_service(other.pricer.facts(), options.reading);
  if (!recorded) return recorded.error();
  why = recorded->unusable;
  if (!why.empty()) return std::vector<RowGains>();
  const base::Result<Service> service =
      service_of(*recorded, other.pricer.facts(), {.cores = options.cores, .progress = options.progress});
  if (!service) return service.error();
  const base::Result<Saturation> before = service->saturation({}, false);
  if (!before) return before.error();
  const base::Result<LoadPoint> at_load = service->at_load({}, options.advice.load);
  if (!at_load) return at_load.error();
  const base::Result<WorthMeter> meter =
      WorthMeter::make(*service, other.pricer, {options.advice.objective, options.advice.load}, *before, *at_load);
  if (!meter) return meter.error();
  const Elsewhere found = find_in(other.specs, selections);
  return OtherGains(*meter, other.pricer, advice, found).rows();
}

// Over all recordings, the shown one's first. None: no recording knows it.
std::optional<Gain> median_gain(const std::vector<std::optional<Gain>>& each) {
  const bool is_known = std::ranges::any_of(each, [](const std::optional<Gain>& gain) { return gain.has_value(); });
  return is_known ? std::optional(gain_over(each, INFINITY)) : std::nullopt;
}

void merge(ServiceChange& change, size_t row, const std::vector<std::vector<RowGains>>& others) {
  change.by_recording = {change.gain};
  std::vector<std::optional<Gain>> adds{change.adds};
  for (const std::vector<RowGains>& rows : others) {
    change.by_recording.push_back(rows[row].gain);
    adds.push_back(rows[row].adds);
  }
  change.gain = median_gain(change.by_recording);
  change.adds = median_gain(adds);
}

// Of rows that are no members. Where the recorded program hangs, they are no gains in what it answers alone.
bool may_be_none(const ServiceAdvice& advice, const ServiceChange& change) {
  if (advice.before.hangs || advice.objective != ServiceObjective::throughput) return false;
  const std::optional<Gain>& gain = change.adds ? change.adds : change.gain;
  return gain && !is_sure(*gain);
}

}  // namespace

base::Result<OverRecordingsFound> advise_service_over(ServiceAdvice& advice, const improve::SpecTrace& shown,
                                                      std::span<const OtherRecording> others,
                                                      const OverOptions& options) {
  std::vector<std::string> selections;
  for (std::vector<ServiceChange>* list : {&advice.best, &advice.others}) {
    for (const ServiceChange& change : *list) selections.push_back(improve::write_selection(shown, change.candidate));
  }
  OverRecordingsFound over;
  std::vector<std::vector<RowGains>> found;
  for (const OtherRecording& other : others) {
    std::string why;
    base::Result<std::vector<RowGains>> rows = gains_in(other, advice, selections, options, why);
    if (!rows) return base::Error{fmt::format("{}: {}", other.path, rows.error().message)};
    if (why.empty()) {
      found.push_back(*std::move(rows));
      over.paths.push_back(other.path);
    } else {
      over.notes.push_back(fmt::format("{} does not count: {}", other.path, why));
    }
  }
  if (found.empty()) return over;
  size_t row = 0;
  for (std::vector<ServiceChange>* list : {&advice.best, &advice.others}) {
    for (ServiceChange& change : *list) merge(change, row++, found);
  }
  std::erase_if(advice.others, [&](const ServiceChange& change) { return may_be_none(advice, change); });
  return over;
}

}  // namespace contrafact::advise
