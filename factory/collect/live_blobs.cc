#include "factory/collect/live_blobs.h"

#include <fmt/format.h>

#include "factory/collect/roots.h"
#include "factory/oci/blob_store.h"
#include "factory/oci/layout.h"
#include "factory/record/image_blobs.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

class BlobFinder {
 public:
  BlobFinder(const Roots& roots, const CollectSetup& setup)
      : roots_(roots), setup_(setup), store_(BlobStore::reading(setup.state.store())) {}

  LiveBlobs find(const std::set<fs::path>& linked) {
    for (const RecordedImage& image : roots_.images)
      if (!image.image.external()) add_image(image);
    add_steps();
    for (const Sha256& name : roots_.named.all()) found_.blobs.insert(Digest::from_hex(hex_of(name)));
    for (const fs::path& folder : linked) add_links(folder);
    return std::move(found_);
  }

 private:
  void add_image(const RecordedImage& recorded) {
    const ImageRecord& image = recorded.image;
    for (const ImageBlob& blob : blobs_of(image, store_)) {
      add(blob.digest, recorded.lives, blob.what, image);
      if (recorded.lives && blob.digest == image.manifest && !blob.damage.empty())
        add_by_layout(image, blob.damage);
    }
    if (!image.evidence.report.empty()) add(image.evidence.report, recorded.lives, "evidence", image);
  }

  void add(const Digest& digest, bool lives, const std::string& what, const ImageRecord& image) {
    if (lives)
      found_.blobs.insert(digest);
    else
      found_.dead.try_emplace(digest, what + " of " + title_of(image));
  }

  // What the image consists of, though the store lacks its manifest: it has a second name in the layout.
  void add_by_layout(const ImageRecord& image, const std::string& damage) {
    const fs::path copy = blob_in_layout(setup_.state.root() / image.layout, image.manifest);
    if (!image.layout.empty() && has_bytes_of(copy, image.manifest)) {
      const std::string text = setup_.files.read(copy).value_or("");
      const Manifest manifest = manifest_from_json(JsonDocument::parse(text, copy.string()).root());
      found_.blobs.insert(manifest.config.digest);
      for (const Descriptor& layer : manifest.layers) found_.blobs.insert(layer.digest);
    } else if (store_.has(image.manifest)) {
      throw Error(
          ExitCode::store,
          fmt::format("the manifest of {} {}: kiln cannot know what it needs", title_of(image), damage),
          "`kiln index fsck --repair` mends it or takes it away; then collect");
    } else {
      found_.notes.push_back(fmt::format("{}: its manifest {}, and its layers cannot be told from others",
                                         title_of(image), damage));
    }
  }

  void add_steps() {
    const RecordReader records(setup_.state, setup_.files);
    for (const std::string& key : setup_.files.stems(setup_.state.step_folder())) {
      const bool lives =
          roots_.named.contains(key) || is_younger(setup_.state.step_folder() / (key + ".json"),
                                                   setup_.retention.keep_steps_for, setup_.now);
      if (lives) found_.steps.insert(key);
      try {
        if (auto step = records.step(key)) add_step(*step, lives);
      } catch (const Error& error) {
        if (lives)
          throw Error(ExitCode::store,
                      fmt::format("steps/{}.json is not what was written: {}", key, error.message()),
                      "`kiln index fsck --repair` takes it away; then collect");
      }
    }
  }

  void add_step(const StepRecord& step, bool lives) {
    for (const BuiltLayer& layer : step.chain.layers) {
      if (lives)
        found_.blobs.insert(layer.blob.digest);
      else if (layer.step == step.key)
        found_.dead.try_emplace(layer.blob.digest, "layer of the step " + layer.created_by);
    }
  }

  void add_links(const fs::path& folder) {
    std::error_code gone;
    for (const std::string& name : setup_.files.list(folder)) {
      HexNames names;
      names.add(fs::read_symlink(folder / name, gone).filename().string());
      for (const Sha256& digest : names.all()) found_.blobs.insert(Digest::from_hex(hex_of(digest)));
    }
  }

  const Roots& roots_;
  const CollectSetup& setup_;
  BlobStore store_;
  LiveBlobs found_;
};

}  // namespace

std::string title_of(const ImageRecord& image) {
  return image.external() ? image.name() : image.repository + ":" + image.immutable_tag;
}

LiveBlobs live_blobs(const Roots& roots, const std::set<fs::path>& linked, const CollectSetup& setup) {
  return BlobFinder(roots, setup).find(linked);
}

}  // namespace kiln
