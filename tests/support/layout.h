// OCI image layouts and archives for tests.
#pragma once

#include <nlohmann/json.hpp>

#include "support/merged.h"

namespace kiln::testing {

class TestLayout {
 public:
  TestLayout() { folder_.write("image/oci-layout", R"({"imageLayoutVersion":"1.0.0"})"); }

  Descriptor blob(const std::string& bytes, std::string_view type) const {
    Digest digest = Digest::of(bytes);
    folder_.write("image/blobs/sha256/" + digest.hex(), bytes);
    return {std::string(type), digest, bytes.size(), {}};
  }

  // Plain tar layers, lowest first.
  Descriptor image(const std::vector<std::string>& tars, ImageConfig config = {}) const {
    Manifest manifest;
    config.diff_ids.clear();
    for (const std::string& bytes : tars) {
      manifest.layers.push_back(blob(bytes, media_type::kLayerTar));
      config.diff_ids.push_back(Digest::of(bytes));
    }
    manifest.config = blob(to_json(config).dump(), media_type::kConfig);
    return blob(to_json(manifest).dump(), media_type::kManifest);
  }

  static Json tagged(const Descriptor& descriptor, const std::string& tag) {
    Json json = to_json(descriptor);
    if (!tag.empty()) json["annotations"]["org.opencontainers.image.ref.name"] = tag;
    return json;
  }

  void index(const Json& manifests) const {
    folder_.write("image/index.json", Json{{"schemaVersion", 2}, {"manifests", manifests}}.dump());
  }
  void one_image(const std::vector<std::string>& tars, const ImageConfig& config = {}) const {
    index(Json::array({tagged(image(tars, config), "latest")}));
  }

  std::string path() const { return (folder_.path() / "image").string(); }
  const TestFolder& folder() const { return folder_; }

  // The layout as a tar archive, as oci-archive: has it.
  std::string archive() const {
    std::vector<TarEntry> entries;
    for (const auto& file : std::filesystem::recursive_directory_iterator(path()))
      if (file.is_regular_file())
        entries.push_back(
            {std::filesystem::relative(file.path(), path()).string(), '0', read_file(file.path())});
    return folder_.write("image.tar", tar(entries)).string();
  }

 private:
  TestFolder folder_;
};

}  // namespace kiln::testing
