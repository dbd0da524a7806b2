#include "factory/state/sif_folder.h"

#include <fmt/format.h>

#include <map>
#include <system_error>

#include "factory/base/effects.h"
#include "factory/base/error.h"

namespace kiln {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, const std::error_code& problem) {
  throw Error(ExitCode::store, fmt::format("cannot link {}: {}", path.string(), problem.message()));
}

void check(const fs::path& path, const std::error_code& problem) {
  if (problem) fail(path, problem);
}

fs::path blob_path(const StatePaths& state, const Digest& digest) {
  return state.store() / "sha256" / digest.hex().substr(0, 2) / digest.hex();
}

// Name → digest of the SIF.
std::map<std::string, Digest> wanted_names(const StatePaths& state,
                                           const std::vector<IndexEntry>& published) {
  std::map<std::string, Digest> wanted;
  for (const IndexEntry& entry : published) {
    const Attachment* sif = entry.retired.empty() ? entry.image.attachment("sif") : nullptr;
    std::error_code absent;
    if (sif != nullptr && fs::is_regular_file(blob_path(state, sif->blob.digest), absent))
      wanted.emplace(entry.image.sif_name(), sif->blob.digest);
  }
  return wanted;
}

std::string folder_name(std::int64_t snapshot, const std::map<std::string, Digest>& wanted) {
  std::string text;
  for (const auto& [name, digest] : wanted) text += name + " " + digest.text() + "\n";
  return fmt::format("{}-{}", snapshot, Digest::of(text).hex().substr(0, 12));
}

// Made aside and renamed: a folder under its own name is whole.
void make_folder(const StatePaths& state, const fs::path& folder,
                 const std::map<std::string, Digest>& wanted) {
  fs::path aside = folder.parent_path() / fmt::format(".{}-{}", folder.filename().string(), unique_name());
  std::error_code problem;
  fs::create_directories(aside, problem);
  check(aside, problem);
  for (const auto& [name, digest] : wanted) {
    fs::create_symlink(fs::path("../..") / blob_path(state, digest).lexically_relative(state.root()),
                       aside / name, problem);
    check(aside / name, problem);
  }
  fs::rename(aside, folder, problem);
  check(folder, problem);
}

void replace_link(const fs::path& link, const fs::path& target) {
  std::error_code problem;
  fs::file_status there = fs::symlink_status(link, problem);
  if (fs::exists(there) && !fs::is_symlink(there))
    throw Error(ExitCode::store, fmt::format("{} is not a link that kiln made", link.string()),
                "move it away: kiln keeps the SIF files of the current snapshot there");
  fs::path aside = link.parent_path() / ("." + link.filename().string() + "-" + unique_name());
  fs::create_symlink(target, aside, problem);
  check(aside, problem);
  fs::rename(aside, link, problem);
  if (!problem) return;
  std::error_code ignored;
  fs::remove(aside, ignored);
  fail(link, problem);
}

void drop_others(const fs::path& folder, const std::string& now, const std::string& before) {
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    std::string name = entry->path().filename().string();
    std::error_code ignored;  // another try at the next publish
    if (name != now && name != before) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

void show_sifs(const StatePaths& state, const Index& index) {
  show_sifs(state, index.current(), index.entries());
}

void show_sifs(const StatePaths& state, std::int64_t snapshot, const std::vector<IndexEntry>& published) {
  std::map<std::string, Digest> wanted = wanted_names(state, published);
  std::error_code absent;
  std::string before = fs::read_symlink(state.sif_folder(), absent).filename().string();
  if (wanted.empty() && !fs::exists(fs::symlink_status(state.sif_folder(), absent))) return;
  std::string now = folder_name(snapshot, wanted);
  fs::path folder = state.sif_snapshots() / now;
  if (!fs::is_directory(folder, absent)) make_folder(state, folder, wanted);
  if (before != now) {
    replace_link(state.sif_folder(), state.sif_snapshots().filename() / now);
    drop_others(state.sif_snapshots(), now, before);
  }
}

}  // namespace kiln
