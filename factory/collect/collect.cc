#include "factory/collect/collect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "factory/base/digest.h"
#include "factory/base/durable_file.h"
#include "factory/base/effects.h"
#include "factory/collect/engine_storage.h"
#include "factory/state/lock.h"

namespace kiln {

namespace {

struct Part {
  std::string_view name;  // in the state folder
  std::string_view what;
};

// The index and its sidecars, then the records, then what they name; links before what they lead to.
constexpr Part kParts[] = {
    {"index.db", "the index"},
    {"store/snapshots", "the index"},
    {"store/records", "the index"},
    {"store/measurements", "measured speeds"},
    {"hosts", "measured speeds"},
    {"bench", "measured speeds"},
    {"demand.jsonl", "questions to the index"},
    {"pushed.jsonl", "images in registries"},
    {"shared.unread", "caches"},
    {"shared.unwritten", "caches"},
    {"proposals.json", "proposals"},
    {"locks", "lockfiles of nights"},
    {"history.jsonl", "what steps took"},
    {"nights", "reports of nights"},
    {"nights.lease", "reports of nights"},
    {"nights.reserve", "reports of nights"},
    {"kiln.prom", "reports of nights"},
    {"collected.json", "leavings"},
    {"sif", "SIF files' names"},
    {"sif.snapshots", "SIF files' names"},
    {"built", "packaged images"},
    {"conversions", "packaged images"},
    {"tests", "tests"},
    {"steps", "steps"},
    {"failed", "failures"},
    {"plans", "plans"},
    {"origins", "plans"},
    {"recipes", "plans"},
    {"builds", "plans"},
    {"derived", "plans"},
    {"build.ninja", "plans"},
    {".ninja_log", "plans"},
    {".ninja_deps", "plans"},
    {"formats", "packaged images"},
    {"blobs", "caches"},
    {"evidence", "caches"},
    {"caches", "caches of compilers"},
    {"images", "image layouts"},
    {"store", "blobs"},
    {"logs", "logs"},
    {"engine", "the engine's store"},
    {"engine.sessions", "the engine's store"},
    {"engine.lock", "the engine's store"},
    {"engine.import.lock", "the engine's store"},
    {"running", "leavings"},
    {"jobs", "leavings"},
    {"memory", "leavings"},
    {"tmp", "leavings"},
    {"events.fifo", "leavings"},
    {"builds.turn", "leavings"},
    {"lock.queue", "leavings"},
    {"writers.lease", "leavings"},
    {"doctor.lock", "leavings"},
    {"index.lock", "the index"},
};

bool is_of_index(const std::string& name) { return name.starts_with("index.db"); }
bool stays(const std::string& name) { return name == "lock"; }

bool is_there(const fs::path& path) {
  std::error_code absent;
  return fs::exists(fs::symlink_status(path, absent));
}

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

constexpr std::int64_t kWeek = 7LL * 24 * 3600;

bool is_written_each_night(const std::string& name, const StatePaths& state) {
  constexpr std::array kNames = {"lock",           "index.lock", "nights",   "nights.lease",
                                 "nights.reserve", "origins",    "kiln.prom"};
  return name == state.collected().filename() || std::ranges::find(kNames, name) != kNames.end();
}

}  // namespace

bool is_state_part(const std::string& name) {
  return is_of_index(name) || stays(name) || std::ranges::find(kParts, name, &Part::name) != std::end(kParts);
}

void need_state_folder(const StatePaths& state, const FileSystem& files) {
  const std::vector<std::string> names = files.list(state.root());
  const bool ours = std::ranges::any_of(names, [](const std::string& name) {
    return is_of_index(name) || stays(name) || name == "store" || name == "plans" || name == "engine";
  });
  if (!names.empty() && !ours)
    throw Error(ExitCode::input, state.root().string() + " is not a state folder of kiln",
                "name it with --state");
}

StateContents state_contents(const StatePaths& state, const FileSystem& files) {
  StateContents contents;
  const std::vector<std::string> names = files.list(state.root());
  for (const std::string& name : names)
    if (!is_state_part(name)) contents.unknown.push_back(name);
  auto add = [&](const fs::path& path, std::string_view what) {
    if (is_there(state.root() / path))
      contents.parts.push_back({GarbageKind::leaving, path.string(), std::string(what), {path}, 0});
  };
  for (const std::string& name : names)
    if (is_of_index(name)) add(name, "the index");
  for (const Part& part : kParts)
    if (!is_of_index(std::string(part.name))) add(fs::path(part.name), part.what);
  // What a part within another one has counts there.
  std::vector<Garbage>& parts = contents.parts;
  measure(state.root(), parts);
  auto of = [&](const std::string& name) {
    return std::ranges::find_if(parts, [&](const Garbage& part) { return part.name == name; });
  };
  for (const Garbage& part : parts)
    if (part.name.starts_with("store/") && of("store") != parts.end()) of("store")->bytes -= part.bytes;
  return contents;
}

void empty_state(const StateContents& contents, const StatePaths& state, CommandRunner& runner,
                 FileSystem& files, const std::map<std::string, std::string>& environment) {
  need_no_steps(state, files);
  if (engine_is_used(state, files))
    throw Error(ExitCode::locked, "another process uses the engine's store " + state.engine().string(),
                "end it (such as a `kiln shell`), and try again");
  delete_engine_store(state, runner, files, environment);
  bool is_past_names = false;
  for (const Garbage& part : contents.parts) {
    if (interrupted()) throw Error(ExitCode::interrupted, "interrupted");
    if (part.name == "images" && !is_past_names) {
      sync_folder(state.root());
      is_past_names = true;
    }
    for (const fs::path& path : part.paths) files.remove_all(state.root() / path);
  }
}

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
    throw Error(ExitCode::locked, "a step of " + state.root().string() + " runs, and needs its files",
                "collect when it is done");
}

std::string state_stamp(const StatePaths& state, const Retention& retention) {
  std::string text = fmt::format("{} {} {} {}\n", retention.keep_for.count(), retention.keep_snapshots,
                                 retention.keep_steps_for.count(), fmt::join(retention.keep, "\n"));
  std::vector<std::string> names = RealFileSystem().list(state.root());
  std::ranges::sort(names);
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
