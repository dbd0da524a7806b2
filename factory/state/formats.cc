#include "factory/state/formats.h"

#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr std::string_view kEnding = ".json";
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
    for (std::string name : files.list(state.built_folder())) {
      if (!name.ends_with(kEnding)) continue;
      name.resize(name.size() - kEnding.size());
      if (lacks_format(site, state, name, files)) RecordWriter(state, files).remove_image(name);
    }
  }
  const char* now = site.sif ? kWithSif : kWithoutSif;
  if (files.read(state.formats()) != now) files.write(state.formats(), now);
}

}  // namespace kiln
