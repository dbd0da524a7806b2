#include "factory/state/state.h"

#include <fmt/format.h>

#include "factory/base/digest.h"
#include "factory/base/error.h"
#include "factory/state/record_store.h"

namespace kiln {

StatePaths StatePaths::with_scratch(const std::filesystem::path& scratch) const {
  if (scratch.empty()) return *this;
  StatePaths state = *this;
  const std::string sum = Digest::of(root_.string()).hex();
  state.engine_ = scratch / ("kiln-" + sum.substr(0, 12)) / "engine";
  return state;
}

std::filesystem::path StatePaths::file(std::string_view folder, std::string_view key,
                                       std::string_view ending) const {
  return root_ / folder / (checked(key) + std::string(ending));
}

std::string StatePaths::checked(std::string_view name) {
  constexpr std::size_t kLongestFileName =
      255 - std::string_view(".json").size();  // with its ending still a file name
  bool is_bad = name.empty() || name == "." || name == ".." || name.front() == '-' ||
                name.size() > kLongestFileName || name.find('/') != std::string_view::npos ||
                name.find('\0') != std::string_view::npos;
  if (is_bad)
    throw Error(ExitCode::input, fmt::format("'{}' cannot be a file name in the state folder", name));
  return std::string(name);
}

namespace {

constexpr const char* kWithSif = "oci sif\n";
constexpr const char* kWithoutSif = "oci\n";

}  // namespace

bool has_formats(const Site& site, const StatePaths& state, const FileSystem& files) {
  return !site.sif || files.read(state.formats()) == kWithSif;
}

bool lacks_format(const Site& site, const StatePaths& state, std::string_view record,
                  const FileSystem& files) {
  if (!site.sif) return false;
  auto image = RecordReader(state, files).image(record);
  return image && image->attachment("sif") == nullptr;
}

void repackage_for_formats(const Site& site, const StatePaths& state, FileSystem& files) {
  if (!has_formats(site, state, files)) {
    for (const std::string& name : files.stems(state.built_folder()))
      if (lacks_format(site, state, name, files)) RecordWriter(state, files).remove_image(name);
  }
  const char* now = site.sif ? kWithSif : kWithoutSif;
  if (files.read(state.formats()) != now) files.write(state.formats(), now);
}

}  // namespace kiln
