#include <fmt/format.h>

#include <algorithm>

#include "factory/base/digest.h"
#include "factory/base/field_bytes.h"
#include "factory/base/text.h"
#include "factory/sbom/databases.h"
#include "factory/sbom/inventory.h"

namespace kiln::sbom {
namespace {

constexpr std::uint64_t kMostKept = 1ull << 30;  // bytes of all databases of an image

// What a file may be by its path, wherever it is, and how much of it is read. Symbolic links decide later
// what is really there.
struct Wanted {
  std::string_view ending;  // of the path; a "/" at the end: anything directly in that folder
  std::uint64_t most;
};
constexpr Wanted kWanted[] = {
    {"lib/dpkg/status", 64u << 20},      {"lib/dpkg/status.d/", 1u << 20},
    {"lib/dpkg/info/", 16u << 20},       {"/copyright", 4u << 20},
    {"lib/apk/db/installed", 64u << 20}, {"rpm/rpmdb.sqlite", 512u << 20},
    {"rpm/rpmdb.sqlite-wal", kEmptyWal}, {".dist-info/METADATA", 1u << 20},
    {".dist-info/INSTALLER", 1u << 10},  {".dist-info/direct_url.json", 64u << 10},
    {".egg-info/PKG-INFO", 1u << 20},    {".egg-info", 1u << 20},
    {"EGG-INFO/PKG-INFO", 1u << 20},     {"conda-meta/", 32u << 20},
    {"os-release", 64u << 10},
};

// Of a package's list of files only what Python packages are known by is needed: without it, large images
// would keep tens of megabytes.
std::string python_lines(std::string_view list) {
  std::string kept;
  for (std::string_view line : split(list, '\n'))
    if (is_python_metadata(line)) (kept += line) += '\n';
  return kept;
}

}  // namespace

std::uint64_t database_limit(std::string_view path) {
  std::string_view folder = path.substr(0, path.rfind('/') + 1);
  for (const Wanted& wanted : kWanted) {
    bool below = wanted.ending.back() == '/';
    if (!(below ? folder : path).ends_with(wanted.ending)) continue;
    if (wanted.ending == "lib/dpkg/info/" && !path.ends_with(".list")) return 0;
    if (wanted.ending == "conda-meta/" && !path.ends_with(".json")) return 0;
    return wanted.most;
  }
  return 0;
}

const std::string& database_table() {
  static const std::string kTable = [] {
    std::string names;
    for (const Wanted& wanted : kWanted) names += fmt::format("{} {}\n", wanted.ending, wanted.most);
    return Digest::of(names).hex();
  }();
  return kTable;
}

void DatabaseExtractor::begin(std::string_view path) {
  path_ = path;
  limit_ = database_limit(path);
  size_ = 0;
  kept_.reset();
  if (limit_ != 0) kept_.emplace();
}

void DatabaseExtractor::append(std::string_view bytes) {
  if (!kept_) return;
  size_ += bytes.size();
  *kept_ += bytes;
  if (size_ > limit_) drop();
}

std::optional<std::string> DatabaseExtractor::end() {
  if (kept_ && path_.ends_with(".list")) kept_ = python_lines(*kept_);
  return std::move(kept_);
}

void DatabaseExtractor::drop() {
  kept_.reset();
  size_ = 0;
}

std::string DatabaseExtractor::end_file() {
  ToBytes bytes;
  auto kept = end();
  bytes(kept);
  if (kept) bytes.number(size_);
  return bytes.finish();
}

void DatabaseFiles::next_file(const PathTable& paths, NodeId path) { path_ = paths.path(path); }

std::uint32_t DatabaseFiles::begin_file() {
  file_.begin(path_);
  return files_++;
}

void DatabaseFiles::append(std::string_view bytes) {
  file_.append(bytes);
  if (total_ + file_.size() > kMostKept) file_.drop();
}

void DatabaseFiles::end_file() {
  if (auto bytes = file_.end()) keep(std::move(*bytes));
}

// The size of the file decides, as while it is read, and not that of what is left of it.
void DatabaseFiles::take_extract(std::string_view extract) {
  FromBytes from(extract);
  std::optional<std::string> bytes;
  from(bytes);
  if (bytes && total_ + from.number() <= kMostKept) keep(std::move(*bytes));
}

void DatabaseFiles::keep(std::string bytes) {
  total_ += bytes.size();
  kept_[files_ - 1] = std::move(bytes);
}

const std::string* DatabaseFiles::find(std::uint32_t content) const { return find_value(kept_, content); }

}  // namespace kiln::sbom
