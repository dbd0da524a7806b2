#include "oci/layout.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/unique_name.h"

namespace kiln {
namespace {

constexpr const char* kRefName = "org.opencontainers.image.ref.name";

void link_blob(const BlobStore& store, const Digest& digest, const fs::path& folder) {
  fs::path target = blob_in_layout(folder, digest);
  std::error_code problem;
  fs::create_hard_link(store.path(digest), target, problem);
  if (!problem || problem == std::errc::file_exists) return;
  fs::copy_file(store.path(digest), target, problem);  // another file system
  if (problem)
    throw Error(ExitCode::store, fmt::format("cannot copy the blob {} to {}: {}", digest.text(),
                                             target.string(), problem.message()));
}

std::string read_blob(const fs::path& folder, const Digest& digest, const FileSystem& files) {
  auto bytes = files.read(blob_in_layout(folder, digest));
  if (!bytes || Digest::of(*bytes) != digest)
    throw Error(ExitCode::store,
                fmt::format("{} is missing or damaged in {}", digest.text(), folder.string()));
  return *bytes;
}

void link_referrer(const BlobStore& store, const Descriptor& referrer, const fs::path& folder) {
  link_blob(store, referrer.digest, folder);
  JsonDocument document = JsonDocument::parse(store.read(referrer.digest), referrer.digest.text());
  Manifest manifest = manifest_from_json(document.root());
  link_blob(store, manifest.config.digest, folder);
  for (const Descriptor& layer : manifest.layers) link_blob(store, layer.digest, folder);
}

Json index_of(const LayoutImage& image, Descriptor manifest) {
  manifest.annotations[kRefName] = image.tag;
  Json manifests = Json::array({to_json(manifest)});
  for (const Descriptor& referrer : image.referrers) manifests.push_back(to_json(referrer));
  return {{"schemaVersion", 2}, {"mediaType", media_type::kImageIndex}, {"manifests", std::move(manifests)}};
}

}  // namespace

Descriptor manifest_descriptor(const LayoutImage& image) {
  std::string manifest = to_json(manifest_of(image)).dump();
  return {std::string(media_type::kManifest), Digest::of(manifest), manifest.size(), {}};
}

fs::path blob_in_layout(const fs::path& folder, const Digest& digest) {
  return folder / "blobs" / "sha256" / digest.hex();
}

Manifest manifest_of(const LayoutImage& image) {
  std::string config = to_json(image.config).dump();
  return {{std::string(media_type::kConfig), Digest::of(config), config.size(), {}},
          image.layers,
          image.annotations};
}

LayoutDescriptors write_layout(const fs::path& folder, const LayoutImage& image, const BlobStore& store,
                               FileSystem& files) {
  LayoutDescriptors made;
  made.config = store.put(to_json(image.config).dump(), std::string(media_type::kConfig));
  made.manifest = store.put(to_json(manifest_of(image)).dump(), std::string(media_type::kManifest));

  fs::path aside = folder.parent_path() / fmt::format(".{}-{}", folder.filename().string(), unique_name());
  try {
    files.make_directories(aside / "blobs" / "sha256");
    for (const Descriptor& layer : image.layers) link_blob(store, layer.digest, aside);
    link_blob(store, made.config.digest, aside);
    link_blob(store, made.manifest.digest, aside);
    for (const Descriptor& referrer : image.referrers) link_referrer(store, referrer, aside);
    files.write(aside / "index.json", index_of(image, made.manifest).dump());
    files.write(aside / "oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
    if (files.exists(folder)) {
      fs::path old = aside.string() + ".old";
      files.rename(folder, old);
      files.rename(aside, folder);
      files.remove_all(old);
    } else {
      files.rename(aside, folder);
    }
  } catch (...) {
    files.remove_all(aside);
    throw;
  }
  return made;
}

std::string layout_damage(const fs::path& folder, const Digest& manifest,
                          const std::vector<Descriptor>& blobs) {
  std::error_code problem;
  if (!fs::is_directory(folder, problem)) return "is missing";
  if (!fs::is_regular_file(folder / "oci-layout", problem)) return "has no oci-layout";
  auto index = RealFileSystem().read(folder / "index.json");
  if (!index || index->find('"' + manifest.text() + '"') == std::string::npos)
    return "has no index.json that names " + manifest.text();
  for (const Descriptor& blob : blobs) {
    std::uint64_t size = fs::file_size(blob_in_layout(folder, blob.digest), problem);
    std::string name = "blobs/sha256/" + blob.digest.hex();
    if (problem) return name + " is missing";
    if (size != blob.size) return fmt::format("{} has {} of {} bytes", name, size, blob.size);
  }
  return "";
}

PulledImage read_layout(const fs::path& folder, const FileSystem& files) {
  fs::path file = folder / "index.json";
  auto text = files.read(file);
  if (!text) throw Error(ExitCode::store, file.string() + " is missing");
  JsonDocument index = JsonDocument::parse(*text, file.string());
  std::vector<JsonNode> manifests = index.root().at("manifests").items();
  std::erase_if(manifests, [](const JsonNode& node) {
    auto type = node.find("artifactType");
    return type && is_artifact_type(type->string());
  });
  if (manifests.size() != 1) index.root().at("manifests").fail("expected one image");
  Descriptor descriptor = descriptor_from_json(manifests.front());
  auto parse = [&](const Digest& digest) {
    return JsonDocument::parse(read_blob(folder, digest, files), blob_in_layout(folder, digest).string());
  };
  PulledImage image;
  image.manifest = manifest_from_json(parse(descriptor.digest).root());
  image.config = image_config_from_json(parse(image.manifest.config.digest).root());
  if (image.manifest.layers.size() != image.config.diff_ids.size())
    throw Error(ExitCode::store,
                fmt::format("{} holds an image with {} layers and {} diff_ids", folder.string(),
                            image.manifest.layers.size(), image.config.diff_ids.size()));
  return image;
}

}  // namespace kiln
