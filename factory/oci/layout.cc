#include "factory/oci/layout.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

constexpr const char* kRefName = "org.opencontainers.image.ref.name";
constexpr const char* kLayoutVersion = R"({"imageLayoutVersion":"1.0.0"})";

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

// The manifest and all that it names.
void link_image(const BlobStore& store, const Descriptor& described, const fs::path& folder) {
  link_blob(store, described.digest, folder);
  JsonDocument document = JsonDocument::parse(store.read(described.digest), described.digest.text());
  Manifest manifest = manifest_from_json(document.root());
  link_blob(store, manifest.config.digest, folder);
  for (const Descriptor& layer : manifest.layers) link_blob(store, layer.digest, folder);
}

std::string text_of(const LayoutIndex& index) {
  Descriptor manifest = index.manifest;
  manifest.annotations[kRefName] = index.tag;
  Json manifests = Json::array({to_json(manifest)});
  for (const Descriptor& referrer : index.referrers) manifests.push_back(to_json(referrer));
  return Json{
      {"schemaVersion", 2}, {"mediaType", media_type::kImageIndex}, {"manifests", std::move(manifests)}}
      .dump();
}

void replace_folder(const fs::path& aside, const fs::path& folder, FileSystem& files) {
  if (!files.exists(folder)) return files.rename(aside, folder);
  fs::path old = aside.string() + ".old";
  files.rename(folder, old);
  files.rename(aside, folder);
  files.remove_all(old);
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
  write_layout_again(folder, {made.manifest, image.tag, image.referrers}, store, files);
  return made;
}

void write_layout_again(const fs::path& folder, const LayoutIndex& index, const BlobStore& store,
                        FileSystem& files) {
  fs::path aside = folder.parent_path() / fmt::format(".{}-{}", folder.filename().string(), unique_name());
  try {
    files.make_directories(aside / "blobs" / "sha256");
    link_image(store, index.manifest, aside);
    for (const Descriptor& referrer : index.referrers) link_image(store, referrer, aside);
    files.write(aside / "index.json", text_of(index));
    files.write(aside / "oci-layout", kLayoutVersion);
    replace_folder(aside, folder, files);
  } catch (...) {
    files.remove_all(aside);
    throw;
  }
}

bool says(const fs::path& folder, const LayoutIndex& index) {
  RealFileSystem files;
  return files.read(folder / "index.json") == text_of(index) &&
         files.read(folder / "oci-layout") == kLayoutVersion;
}

std::vector<Descriptor> layout_manifests(const fs::path& folder) {
  std::vector<Descriptor> manifests;
  auto text = RealFileSystem().read(folder / "index.json");
  if (!text) return manifests;
  try {
    JsonDocument index = JsonDocument::parse(*text, (folder / "index.json").string());
    for (const JsonNode& node : index.root().at("manifests").items())
      manifests.push_back(descriptor_from_json(node));
  } catch (const Error&) {
    manifests.clear();
  }
  return manifests;
}

std::string layout_damage(const fs::path& folder, const std::vector<Descriptor>& blobs) {
  std::error_code problem;
  if (!fs::is_directory(folder, problem)) return "is missing";
  if (RealFileSystem().read(folder / "oci-layout") != kLayoutVersion) return "has no oci-layout as written";
  std::vector<Descriptor> wanted = layout_manifests(folder);
  if (wanted.empty()) return "has no index.json that can be read";
  wanted.insert(wanted.end(), blobs.begin(), blobs.end());
  for (const Descriptor& blob : wanted) {
    std::uint64_t size = fs::file_size(blob_in_layout(folder, blob.digest), problem);
    std::string name = "blobs/sha256/" + blob.digest.hex();
    if (problem) return "has no " + name;
    if (size != blob.size) return fmt::format("has {} of {} bytes of {}", size, blob.size, name);
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

Attachment attach(const Document& document, const Descriptor& subject, std::int64_t created,
                  const BlobStore& store) {
  Attachment attachment;
  attachment.kind = document.kind;
  attachment.blob = store.put(document.bytes, document.type);
  Manifest manifest;
  manifest.config = store.put("{}", std::string(media_type::kEmpty));
  Descriptor layer = attachment.blob;
  layer.annotations["org.opencontainers.image.title"] = document.kind + ".json";
  manifest.layers = {layer};
  manifest.artifact_type = document.type;
  manifest.subject = Descriptor{subject.media_type, subject.digest, subject.size, {}};
  manifest.annotations["org.opencontainers.image.created"] = rfc3339(created);
  attachment.referrer = store.put(to_json(manifest).dump(), std::string(media_type::kManifest)).digest;
  return attachment;
}

Descriptor referrer_descriptor(const std::string& manifest) {
  const Manifest read = manifest_from_json(JsonDocument::parse(manifest, "a referrer").root());
  return {std::string(media_type::kManifest), Digest::of(manifest), manifest.size(), read.annotations,
          read.artifact_type.empty() ? read.config.media_type : read.artifact_type};
}

Descriptor referrer_descriptor(const Attachment& attachment, const BlobStore& store) {
  return referrer_descriptor(store.read(attachment.referrer));
}

}  // namespace kiln
