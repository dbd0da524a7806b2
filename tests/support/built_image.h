// A packaged image in a state folder, as packaging leaves it: blobs of every kind, layout and record. Its
// bytes are no image that runs.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "factory/oci/layout.h"
#include "factory/resolve/resolve.h"
#include "factory/state/record_store.h"

namespace kiln::testing {

struct ImageNames {
  std::string record;  // record_name()
  std::string repository;
  std::string tag;
  std::string immutable_tag;
  std::string key;
  std::string cell{};  // "" for none
};

inline ImageNames names_of(const ResolvedImage& image) {
  return {image.record_name(),   image.repository(), image.tag(),
          image.immutable_tag(), image.key(),        image.id()};
}

// `layers`: of its last step; without any it has one of its own.
inline ImageRecord make_built(const ImageNames& names, const StatePaths& state, FileSystem& files,
                              std::vector<Descriptor> layers = {}) {
  BlobStore store(state.store());
  if (layers.empty()) layers = {store.put("layer of " + names.key, std::string(media_type::kLayerZstd))};
  LayoutImage image;
  image.layers = std::move(layers);
  image.tag = names.tag;
  ImageRecord record;
  record.repository = names.repository;
  record.tag = names.tag;
  record.immutable_tag = names.immutable_tag;
  record.key = names.key;
  record.cell = names.cell;
  record.application = names.repository;
  const Descriptor manifest = manifest_descriptor(image);
  record.manifest = manifest.digest;
  for (const char* kind : {"spdx", "provenance"}) {
    record.attachments.push_back(attach(
        {kind, "application/json", fmt::format("{{\"{}\": \"{}\"}}", kind, names.key)}, manifest, 0, store));
    image.referrers.push_back(referrer_descriptor(record.attachments.back(), store));
  }
  record.attachments.push_back({"sif", store.put("SIF of " + names.key, "sif"), {}});
  fs::path layout = state.layout(names.repository, names.immutable_tag);
  write_layout(layout, image, store, files);
  record.layout = layout.lexically_relative(state.root()).string();
  RecordWriter(state, files).write_image(names.record, record);
  return record;
}

}  // namespace kiln::testing
