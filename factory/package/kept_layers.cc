#include "factory/package/kept_layers.h"

#include <fmt/format.h>

#include "factory/base/checksummed.h"
#include "factory/oci/blob_damage.h"
#include "factory/os/file_lock.h"
#include "factory/sbom/inventory.h"

namespace kiln {
namespace {

constexpr const char* kTooLarge = "";  // kept in the place of an extract that would be

// Of everything that decides what an extract says. That the blob unfolds to the DiffID was seen when it was
// made, so both are in it, and the media type, by which it is unfolded.
std::string name_of(const evidence::LayerBlob& layer) {
  return "layer-" + Digest::of(fmt::format("{} {} {}\n{}\n{}\n{}", kExtractForm, evidence::facts_version(),
                                           sbom::databases_version(), layer.descriptor.digest.text(),
                                           layer.diff_id.text(), layer.descriptor.media_type))
                        .hex();
}

}  // namespace

std::unique_ptr<LayerEntries> KeptLayers::open(const evidence::LayerBlob& layer) {
  const std::string name = name_of(layer);
  std::optional<std::string> extract = find(name);
  if (!extract) {
    const PassingLock lock(folder_ / (name + ".lock"));
    extract = find(name);
    if (!extract) {
      extract = make(layer);
      if (!extract) return nullptr;
      files_.write(folder_ / name, with_checksum(name, *extract));
      if (*extract != kTooLarge) whole_.insert(layer.descriptor.digest.hex());  // it was read to its end
    }
  }
  if (*extract == kTooLarge || !is_whole(layer)) return nullptr;
  return read_extract(*extract);
}

std::optional<std::string> KeptLayers::find(const std::string& name) const {
  try {
    auto text = files_.read(folder_ / name);
    return text ? without_checksum(name, std::move(*text)) : std::nullopt;
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    return std::nullopt;
  }
}

std::optional<std::string> KeptLayers::make(const evidence::LayerBlob& layer) const {
  try {
    const ReadOnlyFile file(layer.file);
    LayerStream stream({&file, 0, file.size()}, layer.descriptor, layer.diff_id, {});
    LayerReader reader(stream, {}, {});
    evidence::FileExaminer code(jobs_, cache_);
    sbom::DatabaseExtractor packages;
    BothExtractors both(code, packages);
    return extract_of(reader, both, most_).value_or(kTooLarge);
  } catch (const Error& error) {
    if (error.code() == ExitCode::interrupted) throw;
    return std::nullopt;
  }
}

// Whoever reads the layer itself compares its digest, and whoever does not must see damage, too.
bool KeptLayers::is_whole(const evidence::LayerBlob& layer) {
  const std::string digest = layer.descriptor.digest.hex();
  if (whole_.contains(digest)) return true;
  if (!has_bytes_of(layer.file, layer.descriptor.digest)) return false;
  whole_.insert(digest);
  return true;
}

}  // namespace kiln
