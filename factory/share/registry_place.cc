#include "factory/share/registry_place.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/oci/blob_damage.h"

namespace kiln {
namespace {

constexpr const char* kUsed = "io.kiln.step.used";  // RFC 3339

std::string manifest_text(const SharedName& name, const std::string& envelope, const std::string& made,
                          const std::vector<Descriptor>& blobs) {
  Manifest manifest;
  manifest.config = {std::string(payload_type(name)), Digest::of(envelope), envelope.size(), {}};
  manifest.layers = blobs;
  if (blobs.empty())  // some registries want a layer
    manifest.layers = {{std::string(media_type::kEmpty), Digest::of("{}"), 2, {}}};
  manifest.artifact_type = kSharedStepType;
  manifest.annotations["org.opencontainers.image.created"] = made;
  manifest.annotations[kUsed] = made;
  return to_json(manifest).dump();
}

}  // namespace

RegistryPlace::RegistryPlace(std::unique_ptr<Http> http, RegistryAccess access)
    : http_(std::move(http)), client_(std::move(access)), repository_(client_.address().path) {}

std::set<std::string> RegistryPlace::names() {
  auto tags = client_.tags(repository_);
  return tags ? std::set<std::string>(tags->begin(), tags->end()) : std::set<std::string>();
}

std::optional<Manifest> RegistryPlace::manifest_of(const std::string& tag) {
  const auto found = unless_broken([&] { return client_.manifest(repository_, tag); });
  if (!found) return std::nullopt;
  return manifest_from_json(JsonDocument::parse(found->bytes, "its manifest").root());
}

std::optional<SharedPlace::Found> RegistryPlace::find(const SharedName& name) {
  const auto manifest = manifest_of(name.text());
  if (!manifest) return std::nullopt;
  if (manifest->artifact_type != kSharedStepType)
    throw Error(ExitCode::input, fmt::format("it is of the type '{}' there", manifest->artifact_type));
  auto envelope = client_.blob(repository_, manifest->config.digest, kMostEnvelope);
  if (!envelope) throw Error(ExitCode::store, manifest->config.digest.text() + " is missing there");
  auto used = manifest->annotations.find(kUsed);
  return Found{*std::move(envelope), used == manifest->annotations.end() ? "" : used->second};
}

bool RegistryPlace::fetch(const Descriptor& blob, const BlobStore& store) {
  return client_.fetch_blob(repository_, blob, store);
}

void RegistryPlace::put_once(const SharedName& name, const std::string& envelope, const std::string& manifest,
                             const std::vector<Descriptor>& blobs, const BlobStore& store) {
  for (const Descriptor& blob : blobs) {
    if (client_.has_blob(repository_, blob.digest, blob.size)) continue;
    if (std::string damage = seen_damage(store, blob.digest, blob.size); !damage.empty())
      throw Error(ExitCode::store, fmt::format("{} {}", blob.digest.text(), damage), kDamageRemedy);
    client_.put_blob(repository_, blob, store.path(blob.digest));
  }
  if (blobs.empty()) client_.put_blob(repository_, "{}");
  client_.put_blob(repository_, envelope);
  client_.put_manifest(repository_, name.text(), std::string(media_type::kManifest), manifest);
}

void RegistryPlace::put(const SharedName& name, const std::string& envelope, const std::string& made,
                        const std::vector<Descriptor>& blobs, const BlobStore& store, bool /*mends*/) {
  const std::string manifest = manifest_text(name, envelope, made, blobs);
  try {
    try {
      put_once(name, envelope, manifest, blobs, store);
    } catch (const MissingBlob&) {  // the registry's garbage collection took what it had said to have
      put_once(name, envelope, manifest, blobs, store);
    }
  } catch (const MissingBlob& missing) {
    throw Error(ExitCode::network, "it takes blobs, and has them not: " + missing.message());
  } catch (const WrongDigest& wrong) {
    throw Error(ExitCode::store, wrong.message());
  }
}

// The record stays as it is signed.
void RegistryPlace::touch(const SharedName& name, const std::string& now) {
  auto manifest = manifest_of(name.text());
  if (!manifest) return;
  manifest->annotations[kUsed] = now;
  try {
    client_.put_manifest(repository_, name.text(), std::string(media_type::kManifest),
                         to_json(*manifest).dump());
  } catch (const MissingBlob&) {
    // Half of it is gone: whoever fetches it finds out.
  }
}

std::map<std::string, std::string> RegistryPlace::used() {
  std::map<std::string, std::string> used;
  for (const std::string& tag : names()) {
    if (!shared_name(tag)) continue;
    try {
      if (const auto manifest = manifest_of(tag); manifest && manifest->artifact_type == kSharedStepType)
        if (auto when = manifest->annotations.find(kUsed); when != manifest->annotations.end())
          used.emplace(tag, when->second);
    } catch (const Error& error) {
      if (error.code() != ExitCode::input) throw;  // no manifest of ours
    }
  }
  return used;
}

// By the digest, as few registries take away a tag alone. Blobs are the registry's own business.
void RegistryPlace::remove(const std::set<std::string>& names) {
  for (const std::string& tag : names) {
    const auto digest = unless_broken([&] { return client_.resolve(repository_, tag); });
    if (digest &&
        client_.delete_manifest(repository_, digest->text()) == RegistryClient::Deletion::unsupported)
      throw Error(ExitCode::network, text() + " refuses to delete",
                  "docker-registry: `storage: {delete: {enabled: true}}`");
  }
}

}  // namespace kiln
