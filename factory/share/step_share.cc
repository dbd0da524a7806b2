#include "factory/share/step_share.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "factory/base/durable_file.h"
#include "factory/base/read_whole.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

constexpr std::size_t kMostLayers = 1000;  // overlay mounts stop far below

bool is_key(std::string_view text) { return text.size() == 64 && is_hex(text); }

// What a record of ours always has, and what its readers go by.
void check_layers(const StepRecord& record, const JsonNode& node) {
  if (record.chain.layers.empty() || record.chain.layers.size() > kMostLayers)
    node.at("layers").fail(fmt::format("expected 1 to {} layers", kMostLayers));
  if (!std::ranges::all_of(record.chain.layers, [](const BuiltLayer& layer) { return is_key(layer.step); }))
    node.at("layers").fail("expected the keys of steps");
  if (own_layers(record.chain, record.key).empty()) node.at("layers").fail("the step itself made none");
}

SharedRecord shared_from_json(const SharedName& name, const JsonNode& root) {
  root.allow_only({"record", "host", "made"});
  const JsonNode node = root.at("record");
  SharedRecord shared{StepRecord{}, root.at("host").string(), root.at("made").string()};
  auto take = [&](auto record) {
    if (record.key != name.key) node.at("key").fail(fmt::format("it is of another: {}", record.key));
    record.origin = {};
    shared.record = std::move(record);
  };
  if (name.is_test) {
    take(test_record_from_json(node));
  } else {
    StepRecord record = step_record_from_json(node);
    check_layers(record, node);
    take(std::move(record));
  }
  return shared;
}

struct OpenFile {
  // No link is followed at its end; absent: nothing is open.
  OpenFile(const fs::path& path, int flags) : number(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC)) {
    if (number < 0 && errno != ENOENT) fail_with_errno(errno, "open", path);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }
  int number;
};

// The same file, whatever its name stands for by now.
fs::path path_of(const OpenFile& file) { return fmt::format("/proc/self/fd/{}", file.number); }

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

std::string_view payload_type(const SharedName& name) {
  return name.is_test ? "application/vnd.kiln.test.record.v1+json"
                      : "application/vnd.kiln.step.record.v1+json";
}

std::string shared_envelope(const SharedName& name, const SharedRecord& shared, const SigningKey* key) {
  const Json record = std::visit([](const auto& one) { return to_json(one); }, shared.record);
  const Json payload{{"record", record}, {"host", shared.host}, {"made", shared.made}};
  return signed_envelope(payload_type(name), payload.dump(), key);
}

OpenedRecord open_shared(const SharedName& name, std::string_view envelope,
                         const std::vector<VerifyingKey>& trusted) {
  OpenedEnvelope opened = open_envelope(envelope, payload_type(name), trusted);
  const JsonDocument document = JsonDocument::parse(opened.payload, "the record");
  return {shared_from_json(name, document.root()), std::move(opened.signer), std::move(opened.forged)};
}

std::optional<SharedName> shared_name(std::string_view text) {
  const bool is_test = text.starts_with("test-");
  if ((!is_test && !text.starts_with("step-")) || !is_key(text.substr(5))) return std::nullopt;
  return SharedName{std::string(text.substr(5)), is_test};
}

std::vector<Digest> own_layers(const LayerChain& chain, std::string_view key) {
  std::vector<Digest> own;
  for (const BuiltLayer& layer : chain.layers)
    if (layer.step == key) own.push_back(layer.diff_id);
  return own;
}

std::string foreign_hand(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::strerror(errno);
  if (status.st_uid != ::geteuid() && status.st_uid != 0)
    return fmt::format("belongs to the user {}", status.st_uid);
  if ((status.st_mode & S_IWOTH) != 0) return "may be written by all users";
  if ((status.st_mode & S_IWGRP) != 0) return "may be written by its group";
  return "";
}

void FolderShare::need_folder() const {
  if (!files_.is_directory(folder_))
    throw Error(ExitCode::network, fmt::format("there is no folder {}", folder_.string()),
                "it is not made by kiln, which would take a mount point for it");
}

std::set<std::string> FolderShare::names() {
  need_folder();
  const std::vector<std::string> names = files_.stems(records());
  return {names.begin(), names.end()};
}

std::optional<StepShare::Found> FolderShare::find(const SharedName& name) {
  need_folder();
  // Non-blocking: a pipe in its place would wait for a writer.
  const OpenFile file(record(name.text()), O_RDONLY | O_NONBLOCK);
  if (file.number < 0) return std::nullopt;
  struct stat status {};
  if (::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ExitCode::input, "its record there is no file");
  Found found;
  found.used = rfc3339(status.st_mtime);
  if (is_private_) {
    const OpenFile folder(records(), O_RDONLY | O_DIRECTORY);
    found.why_not = foreign_hand(file.number);
    if (found.why_not.empty() && folder.number >= 0) found.why_not = foreign_hand(folder.number);
    found.is_ours = found.why_not.empty();
  }
  auto bytes = read_whole(path_of(file), kMostEnvelope);
  if (!bytes) return std::nullopt;
  found.envelope = *std::move(bytes);
  return found;
}

bool FolderShare::fetch(const Descriptor& blob, const BlobStore& store) {
  const BlobStore shared = BlobStore::reading(folder_);
  const auto size = shared.size_of(blob.digest);
  if (!size) return false;
  if (*size != blob.size)
    throw Error(ExitCode::store,
                fmt::format("{} has {} of {} bytes there", blob.digest.text(), *size, blob.size));
  store.put_file(shared.path(blob.digest), blob.media_type, blob.digest);
  return true;
}

// What lies there with another size, or was found to have other bytes, is replaced.
void FolderShare::put(const SharedName& name, const std::string& envelope, const std::string& /*made*/,
                      const std::vector<Descriptor>& blobs, const BlobStore& store, bool mends) {
  need_folder();
  const BlobStore shared(folder_);
  for (const Descriptor& blob : blobs) {
    if (shared.size_of(blob.digest) == blob.size &&
        (!mends || has_bytes_of(shared.path(blob.digest), blob.digest)))
      continue;
    shared.remove(blob.digest);
    shared.put_file(store.path(blob.digest), blob.media_type, blob.digest);
  }
  files_.write(record(name.text()), envelope);
}

void FolderShare::touch(const SharedName& name, const std::string& /*now*/) {
  const OpenFile file(record(name.text()), O_RDONLY | O_NONBLOCK);
  if (file.number >= 0 && ::futimens(file.number, nullptr) != 0 && errno != EROFS)
    fail_with_errno(errno, "touch", record(name.text()));
}

std::map<std::string, std::string> FolderShare::used() {
  std::map<std::string, std::string> used;
  for (const std::string& name : names()) {
    if (!shared_name(name)) continue;
    struct stat status {};
    if (::lstat(record(name).c_str(), &status) == 0) used.emplace(name, rfc3339(status.st_mtime));
  }
  return used;
}

void FolderShare::remove(const std::set<std::string>& names) {
  for (const std::string& name : names) files_.remove_all(record(name));
  if (!names.empty()) remove_unnamed_blobs();
}

// Where a record cannot be read, kiln cannot know what it needs, and all blobs stay. A young one may be
// waiting for its record.
void FolderShare::remove_unnamed_blobs() const {
  constexpr auto kYoung = std::chrono::hours(24);
  const BlobStore shared(folder_);
  std::set<Digest> named;
  for (const std::string& file : files_.list(records())) {
    const auto name = shared_name(file.substr(0, file.rfind('.')));
    const auto text = files_.read(records() / file, kMostEnvelope);
    if (!name || !text || name->is_test) continue;
    const SharedRecord opened = open_shared(*name, *text, {}).shared;
    for (const BuiltLayer& layer : std::get<StepRecord>(opened.record).chain.layers)
      named.insert(layer.blob.digest);
  }
  for (const Digest& blob : shared.blobs()) {
    std::error_code gone;
    const auto changed = fs::last_write_time(shared.path(blob), gone);
    if (!named.contains(blob) && !gone && fs::file_time_type::clock::now() - changed > kYoung)
      shared.remove(blob);
  }
}

RegistryShare::RegistryShare(std::unique_ptr<Http> http, RegistryAccess access)
    : http_(std::move(http)), client_(std::move(access)), repository_(client_.address().path) {}

std::set<std::string> RegistryShare::names() {
  auto tags = client_.tags(repository_);
  return tags ? std::set<std::string>(tags->begin(), tags->end()) : std::set<std::string>();
}

std::optional<Manifest> RegistryShare::manifest_of(const std::string& tag) {
  const auto found = unless_broken([&] { return client_.manifest(repository_, tag); });
  if (!found) return std::nullopt;
  return manifest_from_json(JsonDocument::parse(found->bytes, "its manifest").root());
}

std::optional<StepShare::Found> RegistryShare::find(const SharedName& name) {
  const auto manifest = manifest_of(name.text());
  if (!manifest) return std::nullopt;
  if (manifest->artifact_type != kSharedStepType)
    throw Error(ExitCode::input, fmt::format("it is of the type '{}' there", manifest->artifact_type));
  auto envelope = client_.blob(repository_, manifest->config.digest, kMostEnvelope);
  if (!envelope) throw Error(ExitCode::store, manifest->config.digest.text() + " is missing there");
  return Found{*std::move(envelope), value_or(manifest->annotations, kUsed)};
}

bool RegistryShare::fetch(const Descriptor& blob, const BlobStore& store) {
  return client_.fetch_blob(repository_, blob, store);
}

void RegistryShare::put_once(const SharedName& name, const std::string& envelope, const std::string& manifest,
                             const std::vector<Descriptor>& blobs, const BlobStore& store) {
  for (const Descriptor& blob : blobs) {
    if (!client_.lacks_blob(repository_, blob.digest, blob.size)) continue;
    if (std::string damage = seen_damage(store, blob.digest, blob.size); !damage.empty())
      throw Error(ExitCode::store, fmt::format("{} {}", blob.digest.text(), damage), kDamageRemedy);
    client_.put_blob(repository_, blob, store.path(blob.digest));
  }
  // Each upload empties the blob's link for a moment (has_empty_link()), and all tests have this one.
  if (blobs.empty() && client_.lacks_blob(repository_, Digest::of("{}"), 2))
    client_.put_blob(repository_, "{}");
  client_.put_blob(repository_, envelope);
  client_.put_manifest(repository_, name.text(), std::string(media_type::kManifest), manifest);
}

void RegistryShare::put(const SharedName& name, const std::string& envelope, const std::string& made,
                        const std::vector<Descriptor>& blobs, const BlobStore& store, bool /*mends*/) {
  const std::string manifest = manifest_text(name, envelope, made, blobs);
  try {
    try {
      put_once(name, envelope, manifest, blobs, store);
    } catch (const MissingBlob&) {  // the registry's garbage collection took what it had said to have
      put_once(name, envelope, manifest, blobs, store);
    }
  } catch (const MissingBlob& missing) {
    throw Error(ExitCode::network, "it accepts blobs and does not return them: " + missing.message());
  } catch (const WrongDigest& wrong) {
    throw Error(ExitCode::store, wrong.message());
  }
}

// The record stays as it is signed.
void RegistryShare::touch(const SharedName& name, const std::string& now) {
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

std::map<std::string, std::string> RegistryShare::used() {
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
void RegistryShare::remove(const std::set<std::string>& names) {
  for (const std::string& tag : names) {
    const auto digest = unless_broken([&] { return client_.resolve(repository_, tag); });
    if (digest &&
        client_.delete_manifest(repository_, digest->text()) == RegistryClient::Deletion::unsupported)
      throw Error(ExitCode::network, text() + " refuses to delete",
                  "docker-registry: `storage: {delete: {enabled: true}}`");
  }
}

}  // namespace kiln
