#include "factory/collect/collect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "factory/base/digest.h"
#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/state/lock.h"

namespace kiln {
namespace {

bool is_of_index(GarbageKind kind) { return kind == GarbageKind::snapshot || kind == GarbageKind::published; }

// From here on it is what the records named that goes.
constexpr GarbageKind kFirstFile = GarbageKind::layout;

// A folder goes under a name that no reader looks for: half of it is never seen. Those of the killed are
// swept.
void remove_whole(const fs::path& path, FileSystem& files) {
  if (!files.is_directory(path)) return files.remove_all(path);
  const fs::path aside = path.parent_path() / ("." + unique_name() + ".tmp");
  files.rename(path, aside);
  files.remove_all(aside);
}

class Collector {
 public:
  Collector(const StatePaths& state, FileSystem& files) : state_(state), files_(files) {}

  void remove(const Garbage& garbage) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    if (garbage.kind >= kFirstFile) {
      end_names();
      // A step by itself takes no lock of the folder, and may make a layer again that nobody names yet.
      need_no_steps(state_, files_);
    }
    for (const fs::path& path : garbage.paths) {
      if (garbage.kind < kFirstFile) folders_.insert((state_.root() / path).parent_path());
      remove_whole(state_.root() / path, files_);
    }
    ++done_.removed;
    done_.bytes += garbage.bytes;
  }

  Collected done() const { return done_; }

 private:
  // That the names are gone is on the disk before the first of their files goes.
  void end_names() {
    for (const fs::path& folder : folders_) sync_folder(folder);
    folders_.clear();
  }

  const StatePaths& state_;
  FileSystem& files_;
  std::set<fs::path> folders_;
  Collected done_;
};

}  // namespace

Collected collect(const Survey& survey, const StatePaths& state, Index* index, FileSystem& files) {
  need_no_steps(state, files);
  Collector collector(state, files);
  for (const Garbage& garbage : survey.garbage)
    if (!garbage.named) collector.remove(garbage);
  if (index != nullptr) {
    std::set<std::int64_t> snapshots;
    for (const auto& [number, why] : survey.roots.snapshots) snapshots.insert(number);
    index->forget(snapshots, survey.roots.published());
  }
  for (const Garbage& garbage : survey.garbage)
    if (garbage.named && (is_of_index(garbage.kind) || !garbage.paths.empty())) collector.remove(garbage);
  return collector.done();
}

void make_room(const Survey& survey, const StatePaths& state, FileSystem& files) {
  need_no_steps(state, files);
  Collector collector(state, files);
  for (const Garbage& garbage : survey.garbage)
    if (!garbage.named) collector.remove(garbage);
}

void need_no_steps(const StatePaths& state, const FileSystem& files) {
  if (living_claims(state, files) > 0)
    throw Error(ExitCode::locked, "a step of " + state.root().string() + " runs: what it needs stays",
                "collect when it is done");
}

namespace {

constexpr std::int64_t kWeek = 7LL * 24 * 3600;

bool is_written_each_night(const std::string& name, const StatePaths& state) {
  constexpr std::array kNames = {"lock",           "index.lock", "nights",   "nights.lease",
                                 "nights.reserve", "origins",    "kiln.prom"};
  return name == state.collected().filename() ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

std::string state_stamp(const StatePaths& state, const Retention& retention) {
  std::string text = fmt::format("{} {} {} {}\n", retention.keep_for.count(), retention.keep_snapshots,
                                 retention.keep_steps_for.count(), fmt::join(retention.keep, "\n"));
  std::vector<std::string> names = RealFileSystem().list(state.root());
  std::sort(names.begin(), names.end());
  for (const std::string& name : names)
    if (!is_written_each_night(name, state))
      text += fmt::format("{} {}\n", name, entry_stamp(state.root() / name));
  return Digest::of(text).hex();
}

std::int64_t longest_wait(const Retention& retention) {
  return std::min({kWeek, static_cast<std::int64_t>(retention.keep_for.count()),
                   static_cast<std::int64_t>(retention.keep_steps_for.count())});
}

bool is_collection_due(const std::optional<KeptStamp>& last, const std::string& stamp,
                       const Retention& retention, std::int64_t now) {
  return !last || !last->holds(stamp, now, longest_wait(retention));
}

}  // namespace kiln
