#include "factory/state/fsck.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "factory/oci/blob_store.h"
#include "factory/oci/layout.h"
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
    for (const std::string& name : files_.stems(folder))
      guarded(folder / (name + ".json"), [&] { add(name); });
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

using BlobsToRead = std::vector<std::pair<const Digest, UsedBlob>*>;

// Reads blobs with several threads, the largest first.
class BlobReading {
 public:
  BlobReading(const BlobStore& store, BlobsToRead blobs, const FsckOptions& options)
      : store_(store), blobs_(std::move(blobs)), options_(options) {
    auto bytes = [&](const auto* blob) { return store_.size_of(blob->first).value_or(0); };
    std::ranges::sort(blobs_, [&](const auto* a, const auto* b) { return bytes(a) > bytes(b); });
    for (const auto* blob : blobs_) all_ += bytes(blob);
  }

  // Bytes read. Sets the damage of each blob that is not what was written.
  std::uint64_t run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, options_.jobs); ++i) threads.emplace_back([this] { read_some(); });
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return done_;
  }

 private:
  void read_some() {
    try {
      for (std::size_t next = next_++; next < blobs_.size() && !failed_; next = next_++) read(*blobs_[next]);
    } catch (...) {
      std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      failed_ = true;
    }
  }

  void read(std::pair<const Digest, UsedBlob>& blob) {
    auto count = [this](std::uint64_t bytes) {
      std::lock_guard lock(mutex_);
      done_ += bytes;
      if (options_.progress) options_.progress(done_, all_);
    };
    try {
      blob.second.damage = read_damage(store_, blob.first, blob.second.size, count);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      blob.second.damage = error.message();
      blob.second.is_unread = true;
    }
  }

  const BlobStore& store_;
  BlobsToRead blobs_;
  const FsckOptions& options_;
  std::uint64_t all_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  // guards what follows
  std::uint64_t done_ = 0;
  std::exception_ptr failure_;
};

BlobDamage described(const Digest& digest, const UsedBlob& blob, const std::vector<BlobUser>& users) {
  BlobDamage damage{digest, blob.uses.empty() ? "" : blob.uses.front().what, {}, blob.damage, blob.is_unread};
  for (const BlobUse& use : blob.uses) {
    const std::string& name = users[use.user].name;
    if (std::ranges::find(damage.of, name) == damage.of.end()) damage.of.push_back(name);
  }
  return damage;
}

// The layout's own files, and copies that are no links to the store's blobs, read.
std::string read_layout_damage(const fs::path& folder, const ImageRecord& image,
                               const std::vector<Descriptor>& blobs, const BlobStore& store) {
  const std::vector<Descriptor> named = layout_manifests(folder);
  const bool of_image = !named.empty() && named.front().digest == image.manifest;
  if (of_image && !first_damage(blobs_of(image, store)) && !says(folder, layout_index_of(image, store)))
    return "has another index.json or oci-layout";
  std::error_code problem;
  for (const Descriptor& blob : blobs) {
    fs::path copy = blob_in_layout(folder, blob.digest);
    if (fs::equivalent(copy, store.path(blob.digest), problem)) continue;
    if (!has_bytes_of(copy, blob.digest))
      return fmt::format("has other bytes in blobs/sha256/{}", blob.digest.hex());
  }
  return "";
}

bool is_damaged(const BlobUses& uses, const Digest& digest) {
  auto found = uses.blobs.find(digest);
  return found != uses.blobs.end() && !found->second.damage.empty();
}

// What is damaged is made by packaging, which makes the layout, too.
bool is_packaged_again(const std::vector<ImageBlob>& blobs) {
  return std::ranges::any_of(blobs, [](const ImageBlob& blob) {
    return !blob.damage.empty() && blob.role != ImageBlob::Role::layer;
  });
}

}  // namespace

BlobUses blob_uses(const StatePaths& state, const FileSystem& files) {
  return UseReader(state, files).read();
}

std::vector<LayoutDamage> check_layouts(const BlobUses& uses, const StatePaths& state, bool deep) {
  const BlobStore store = BlobStore::reading(state.store());
  std::vector<LayoutDamage> found;
  std::set<std::string> seen;
  for (const BlobUser& user : uses.users) {
    if (user.image.layout.empty() || !seen.insert(user.image.layout).second) continue;
    const std::vector<ImageBlob> of_image = blobs_of(user.image, store);
    if (is_packaged_again(of_image)) continue;
    const fs::path folder = state.root() / user.image.layout;
    std::vector<Descriptor> blobs = blobs_in_layout(folder, user.image.manifest, of_image);
    std::erase_if(blobs, [&](const Descriptor& blob) { return is_damaged(uses, blob.digest); });
    std::string damage = layout_damage(folder, blobs);
    if (damage.empty() && deep) damage = read_layout_damage(folder, user.image, blobs, store);
    if (!damage.empty()) found.push_back({user.image.layout, user.image, std::move(damage)});
  }
  return found;
}

FsckReport check_store(const StatePaths& state, const FileSystem& files, const FsckOptions& options) {
  FsckReport report;
  report.uses = blob_uses(state, files);
  report.looked_at = report.uses.blobs.size();
  if (options.deep) {
    BlobsToRead to_read;
    for (auto& blob : report.uses.blobs)
      if (blob.second.damage.empty()) to_read.push_back(&blob);
    const BlobStore store = BlobStore::reading(state.store());
    report.read = BlobReading(store, std::move(to_read), options).run();
  }
  for (const auto& [digest, blob] : report.uses.blobs)
    if (!blob.damage.empty()) report.blobs.push_back(described(digest, blob, report.uses.users));
  report.layouts = check_layouts(report.uses, state, options.deep);
  return report;
}

}  // namespace kiln
