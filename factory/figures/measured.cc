#include "factory/figures/measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "factory/base/text.h"
#include "factory/base/version.h"
#include "factory/bench/statistics.h"
#include "registry/select/comparable.h"

namespace kiln {
namespace {

void refuse_unknown_unit(const BenchRun& run) {
  if (direction_of(run.unit) != Direction::unknown) return;
  throw Error(ExitCode::input,
              fmt::format("{} of {}: kiln does not know whether more or less of '{}' is better", run.workload,
                          run.name, run.unit),
              "a time begins with ns, us, ms, s, min or h (ms/step), a rate ends in /s (images/s)");
}

std::string host_text(const HostDescription& host) {
  std::string text = host.model.empty() ? host.cpu : host.model;
  if (text.empty()) text = "unknown processor";
  if (host.cores > 0) text += ", " + counted(static_cast<std::size_t>(host.cores), "processor");
  for (const std::string& accelerator : host.accelerators) text += ", " + accelerator;
  return text;
}

std::int64_t whole_number(const Json& output, const char* key) {
  auto found = output.find(key);
  return found != output.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string input_of(const Json& output) {
  auto input = output.find("input");
  if (input == output.end() || !input->is_object()) return "";
  auto kind = input->find("kind");
  return kind != input->end() && kind->is_string() ? kind->get<std::string>() : "";
}

Circumstances circumstances_of(const BenchRun& run) {
  const std::int64_t batch = whole_number(run.output, "batch");
  return {run.workload,         run.unit,    host_text(run.host),
          run.axes.accelerator, run.threads, batch > 0 ? fmt::format("batch of {}", batch) : "",
          input_of(run.output)};
}

// A rate against 1 is the rate: its interval is the median's own.
BarValue speed_of(const std::vector<BenchRun>& runs) {
  const Comparison median = compare_runs({{1.0}}, steady_runs(runs), true);
  return {median.b, median.low, median.high};
}

// `kept`: how many runs of that name there are in all.
MeasuredImage measured_image(std::vector<BenchRun> runs, std::size_t kept) {
  std::ranges::stable_sort(runs, {}, &BenchRun::taken);
  const Digest newest = runs.back().image;
  std::erase_if(runs, [&](const BenchRun& run) { return run.image != newest; });
  MeasuredImage image;
  image.sessions = by_session(runs);
  image.runs = image.sessions.back().runs;
  image.earlier = kept - image.runs.size();
  image.name = image.runs.back().name;
  image.axes = image.runs.back().axes;
  image.stock = image.runs.back().stock;
  image.ranks = ranks_of(image.runs.back());
  image.threads = image.runs.back().threads;
  std::set<std::string> marks;
  for (const BenchRun& run : image.runs)
    marks.insert(run.conditions.marks.begin(), run.conditions.marks.end());
  image.marks.assign(marks.begin(), marks.end());
  image.speed = speed_of(image.runs);
  return image;
}

// What is no version stands first.
Version version_of_text(const std::string& text) {
  return unless_error([&] { return Version(text); });
}

bool stands_before(const MeasuredImage& a, const MeasuredImage& b) {
  auto order = [](const MeasuredImage& image) {
    return std::tuple(image.axes.framework, version_of_text(image.axes.version), image.axes.version,
                      image.compiled(), !image.stock, image.axes.method, image.axes.compilers,
                      image.name.size(), image.name, image.ranks);
  };
  return order(a) < order(b);
}

void add_times(MeasuredSet& set) {
  std::set<std::string> versions;
  for (const MeasuredImage& image : set.images)
    for (const BenchRun& run : image.runs) {
      versions.insert(run.kiln);
      const std::string day = run.taken.substr(0, 10);
      if (set.first_day.empty() || day < set.first_day) set.first_day = day;
      set.last_day = std::max(set.last_day, day);
    }
  versions.erase("");
  set.versions.assign(versions.begin(), versions.end());
}

using NameAndRanks = std::pair<std::string, int>;

MeasuredSet set_of(const Circumstances& circumstances, const std::vector<const BenchRun*>& runs,
                   const std::map<NameAndRanks, std::size_t>& kept) {
  MeasuredSet set;
  set.circumstances = circumstances;
  std::map<NameAndRanks, std::vector<BenchRun>> by_name;
  for (const BenchRun* run : runs) by_name[{run->name, ranks_of(*run)}].push_back(*run);
  for (auto& [name, its_runs] : by_name)
    set.images.push_back(measured_image(std::move(its_runs), kept.at(name)));
  std::ranges::stable_sort(set.images, stands_before);
  add_times(set);
  return set;
}

// Ranks share the machine's threads among them: several stand beside the one rank of their image, however
// many threads that has.
class RankedCircumstances {
 public:
  explicit RankedCircumstances(const std::vector<BenchRun>& runs) {
    for (const BenchRun& run : runs)
      if (ranks_of(run) == 1) threads_alone_.emplace(key_of(run), run.threads);
  }

  Circumstances of(const BenchRun& run) const {
    Circumstances circumstances = circumstances_of(run);
    auto alone = threads_alone_.find(key_of(run));
    if (ranks_of(run) > 1 && alone != threads_alone_.end()) circumstances.threads = alone->second;
    return circumstances;
  }

 private:
  static std::pair<Circumstances, std::string> key_of(const BenchRun& run) {
    Circumstances circumstances = circumstances_of(run);
    circumstances.threads = 0;
    return {circumstances, run.name};
  }

  std::map<std::pair<Circumstances, std::string>, int> threads_alone_;
};

}  // namespace

std::vector<MeasuredSet> measured_sets(const std::vector<BenchRun>& runs) {
  std::map<Circumstances, std::vector<const BenchRun*>> by_circumstances;
  std::map<Circumstances, std::map<NameAndRanks, std::size_t>> kept;
  const RankedCircumstances ranked(runs);
  for (const BenchRun& run : runs) {
    refuse_unknown_unit(run);
    ++kept[ranked.of(run)][{run.name, ranks_of(run)}];
  }
  const std::vector<BenchRun> counting = runs_that_count(runs);
  for (const BenchRun& run : counting) by_circumstances[ranked.of(run)].push_back(&run);
  std::vector<MeasuredSet> sets;
  for (const auto& [circumstances, its_runs] : by_circumstances)
    sets.push_back(set_of(circumstances, its_runs, kept.at(circumstances)));
  return sets;
}

std::vector<std::string> circumstance_lines(const MeasuredSet& set) {
  const Circumstances& is = set.circumstances;
  std::string how = is.workload;
  for (const std::string& word : {is.batch, is.input}) how += word.empty() ? "" : ", " + word;
  if (is.threads > 0) how += ", " + counted(static_cast<std::size_t>(is.threads), "thread");
  std::string where = is.host;
  if (!is.accelerator.empty() && is.accelerator != "cpu") where += "; images for " + is.accelerator;
  std::string when = set.first_day == set.last_day ? set.first_day : set.first_day + " to " + set.last_day;
  if (!set.versions.empty()) when += fmt::format(", kiln {}", fmt::join(set.versions, ", "));
  return {how, where, when};
}

std::string framework_text(const RunAxes& axes) {
  return axes.version.empty() ? axes.framework : axes.framework + " " + axes.version;
}

std::string short_name(const MeasuredImage& image) {
  const std::string before = image.axes.framework + ":" + image.axes.version + "-";
  const bool longer = image.name.size() > before.size() && image.name.starts_with(before);
  return longer ? image.name.substr(before.size()) : image.name;
}

std::optional<MeasuredGain> compare_images(const MeasuredImage& a, const MeasuredImage& b) {
  const SharedSession shared = shared_session(b.sessions, a.sessions);
  if (shared.image == nullptr) return std::nullopt;
  return gain_of(shared.image->runs, shared.over->runs);
}

}  // namespace kiln
