#include "factory/state/blob_uses.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "factory/oci/blob_damage.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

using User = BlobUser::Kind;

class UseReader {
 public:
  UseReader(const StatePaths& state, const FileSystem& files)
      : state_(state), files_(files), store_(BlobStore::reading(state.store())), records_(state, files) {}

  BlobUses read() {
    each(state_.built_folder(), [&](const std::string& name) { add_packaged(name); });
    for (const Digest& manifest : store_.records()) add_published(manifest);
    each(state_.step_folder(), [&](const std::string& key) { add_step(key); });
    each(state_.test_folder(), [&](const std::string& key) { records_.test(key); });
    for (const Digest& digest : store_.blobs()) found_.blobs[digest];
    prove(BlobStore::Sidecar::measurement, "measurements");
    prove(BlobStore::Sidecar::snapshot, "snapshots");
    return std::move(found_);
  }

 private:
  void each(const fs::path& folder, const std::function<void(const std::string& name)>& add) {
    constexpr std::string_view kEnding = ".json";
    for (const std::string& file : files_.list(folder)) {
      if (!file.ends_with(kEnding)) continue;
      guarded(folder / file, [&] { add(file.substr(0, file.size() - kEnding.size())); });
    }
  }

  void guarded(const fs::path& file, const std::function<void()>& add) {
    try {
      add();
    } catch (const Error&) {
      found_.unreadable.push_back(file.lexically_relative(state_.root()).string());
    }
  }

  // Sidecars that name no blob.
  void prove(BlobStore::Sidecar kind, const char* folder) {
    for (const std::string& name : store_.sidecars(kind))
      guarded(state_.store() / folder / (name + ".json"), [&] {
        if (!store_.read_sidecar(kind, name)) throw Error(ExitCode::store, "it does not prove itself");
      });
  }

  void add_packaged(const std::string& name) {
    auto image = records_.image(name);
    if (!image) return;
    if (image->external()) throw Error(ExitCode::store, "the record names no manifest");
    add_image(User::packaged, name, *std::move(image));
  }

  void add_published(const Digest& manifest) {
    fs::path file = state_.store() / "records" / (manifest.hex() + ".json");
    guarded(file, [&] {
      auto text = store_.read_record(manifest);
      if (!text) throw Error(ExitCode::store, "the sidecar does not prove itself");
      ImageRecord image = image_record_from_json(JsonDocument::parse(*text, file.string()).root());
      if (!image.external()) add_image(User::published, "", std::move(image));
    });
  }

  void add_image(User kind, const std::string& record, ImageRecord image) {
    image.labels.clear();  // of ten thousand images they are most of it
    image.components.clear();
    image.evidence = {};
    const std::size_t user = found_.users.size();
    const std::vector<ImageBlob> blobs = blobs_of(image, store_);
    found_.users.push_back({kind, image.repository + ":" + image.immutable_tag, record, std::move(image)});
    for (const ImageBlob& blob : blobs) {
      UsedBlob& used = add(blob.digest, {user, blob.what, blob.role});
      if (blob.size != 0 || blob.damage.empty()) used.size = blob.size;
      if (used.damage.empty()) used.damage = blob.damage;
    }
  }

  void add_step(const std::string& key) {
    auto step = records_.step(key);
    if (!step) return;
    const std::size_t user = found_.users.size();
    found_.users.push_back({User::step, "the step " + key.substr(0, 12), key, {}});
    for (std::size_t i = 0; i < step->chain.layers.size(); ++i) {
      const BuiltLayer& layer = step->chain.layers[i];
      if (layer.step != key) continue;  // of a step below
      found_.users[user].name = fmt::format("the step {}, {}", layer.created_by, key.substr(0, 12));
      UsedBlob& used = add(layer.blob.digest, {user, fmt::format("layer {}", i + 1), ImageBlob::Role::layer});
      used.size = layer.blob.size;
      used.damage = seen_damage(store_, layer.blob.digest, layer.blob.size);
    }
  }

  UsedBlob& add(const Digest& digest, BlobUse use) {
    UsedBlob& used = found_.blobs[digest];
    used.uses.push_back(std::move(use));
    return used;
  }

  const StatePaths& state_;
  const FileSystem& files_;
  BlobStore store_;
  RecordReader records_;
  BlobUses found_;
};

}  // namespace

BlobUses blob_uses(const StatePaths& state, const FileSystem& files) {
  return UseReader(state, files).read();
}

}  // namespace kiln
