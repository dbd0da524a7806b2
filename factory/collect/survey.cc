#include "factory/collect/survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "factory/oci/blob_store.h"
#include "factory/oci/layout.h"
#include "factory/os/file_lock.h"
#include "factory/record/image_blobs.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr std::string_view kLog = ".log";
constexpr const char* kUnnamed = "nothing names it";

std::string short_key(const std::string& key) { return key.substr(0, 12); }

// "hello:2.1-…-75869f925a83"; of a mapping what it refers to.
std::string title_of(const ImageRecord& image) {
  return image.external() ? image.name() : image.repository + ":" + image.immutable_tag;
}

// What the roots need of the store.
struct LiveBlobs {
  std::set<Digest> blobs;
  std::set<std::string> steps;         // keys of the steps that stay
  std::map<Digest, std::string> dead;  // what blobs are to images and steps that go: "layer 2 of hello:2.1-…"
  std::vector<std::string> notes;
};

class BlobFinder {
 public:
  BlobFinder(const Roots& roots, const CollectSetup& setup)
      : roots_(roots), setup_(setup), store_(BlobStore::reading(setup.state.store())) {}

  // `linked`: further folders whose links into the store count, such as those of SIF names.
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
      found_.notes.push_back(
          fmt::format("{}: its manifest {}, and kiln cannot distinguish its layers from others",
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

class Surveyor {
 public:
  explicit Surveyor(const CollectSetup& setup)
      : setup_(setup), state_(setup.state), older_(and_older(setup.retention.keep_for)) {}

  Survey run() {
    // Before anything is read that may name them: what comes later is not looked at.
    const std::vector<Digest> blobs = BlobStore::reading(state_.store()).blobs();
    found_.roots = find_roots(setup_);
    find_in_index();
    find_packaged();
    find_plans();
    find_records("tests", GarbageKind::test, setup_.retention.keep_steps_for);
    const std::set<fs::path> linked = find_sif_folders();
    live_ = BlobFinder(found_.roots, setup_).find(linked);
    find_steps();
    find_records("failed", GarbageKind::failure, setup_.grace);
    find_conversions();
    find_layouts();
    find_blobs(blobs);
    find_logs();
    find_jobs();
    find_caches();
    find_compiler_caches();
    find_recipes();
    find_leavings();
    find_dead_folders();
    found_.notes = live_.notes;
    found_.steps = live_.steps;
    std::ranges::stable_sort(found_.garbage, {}, &Garbage::kind);
    measure(state_.root(), found_.garbage);
    return std::move(found_);
  }

 private:
  void add(GarbageKind kind, std::string name, std::string why, std::vector<fs::path> paths = {}) {
    const bool named = kind != GarbageKind::leaving && kind != GarbageKind::cache &&
                       kind != GarbageKind::log && why != kUnnamed;
    found_.garbage.push_back({kind, std::move(name), std::move(why), std::move(paths), 0, named});
  }

  bool is_young(const fs::path& path, std::chrono::seconds age) const {
    return is_younger(state_.root() / path, age, setup_.now);
  }

  void find_in_index() {
    if (setup_.index == nullptr) return;
    std::set<std::int64_t> kept;
    for (const auto& [number, why] : found_.roots.snapshots) kept.insert(number);
    found_.of_index = setup_.index->forgettable(kept, found_.roots.published());
    for (const std::int64_t number : found_.of_index.snapshots)
      add(GarbageKind::snapshot, fmt::format("snapshot {}", number), why_snapshots_go(setup_.retention));
    std::map<std::string, std::string> titles;
    for (const RecordedImage& image : found_.roots.images)
      if (image.published) titles.emplace(image.record, title_of(image.image));
    for (const std::string& id : found_.of_index.images)
      add(GarbageKind::published, titles.contains(id) ? titles.at(id) : "sha256:" + id,
          "no snapshot that stays has it, and nothing else names it");
  }

  void find_packaged() {
    for (const RecordedImage& image : found_.roots.images)
      if (!image.published && !image.lives)
        add(GarbageKind::packaged, title_of(image.image), "no plan or snapshot names it" + older_,
            {fs::path("built") / (image.record + ".json")});
  }

  void find_plans() {
    for (const std::string& name : setup_.files.stems(state_.root() / "plans")) {
      if (found_.roots.plans.contains(name)) continue;
      const std::string file = name + ".json";
      add(GarbageKind::plan, name, "no snapshot has images of it" + older_,
          {fs::path("plans") / file, fs::path("origins") / file, fs::path("builds") / name});
    }
  }

  // Named by a key, each a file of its own.
  void find_records(const std::string& folder, GarbageKind kind, std::chrono::seconds age) {
    for (const std::string& key : setup_.files.stems(state_.root() / folder)) {
      const fs::path path = fs::path(folder) / (key + ".json");
      if (found_.roots.named.contains(key) || is_young(path, age)) continue;
      add(kind, short_key(key), "no plan names it" + older(kind), {path});
    }
  }

  std::string older(GarbageKind kind) const {
    return kind == GarbageKind::failure ? "" : and_older(setup_.retention.keep_steps_for);
  }

  void find_steps() {
    for (const std::string& key : setup_.files.stems(state_.step_folder()))
      if (!live_.steps.contains(key))
        add(GarbageKind::step, short_key(key), "no plan names it" + older(GarbageKind::step),
            {fs::path("steps") / (key + ".json")});
  }

  void find_conversions() {
    const RecordReader records(state_, setup_.files);
    for (const std::string& key : setup_.files.stems(state_.root() / "conversions")) {
      const auto sif = records.conversion(key);
      if (sif && live_.blobs.contains(sif->digest)) continue;
      const fs::path path = fs::path("conversions") / (key + ".json");
      if (!is_young(path, setup_.grace))
        add(GarbageKind::conversion, short_key(key), "of a removed SIF", {path});
    }
  }

  void find_layouts() {
    std::set<std::string> live;
    std::set<std::string> dead;
    for (const RecordedImage& image : found_.roots.images)
      if (!image.image.layout.empty()) (image.lives ? live : dead).insert(image.image.layout);
    for (const std::string& repository : setup_.files.list(state_.root() / "images")) {
      for (const std::string& tag : setup_.files.list(state_.root() / "images" / repository)) {
        const fs::path path = fs::path("images") / repository / tag;
        if (tag.starts_with('.') || live.contains(path.string()) || found_.roots.is_place(path.string()))
          continue;
        if (!dead.contains(path.string()) && is_young(path, setup_.grace)) continue;
        add(GarbageKind::layout, repository + ":" + tag,
            dead.contains(path.string()) ? "its image goes" : "no image has it", {path});
      }
    }
  }

  // Those that stay: what is shown, and what somebody may have opened a moment ago.
  std::set<fs::path> find_sif_folders() {
    std::set<fs::path> stay;
    std::error_code absent;
    const std::string shown = fs::read_symlink(state_.sif_folder(), absent).filename().string();
    for (const std::string& name : setup_.files.list(state_.sif_snapshots())) {
      const fs::path path = fs::path("sif.snapshots") / name;
      if (name == shown || is_young(path, setup_.grace) || found_.roots.is_place(path.string()))
        stay.insert(state_.root() / path);
      else
        add(GarbageKind::sif_folder, path.string(), "another one is shown", {path});
    }
    return stay;
  }

  void find_blobs(const std::vector<Digest>& blobs) {
    for (const Digest& digest : blobs) {
      if (live_.blobs.contains(digest)) continue;
      const fs::path path = fs::path("store/sha256") / digest.hex().substr(0, 2) / digest.hex();
      if (is_young(path, setup_.grace)) continue;
      auto dead = live_.dead.find(digest);
      if (dead == live_.dead.end())
        add(GarbageKind::blob, digest.text(), kUnnamed, {path});
      else
        add(GarbageKind::blob, dead->second + ", " + digest.text(), "its image or step is removed", {path});
    }
  }

  void find_logs() {
    for (const std::string& name : setup_.files.list(state_.root() / "logs")) {
      const fs::path path = fs::path("logs") / name;
      if (is_young(path, setup_.retention.keep_for)) continue;
      const bool needed = name.ends_with(kLog) ? is_live_key(name.substr(0, name.size() - kLog.size()))
                                               : has_live_link(state_.root() / path);
      if (!needed) add(GarbageKind::log, name, "of a missing image" + older_, {path});
    }
  }

  // What steps that failed as jobs of a cluster left. Younger ones may still run, whoever waited for them.
  void find_jobs() {
    for (const std::string& name : setup_.files.list(state_.jobs())) {
      const fs::path path = fs::path("jobs") / name;
      if (setup_.files.is_directory(state_.root() / path) && !is_young(path, setup_.retention.keep_for))
        add(GarbageKind::log, "job of " + short_key(name), "no build waits for it" + older_, {path});
    }
  }

  bool is_live_key(const std::string& key) const {
    return found_.roots.named.contains(key) || live_.steps.contains(key);
  }

  // Of a cell's folder: a link to a log that stays.
  bool has_live_link(const fs::path& folder) const {
    std::error_code gone;
    const std::vector<std::string> names = setup_.files.list(folder);
    return std::ranges::any_of(names, [&](const std::string& name) {
      return is_live_key(fs::read_symlink(folder / name, gone).stem().string());
    });
  }

  void find_caches() {
    for (const std::string& name : setup_.files.list(state_.evidence())) {
      const fs::path path = fs::path("evidence") / name;
      if (!name.starts_with('.') && !name.ends_with(".lock") && !is_young(path, setup_.retention.keep_for))
        add(GarbageKind::cache, name, "made again when it is needed" + older_, {path});
    }
  }

  // The site's file may have them elsewhere, where they are bounded only.
  void find_compiler_caches() {
    for (const std::string& kind : setup_.files.list(state_.caches())) {
      if (kind.starts_with('.')) continue;  // on its way out
      for (const std::string& id : setup_.files.list(state_.caches() / kind)) {
        const fs::path path = fs::path("caches") / kind / id;
        const fs::path uses = path.string() + ".uses";
        if (id.ends_with(".uses") || is_young(uses, setup_.retention.keep_for)) continue;
        add(GarbageKind::cache, kind + " " + id, "not used" + older_, {path, uses});
      }
    }
  }

  // Of earlier kilns, which kept one folder of them for all plans (now in builds/): of components that no
  // plan has. A plan names them as "kind/name".
  void find_recipes() {
    std::string plans;
    for (const auto& [name, why] : found_.roots.plans)
      plans += setup_.files.read(state_.plan(name), std::uint64_t{4} << 30).value_or("");
    for (const std::string& kind : setup_.files.list(state_.root() / "recipes")) {
      for (const std::string& name : setup_.files.list(state_.root() / "recipes" / kind)) {
        const fs::path path = fs::path("recipes") / kind / name;
        if (plans.find('"' + kind + "/" + name + '"') != std::string::npos ||
            is_young(path, setup_.retention.keep_for))
          continue;
        add(GarbageKind::recipe, kind + "/" + name, "no plan has it" + older_, {path});
      }
    }
  }

  // Folders of steps that were killed: their locks are nobody's.
  void find_dead_folders() {
    for (const std::string& name : setup_.files.list(state_.temporary())) {
      const fs::path path = fs::path("tmp") / name;
      const fs::path lock = path.string() + ".lock";
      if (name.starts_with("step-") && !name.ends_with(".lock") &&
          FileLock::of_the_dead(state_.root() / lock))
        add(GarbageKind::leaving, path.string(), "of a step that was killed", {path, lock});
    }
  }

  // Indices that were set aside: somebody may want to look, for a while.
  void find_leavings() {
    for (const std::string& name : setup_.files.list(state_.root())) {
      const bool aside =
          name.starts_with("index.db.bad-") || (name.starts_with("index.db.v") && name.ends_with(".bak"));
      if (aside && !is_young(name, setup_.retention.keep_for))
        add(GarbageKind::leaving, name, "set aside" + older_, {name});
    }
  }

  const CollectSetup& setup_;
  const StatePaths& state_;
  const std::string older_;  // than what is kept for its age
  Survey found_;
  LiveBlobs live_;
};

}  // namespace

Survey survey(const CollectSetup& setup) { return Surveyor(setup).run(); }

}  // namespace kiln
