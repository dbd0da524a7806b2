#include "factory/state/sweep.h"

#include <array>

#include "factory/base/durable_file.h"
#include "factory/state/claim.h"

namespace kiln {
namespace {

// What FileSystem::write makes aside.
bool is_half_written(const std::string& name) { return name.starts_with('.') && name.ends_with(".tmp"); }

// What packaging locks while others wait for what it finds (os/file_lock.h). Nobody packages.
bool is_lock(const std::string& name) { return name.ends_with(".lock"); }

// Layouts and folders of SIF names are made aside under a first point; no repository, tag or snapshot has
// one.
bool is_made_aside(const std::string& name) { return name.starts_with('.'); }

void remove_those(const fs::path& folder, bool (*is_dead)(const std::string&), FileSystem& files) {
  for (const std::string& name : files.list(folder))
    if (is_dead(name)) files.remove_all(folder / name);
}

void remove_below(const fs::path& folder, FileSystem& files) {
  remove_those(folder, is_half_written, files);
  for (const std::string& name : files.list(folder))
    if (files.is_directory(folder / name)) remove_below(folder / name, files);
}

}  // namespace

void sweep_state(const StatePaths& state, FileSystem& files) {
  if (has_living_claims(state, files)) return;
  constexpr std::array kFolders = {"",      "plans",  "origins",     "steps", "tests",
                                   "built", "failed", "conversions", "logs",  "evidence"};
  for (const char* folder : kFolders) remove_those(state.root() / folder, is_half_written, files);
  remove_those(state.evidence(), is_lock, files);
  remove_below(state.builds(), files);
  remove_those(state.sif_snapshots(), is_made_aside, files);
  for (const std::string& repository : files.list(state.root() / "images"))
    remove_those(state.layouts(repository), is_made_aside, files);
  remove_those(state.derived(), is_half_written, files);
  drop_dead_files(state.store() / "tmp");
}

}  // namespace kiln
