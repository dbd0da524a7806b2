// What the registry's tests start from: images that really are in a store, archspec's table.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "registry/index/index.h"
#include "support/memory_folder.h"

namespace kiln::testing {

inline constexpr const char* kNow = "2026-11-20T10:00:00Z";

inline const Microarchitectures& archspec() {
  static const Microarchitectures cpus =
      Microarchitectures::parse(read_bytes(KILN_ARCHSPEC_JSON), KILN_ARCHSPEC_JSON);
  return cpus;
}

// A PyTorch image whose manifest, config and layer are in the store; `content` makes it differ from others.
inline ImageRecord stored_image(const BlobStore& store, const std::string& tag, const std::string& content) {
  Manifest manifest;
  manifest.config = store.put("{\"config\": \"" + content + "\"}", std::string(media_type::kConfig));
  manifest.layers = {store.put("layer of " + content, std::string(media_type::kLayerZstd))};
  ImageRecord image;
  image.manifest = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
  image.repository = "pytorch";
  image.tag = tag;
  image.immutable_tag = tag + "-0123456789ab";
  image.application = "pytorch";
  image.version = Version("2.6.0");
  image.method = "distro";
  image.components = {{"framework", "pytorch", Version("2.6.0"), "distro", false}};
  image.cpu = "x86_64_v3";
  image.labels = {{"org.opencontainers.image.title", content}};
  image.size = 1234;
  image.created = "2026-11-20T10:00:00Z";
  return image;
}

inline Index::Imported import_all(Index& index, const std::vector<ImageRecord>& mappings) {
  return index.import_mappings(
      [&](const Index::AddMapping& take) {
        for (const ImageRecord& mapping : mappings) take(mapping);
      },
      kNow);
}

inline Measurement measurement_of(const Digest& image, double median) {
  Measurement measurement;
  measurement.image = image;
  measurement.workload = "mnist-cnn";
  measurement.unit = "ms/step";
  measurement.median = median;
  measurement.low = median - 1;
  measurement.high = median + 2;
  measurement.samples = 20;
  measurement.host.cpu = "haswell";
  measurement.host.model = "Intel(R) Xeon(R) CPU";
  measurement.host.cores = 2;
  measurement.taken = "2026-11-20T10:00:00Z";
  return measurement;
}

// Everything that readers can see, as text to compare.
inline std::string visible(const Index& index) {
  Json all = Json::array();
  for (const auto& snapshot : index.snapshots()) {
    Json entries = Json::array();
    for (const auto& entry : index.entries(snapshot.number)) {
      Json measurements = Json::array();
      for (const auto& measurement : entry.measurements) measurements.push_back(to_json(measurement));
      entries.push_back(
          {{"image", to_json(entry.image)}, {"stale", entry.stale}, {"measurements", measurements}});
    }
    all.push_back({{"number", snapshot.number},
                   {"created", snapshot.created},
                   {"note", snapshot.note},
                   {"current", snapshot.current},
                   {"images", snapshot.images},
                   {"entries", entries}});
  }
  return all.dump(1);
}

}  // namespace kiln::testing
