#include "factory/run/session_records.h"

#include <algorithm>
#include <set>
#include <utility>

#include "factory/bench/session.h"

namespace kiln {
namespace {

bool is_of_session(const Measurement& measurement, const SessionName& session) {
  return measurement.session == session.id && measurement.workload == session.workload &&
         measurement.unit == session.unit && measurement.workload_files == session.files;
}

// Old measurements do not name their session: their time is that of their last run.
bool is_measured_by(const Measurement& measurement, const BenchRun& run) {
  if (measurement.session.empty())
    return measurement.taken == run.taken && measurement.workload == speed_name(run);
  return is_of_session(measurement, session_of(run));
}

}  // namespace

SessionRecords::SessionRecords(Index& index) : index_(index) {
  for (IndexEntry& entry : index.entries()) entries_.emplace(entry.image.key, std::move(entry));
}

const IndexEntry* SessionRecords::find(const std::string& key) const {
  auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

std::size_t SessionRecords::put(const std::vector<BenchRun>& kept, const std::vector<BenchRun>& gone) {
  std::set<std::pair<std::string, SessionName>> measured;
  for (Measurement& measurement : measurements_of(kept)) {
    auto entry = entries_.find(measurement.key);
    if (measurement.key.empty() || entry == entries_.end()) continue;
    for (const BenchRun& run : kept)
      if (run.key == measurement.key && is_of_session(measurement, session_of(run)))
        measured.emplace(run.key, session_of(run));
    record(entry->second, std::move(measurement));
  }
  for (const BenchRun& run : gone)
    if (auto entry = entries_.find(run.key);
        entry != entries_.end() && !measured.contains({run.key, session_of(run)}))
      withdraw(entry->second, run);
  return measured.size();
}

void SessionRecords::record(IndexEntry& entry, Measurement measurement) {
  measurement.image = entry.image.manifest;
  measurement.host.features.clear();  // a hundred words, by which no measurement is compared
  index_.record(measurement);
  std::erase_if(entry.measurements, [&](const Measurement& one) {
    return one.session == measurement.session && one.workload == measurement.workload &&
           one.unit == measurement.unit && one.host.model == measurement.host.model;
  });
  entry.measurements.push_back(std::move(measurement));
  std::stable_sort(entry.measurements.begin(), entry.measurements.end(),
                   [](const Measurement& a, const Measurement& b) { return a.taken < b.taken; });
}

void SessionRecords::withdraw(IndexEntry& entry, const BenchRun& gone) {
  for (Measurement& measurement : entry.measurements) {
    if (!is_measured_by(measurement, gone)) continue;
    measurement.withdrawn = true;
    index_.record(measurement);
  }
  std::erase_if(entry.measurements, [](const Measurement& one) { return one.withdrawn; });
}

std::vector<BenchRun> of_their_sessions(const std::vector<BenchRun>& kept,
                                        const std::vector<BenchRun>& some) {
  std::set<SessionName> sessions;
  for (const BenchRun& run : some) sessions.insert(session_of(run));
  std::vector<BenchRun> found;
  for (const BenchRun& run : kept)
    if (sessions.contains(session_of(run))) found.push_back(run);
  return found;
}

}  // namespace kiln
