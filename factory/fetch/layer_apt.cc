#include "factory/fetch/layer_apt.h"

#include <algorithm>
#include <array>

#include "factory/oci/layer_read.h"

namespace kiln {
namespace {

constexpr std::string_view kStatus = "var/lib/dpkg/status";
constexpr std::uint64_t kMostStatus = 64u << 20, kMostOfApt = 4u << 20;

// Where apt looks for sources and keys (sources.list(5), apt-secure(8)), and where the image's own do.
bool is_of_apt(std::string_view path) {
  constexpr std::array<std::string_view, 6> kPlaces = {"etc/apt/sources.list", "etc/apt/sources.list.d/",
                                                       "etc/apt/trusted.gpg",  "etc/apt/trusted.gpg.d/",
                                                       "etc/apt/keyrings/",    "usr/share/keyrings/"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](std::string_view place) {
    return place.ends_with('/') ? path.starts_with(place) : path == place;
  });
}

std::string content_of(LayerReader& reader, std::uint64_t size, std::uint64_t most) {
  if (size > most) reader.refuse("it is too long");
  std::string content;
  reader.read_content([&](std::string_view bytes) { content += bytes; });
  return content;
}

}  // namespace

LayerApt read_apt(const BuiltLayer& layer, const BlobStore& store) {
  const ReadOnlyFile file(store.path(layer.blob.digest));
  LayerStream stream(BlobSection{&file, 0, file.size()}, layer.blob, layer.diff_id, LayerLimits{});
  return read_apt(stream);
}

LayerApt read_apt(LayerStream& layer) {
  LayerReader reader(layer, EntryLimits{}, LayerLimits{});
  LayerApt apt;
  for (LayerEntry entry; reader.next(entry);) {
    if (entry.kind == EntryKind::whiteout || entry.kind == EntryKind::opaque)
      apt.removed.push_back(entry.path);
    else if (entry.path == kStatus && entry.kind == EntryKind::file)
      apt.status = content_of(reader, entry.size, kMostStatus);
    else if (is_of_apt(entry.path) && entry.kind == EntryKind::file)
      apt.files[entry.path] = content_of(reader, entry.size, kMostOfApt);
    else if (is_of_apt(entry.path) && entry.kind == EntryKind::symlink)
      apt.links[entry.path] = entry.target;
  }
  return apt;
}

}  // namespace kiln
