#include "factory/run/kept_runs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "factory/base/digest.h"
#include "factory/base/text.h"
#include "factory/bench/session.h"

namespace kiln {
namespace {

std::string turn_of(int round, const std::string& key) { return std::to_string(round) + "/" + key; }

// The kept runs that a turn names, one or several; empty where one is not there.
std::vector<std::string> sums_in(const Json& turn, const KeptRuns& runs) {
  std::vector<std::string> sums;
  for (const Json& sum : turn.is_array() ? turn : Json::array({turn})) {
    if (!sum.is_string() || sum.get<std::string>().size() != 64 || !is_hex(sum.get<std::string>()) ||
        !runs.contains(sum.get<std::string>()))
      return {};
    sums.push_back(sum.get<std::string>());
  }
  return sums;
}

void add_runs(const std::vector<std::string>& sums, const KeptRuns& kept, std::vector<BenchRun>& runs) {
  for (const std::string& sum : sums)
    if (auto run = kept.find(sum)) runs.push_back(*std::move(run));
}

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

std::string KeptRuns::sum_of(const BenchRun& run) { return Digest::of(to_json(run).dump()).hex(); }

std::string KeptRuns::add(const BenchRun& run) {
  std::string sum = sum_of(run);
  if (!contains(sum)) files_.write(state_.bench_run(sum), to_json(run).dump() + "\n");
  return sum;
}

BenchRun KeptRuns::read(const std::string& text, const fs::path& path, const std::string& sum) const {
  const std::string file = path.string();
  constexpr const char* kRemedy = "remove the file; its measurements must be repeated";
  // The clock may have been put back since. What others measured was held against it when it came in.
  constexpr std::int64_t kEndOfTime = 253'402'300'799;  // 9999-12-31T23:59:59Z
  constexpr JsonLimits kRunLimits{.bytes = 64u << 20, .members = 5'000'000};
  try {
    BenchRun run = bench_run_from_json(JsonDocument::parse(text, file, kRunLimits).root(), kEndOfTime);
    // A digit that is another one is a number all the same. The bytes are asked, which an earlier kiln wrote.
    if (text.ends_with('\n') && Digest::of(std::string_view(text).substr(0, text.size() - 1)).hex() == sum)
      return run;
  } catch (const Error& error) {
    throw Error(ExitCode::store, error.where(), "a kept run is not what was written: " + error.message(),
                kRemedy);
  }
  throw Error(ExitCode::store, file + ": a kept run is not what was written", kRemedy);
}

std::optional<BenchRun> KeptRuns::find(const std::string& sum) const {
  auto text = files_.read(state_.bench_run(sum));
  if (!text) return std::nullopt;
  return read(*text, state_.bench_run(sum), sum);
}

std::vector<BenchRun> KeptRuns::all() const { return in(state_.bench_runs()); }
std::vector<BenchRun> KeptRuns::discarded() const { return in(state_.bench_discarded()); }

std::vector<BenchRun> KeptRuns::in(const fs::path& folder) const {
  std::vector<BenchRun> runs;
  for (const std::string& sum : files_.stems(folder)) {
    const fs::path file = folder / (sum + ".json");
    if (auto text = files_.read(file)) runs.push_back(read(*text, file, sum));
  }
  std::ranges::stable_sort(runs, [](const BenchRun& a, const BenchRun& b) {
    return std::tie(a.taken, a.workload, a.round, a.place) < std::tie(b.taken, b.workload, b.round, b.place);
  });
  return runs;
}

// Written before it is removed: a kill leaves it in both places, and the next call moves it again.
void KeptRuns::move(const fs::path& from, const fs::path& to) {
  auto text = files_.read(from);
  if (!text) return;
  files_.write(to, *text);
  files_.remove_all(from);
}

BegunComparison::BegunComparison(const Json& what, KeptRuns& runs, const StatePaths& state, FileSystem& files)
    : runs_(runs), state_(state), files_(files), file_(state.bench_begun(Digest::of(what.dump()).hex())) {
  const Json found = Json::parse(files_.read(file_).value_or("{}"), nullptr, false);
  if (!found.is_object()) return;  // begun anew
  for (const auto& [turn, value] : found.items())
    if (auto sums = sums_in(value, runs_); !sums.empty()) sums_.emplace(turn, std::move(sums));
}

std::vector<BenchRun> BegunComparison::find(int round, const std::string& key) const {
  std::vector<BenchRun> runs;
  if (auto found = sums_.find(turn_of(round, key)); found != sums_.end())
    add_runs(found->second, runs_, runs);
  return runs;
}

std::vector<BenchRun> BegunComparison::runs() const {
  std::vector<BenchRun> runs;
  for (const auto& [turn, sums] : sums_) add_runs(sums, runs_, runs);
  return runs;
}

std::string BegunComparison::session() const {
  if (sums_.empty()) return "";
  const auto run = runs_.find(sums_.begin()->second.front());
  return run ? run->session : "";
}

// The runs first: what is named is there.
void BegunComparison::add(const std::vector<BenchRun>& runs) {
  std::vector<std::string> sums;
  for (const BenchRun& run : runs) sums.push_back(runs_.add(run));
  sums_[turn_of(runs.front().round, runs.front().key)] = std::move(sums);
  write();
}

std::vector<BenchRun> BegunComparison::forget(const std::string& key) {
  std::vector<BenchRun> gone;
  for (auto found = sums_.begin(); found != sums_.end();) {
    if (!found->first.ends_with("/" + key)) {
      ++found;
      continue;
    }
    add_runs(found->second, runs_, gone);
    for (const std::string& sum : found->second) runs_.remove(sum);
    found = sums_.erase(found);
  }
  write();
  return gone;
}

void BegunComparison::write() { files_.write(file_, Json(sums_).dump() + "\n"); }

std::set<std::string> unfinished_sessions(const KeptRuns& runs, const StatePaths& state,
                                          const FileSystem& files) {
  std::set<std::string> sessions;
  const fs::path folder = state.bench_begun();
  for (const std::string& name : files.list(folder)) {
    const Json begun = Json::parse(files.read(folder / name).value_or(""), nullptr, false);
    if (!begun.is_object() || begun.empty()) continue;
    const std::vector<std::string> sums = sums_in(*begun.begin(), runs);
    if (sums.empty()) continue;
    if (auto run = runs.find(sums.front())) sessions.insert(run->session);
  }
  sessions.erase("");
  return sessions;
}

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
  std::ranges::stable_sort(entry.measurements, {}, &Measurement::taken);
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
