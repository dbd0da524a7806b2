#include "factory/collect/empty_state.h"

#include <algorithm>

#include "factory/base/durable_file.h"
#include "factory/collect/collect.h"
#include "factory/collect/engine_storage.h"

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
    {"demand.jsonl", "what was asked for"},
    {"pushed.jsonl", "what lies in registries"},
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

}  // namespace

bool is_state_part(const std::string& name) {
  return is_of_index(name) || stays(name) ||
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](const Part& part) { return part.name == name; });
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

}  // namespace kiln
