#include "analysis/section_match.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/text_names.h"

namespace contrafact::analysis {
namespace {

using model::CriticalSection;

bool is_hold(const SectionFacts& facts, uint32_t s) {
  const CriticalSection& section = facts.sections[s];
  return section.outcome == model::Outcome::normal && model::is_held(facts.trace->locks[section.lock.index()].kind);
}

// What one recording calls each of its threads, locks or sites, in terms that the other one shares.
using Names = std::vector<std::string>;

// The i-th of n in one list corresponds to the (i * m / n)-th of m in another one.
size_t in_proportion(size_t i, size_t n, size_t m) {
  return i * m / n;
}

// For each member of `to`, the one of `from` with the same name; several with one name correspond in their orders.
// `order` lists the members of each in the order that counts. kNoSection: the name is not in `from`.
std::vector<uint32_t> correspond(const Names& to, const std::vector<uint32_t>& to_order, const Names& from,
                                 const std::vector<uint32_t>& from_order) {
  std::unordered_map<std::string_view, std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> of_name;
  for (const uint32_t member : to_order) of_name[to[member]].first.push_back(member);
  for (const uint32_t member : from_order) of_name[from[member]].second.push_back(member);
  std::vector<uint32_t> counterpart(to.size(), kNoSection);
  for (const auto& [name, members] : of_name) {
    const auto& [of_to, of_from] = members;
    for (size_t i = 0; i < of_to.size() && !of_from.empty(); ++i)
      counterpart[of_to[i]] = of_from[in_proportion(i, of_to.size(), of_from.size())];
  }
  return counterpart;
}

// By the thread's name and by what it runs first.
Names thread_names(const model::Trace& trace) {
  Names names;
  for (uint32_t t = 0; t < trace.threads.size(); ++t) {
    std::string name(trace.string(trace.threads[t].name));
    const model::EventRange events = trace.thread_events(model::ThreadId(t));
    for (uint32_t i = events.begin; i < events.end; ++i) {
      if (trace.kind[i] != model::EventKind::task_start) continue;
      name += "\n" + trace.method_label(trace.tasks[trace.a[i]].body);
      break;
    }
    names.push_back(std::move(name));
  }
  return names;
}

// By the lock's name, or else by the code that takes it most.
struct LockNames {
  Names names;                       // empty: nobody ever held it
  std::vector<uint32_t> first_held;  // the others, in the order of their first sections
};

LockNames lock_names(const SectionFacts& facts) {
  const model::Trace& trace = *facts.trace;
  LockNames named{.names = Names(trace.locks.size())};
  std::vector<std::pair<int64_t, uint32_t>> firsts;
  for (uint32_t begin = 0, end = 0; begin < facts.sections.size(); begin = end) {
    const uint32_t lock = facts.sections[begin].lock.value;
    std::map<std::string_view, size_t> of_site;
    int64_t first_ns = INT64_MAX;
    for (end = begin; end < facts.sections.size() && facts.sections[end].lock.value == lock; ++end) {
      if (!is_hold(facts, end)) continue;
      ++of_site[facts.sites.sites()[facts.site_of[end]].label];
      first_ns = std::min(first_ns, facts.sections[end].acquire_ns);
    }
    if (of_site.empty()) continue;
    const format::LockRow& row = trace.locks[lock];
    const std::string_view name = trace.string(row.name);
    const auto most = std::ranges::max_element(of_site, {}, [](const auto& each) { return each.second; });
    named.names[lock] =
        std::string(model::kLockKindNames[row.kind]) + "\n" + std::string(name.empty() ? most->first : name);
    firsts.emplace_back(first_ns, lock);
  }
  std::ranges::sort(firsts);
  for (const auto& [first_ns, lock] : firsts) named.first_held.push_back(lock);
  return named;
}

Names site_names(const SectionFacts& facts) {
  Names names;
  for (const LockSite& site : facts.sites.sites()) names.push_back(site.label);
  return names;
}

std::vector<uint32_t> first_to_last(size_t count) {
  std::vector<uint32_t> all(count);
  for (uint32_t i = 0; i < count; ++i) all[i] = i;
  return all;
}

// Where a section of `to` looks for its counterpart in `from`.
struct Place {
  uint32_t lock = kNoSection, site = kNoSection;
  bool waits = false;  // it ends in a wait at a condition, and did not do what its code is for
  uint32_t thread = kNoSection;
  auto operator<=>(const Place&) const = default;
};

struct Placed {
  Place place;
  int64_t acquire_ns = 0;
  uint32_t section = 0;
  auto operator<=>(const Placed&) const = default;
};

bool ends_in_wait(const SectionFacts& facts, uint32_t s) {
  const CriticalSection& section = facts.sections[s];
  const model::Trace& trace = *facts.trace;
  const uint32_t next = section.release.value + 1;
  return section.release.valid() && next < trace.thread_ranges[section.thread.index()].end &&
         trace.kind[next] == model::EventKind::sync_wait;
}

class Matcher {
 public:
  // `observed`: by section of `from`.
  Matcher(const SectionFacts& to, const SectionFacts& from, const std::vector<bool>& observed)
      : to_(to), from_(from), within_(&to == &from), is_observed_(observed) {}

  std::vector<uint32_t> run() {
    find_correspondence();
    for (uint32_t s = 0; s < from_.sections.size(); ++s) {
      const CriticalSection& section = from_.sections[s];
      if (!is_hold(from_, s) || !is_observed_[s]) continue;
      observed_.push_back({{section.lock.value, from_.site_of[s], ends_in_wait(from_, s), section.thread.value},
                           section.acquire_ns,
                           s});
    }
    std::ranges::sort(observed_);
    std::vector<Placed> wanted;
    for (uint32_t s = 0; s < to_.sections.size(); ++s) {
      if (is_hold(to_, s)) wanted.push_back({place_of(s), to_.sections[s].acquire_ns, s});
    }
    std::ranges::sort(wanted);
    std::vector<uint32_t> found(to_.sections.size(), kNoSection);
    for (auto begin = wanted.begin(); begin != wanted.end();) {
      const auto end =
          std::find_if(begin, wanted.end(), [&](const Placed& each) { return each.place != begin->place; });
      match({begin, end}, found);
      begin = end;
    }
    return found;
  }

 private:
  void find_correspondence() {
    if (within_) {
      threads_ = first_to_last(to_.trace->threads.size());
    } else {
      const Names to_threads = thread_names(*to_.trace), from_threads = thread_names(*from_.trace);
      threads_ =
          correspond(to_threads, first_to_last(to_threads.size()), from_threads, first_to_last(from_threads.size()));
    }
    places_ = correspondence(to_, from_);
  }

  Place place_of(uint32_t s) const {
    const CriticalSection& section = to_.sections[s];
    return {places_.locks[section.lock.index()], places_.sites[to_.site_of[s]], ends_in_wait(to_, s),
            threads_[section.thread.index()]};
  }

  // Those of the same thread, or else of any that end alike, or else of any at all.
  std::span<const Placed> observed_at(const Place& place) {
    const auto of_thread = std::ranges::equal_range(observed_, place, {}, &Placed::place);
    if (!of_thread.empty()) return {of_thread.begin(), of_thread.end()};
    const auto alike = [](const Placed& p) { return std::tuple(p.place.lock, p.place.site, p.place.waits); };
    const auto of_alike = std::ranges::equal_range(observed_, alike({.place = place}), {}, alike);
    if (!of_alike.empty()) return {of_alike.begin(), of_alike.end()};
    const auto code = [](const Placed& p) { return std::pair(p.place.lock, p.place.site); };
    const auto of_code = std::ranges::equal_range(observed_, code({.place = place}), {}, code);
    return {of_code.begin(), of_code.end()};
  }

  // `group`: all sections of one place. The observed ones are taken in blocks, and matched within a block in the order
  // of lengths: the same code takes another time when it finds what it looks for than when it does not. So each
  // observed section stands for as many as the others of its block.
  void match(std::span<const Placed> group, std::vector<uint32_t>& found) {
    const Place place = group.front().place;
    const std::span<const Placed> observed = observed_at(place);
    if (observed.empty() || place.lock == kNoSection || place.site == kNoSection) return;
    const bool by_time = within_ && observed.front().place == place;
    constexpr size_t kBlock = 16;
    const size_t blocks = std::max<size_t>(1, observed.size() / kBlock);
    const auto first_of = [&](size_t block) { return (block * observed.size() + blocks - 1) / blocks; };
    std::vector<uint32_t> wanted;
    for (size_t block = 0, i = 0; block < blocks; ++block) {
      const size_t begin = first_of(block), end = first_of(block + 1);
      wanted.clear();
      for (; i < group.size(); ++i) {
        const size_t near =
            by_time ? nearest(group[i].acquire_ns, observed) : in_proportion(i, group.size(), observed.size());
        if (near >= end) break;
        const uint32_t section = group[i].section;
        if (within_ && is_observed_[section]) {
          found[section] = section;
        } else {
          wanted.push_back(section);
        }
      }
      match_by_length(wanted, observed.subspan(begin, end - begin), found);
    }
  }

  // The longer ones of `wanted` get the longer ones of `observed`, and each of these is given to as many.
  void match_by_length(std::vector<uint32_t>& wanted, std::span<const Placed> observed, std::vector<uint32_t>& found) {
    std::vector<uint32_t> shown;
    for (const Placed& each : observed) shown.push_back(each.section);
    std::ranges::stable_sort(wanted, {}, [&](uint32_t s) { return to_.sections[s].hold_ns(); });
    std::ranges::stable_sort(shown, {}, [&](uint32_t s) { return from_.sections[s].hold_ns(); });
    for (size_t i = 0; i < wanted.size(); ++i)
      found[wanted[i]] = shown[(2 * i + 1) * shown.size() / (2 * wanted.size())];
  }

  static size_t nearest(int64_t acquire_ns, std::span<const Placed> observed) {
    const auto after = std::ranges::lower_bound(observed, acquire_ns, {}, &Placed::acquire_ns);
    const auto place = static_cast<size_t>(after - observed.begin());
    if (place == 0) return 0;
    const bool is_before =
        place == observed.size() || acquire_ns - observed[place - 1].acquire_ns <= after->acquire_ns - acquire_ns;
    return is_before ? place - 1 : place;
  }

  const SectionFacts& to_;
  const SectionFacts& from_;
  const bool within_;
  const std::vector<bool>& is_observed_;
  std::vector<uint32_t> threads_;  // of `from`, by those of `to`
  Correspondence places_;
  std::vector<Placed> observed_;  // sections of `from`, sorted
};

}  // namespace

Correspondence correspondence(const SectionFacts& to, const SectionFacts& from) {
  if (&to == &from) return {first_to_last(to.trace->locks.size()), first_to_last(to.sites.sites().size())};
  const LockNames to_locks = lock_names(to), from_locks = lock_names(from);
  const Names to_sites = site_names(to), from_sites = site_names(from);
  return {correspond(to_locks.names, to_locks.first_held, from_locks.names, from_locks.first_held),
          correspond(to_sites, first_to_last(to_sites.size()), from_sites, first_to_last(from_sites.size()))};
}

std::vector<uint32_t> match_sections(const SectionFacts& to, const SectionFacts& from,
                                     const std::vector<bool>& observed) {
  return Matcher(to, from, observed).run();
}

std::vector<uint32_t> match_sections(const SectionFacts& to, const SectionFacts& from) {
  std::vector<bool> observed;
  for (const uint32_t set : from.sets.of_section)
    observed.push_back(from.sets.gap_of(set) != format::SetGap::outside_window);
  return match_sections(to, from, observed);
}

}  // namespace contrafact::analysis
