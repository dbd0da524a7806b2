#include "factory/collect/roots.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/collect/retention.h"
#include "factory/oci/blob_store.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr std::string_view kJsonEnding = ".json";

// Of the state folder, beside what begins with a point: what names images only in ways that are followed
// here, or as a cache.
constexpr std::string_view kKnown =
    " plans origins recipes builds builds.turn lock lock.queue build.ninja steps tests failed running images "
    "built conversions sif logs"
    " sif.snapshots formats blobs evidence engine tmp engine.sessions engine.lock engine.import.lock store"
    " events.fifo index.lock demand.jsonl locks proposals.json pushed.jsonl history.jsonl memory nights"
    " nights.lease nights.reserve hosts bench site.json writers.lease doctor.lock"
    " jobs caches derived shared.unread shared.unwritten ";

bool is_known(const std::string& name) {
  return name.starts_with('.') || name.starts_with("index.db") ||
         kKnown.find(" " + name + " ") != std::string_view::npos;
}

// "docker://host/name" leads into no folder; "oci:/site/.kiln/images/hello/2.1-…" does.
bool may_be_path(std::string_view reference) {
  return reference.find("images/") != std::string_view::npos ||
         reference.find("sif") != std::string_view::npos ||
         reference.find("store/") != std::string_view::npos;
}

class RootFinder {
 public:
  explicit RootFinder(const CollectSetup& setup)
      : setup_(setup), store_(BlobStore::reading(setup.state.store())), records_(setup.state, setup.files) {}

  Roots find() {
    if (setup_.index != nullptr) {
      roots_.snapshots = kept_snapshots(setup_.index->snapshots(), setup_.retention, setup_.now);
      std::set<std::int64_t> numbers;
      for (const auto& [number, why] : roots_.snapshots) numbers.insert(number);
      tagged_ = setup_.index->names_in(numbers);
    }
    read_plans();
    read_unknown(setup_.state.root(), true);
    read_published();
    read_packaged();
    follow();
    return std::move(roots_);
  }

 private:
  void read_plans() {
    const fs::path folder = setup_.state.plan("x").parent_path();
    for (const std::string& file : setup_.files.list(folder)) {
      if (!file.ends_with(kJsonEnding)) continue;
      const std::string name = file.substr(0, file.size() - kJsonEnding.size());
      const bool published = tagged_.matrices.contains(name);
      if (!published && !is_younger(folder / file, setup_.retention.keep_for, setup_.now)) continue;
      roots_.plans.emplace(name, published ? "published in a snapshot that stays"
                                           : "younger than " + age_text(setup_.retention.keep_for));
      const std::string text = setup_.files.read(folder / file, kMostPlan).value_or("");
      roots_.named.add(text);
      add_bases(text);
    }
  }

  // What the plan's images are built upon.
  void add_bases(std::string_view plan) {
    constexpr std::string_view kBefore = "\"reference\":\"";
    for (std::size_t at = plan.find(kBefore); at != std::string_view::npos; at = plan.find(kBefore, at)) {
      at += kBefore.size();
      const std::string_view reference = plan.substr(at, plan.find('"', at) - at);
      if (may_be_path(reference)) roots_.places.emplace(reference);
      roots_.references.emplace(reference);
    }
  }

  void read_unknown(const fs::path& folder, bool is_top) {
    for (const std::string& name : setup_.files.list(folder)) {
      if (is_top && is_known(name)) continue;
      const fs::path path = folder / name;
      if (fs::is_regular_file(path))
        roots_.named.add_file(path);
      else if (setup_.files.is_directory(path) && !fs::is_symlink(path))
        read_unknown(path, false);
    }
  }

  void read_published() {
    for (const Digest& id : store_.records()) {
      const auto text = store_.read_record(id);
      const bool tagged = tagged_.images.contains(id.hex());
      if (!text && !tagged) {
        add({id.hex(), true, nameless(id), {}, false});
        continue;
      }
      if (!text)
        throw Error(ExitCode::store, fmt::format("store/records/{}.json is not what was written", id.hex()),
                    "`kiln index recover` makes it again from the index; then collect");
      ImageRecord image = image_record_from_json(JsonDocument::parse(*text, id.hex() + ".json").root());
      add({id.hex(), true, std::move(image), {}, tagged});
    }
  }

  static ImageRecord nameless(const Digest& id) {
    ImageRecord image;
    image.reference = "an unreadable record of " + id.text();
    return image;
  }

  void read_packaged() {
    for (const std::string& file : setup_.files.list(setup_.state.built_folder())) {
      if (!file.ends_with(kJsonEnding)) continue;
      const std::string record = file.substr(0, file.size() - kJsonEnding.size());
      try {
        auto image = records_.image(record);
        if (!image) continue;
        const bool young = is_younger(setup_.state.built(record), setup_.retention.keep_for, setup_.now);
        add({record, false, *std::move(image), {}, young});
      } catch (Error& error) {
        throw Error(ExitCode::store,
                    fmt::format("built/{} is not what was written: {}", file, error.message()),
                    "`kiln index fsck --repair` takes it away; then collect");
      }
    }
  }

  void add(RecordedImage found) {
    for (const auto& [name, value] : found.image.labels) found.mentions.add(value);
    found.mentions.add(found.image.reference);
    found.lives = found.lives || is_kept_by_name(found.image, setup_.retention);
    found.image.labels.clear();  // of ten thousand images they are most of it
    found.image.components.clear();
    const Digest report = found.image.evidence.report;
    found.image.evidence = {};
    found.image.evidence.report = report;
    roots_.images.push_back(std::move(found));
  }

  bool is_named(const ImageRecord& image) const {
    return roots_.named.contains(image.key) || roots_.named.contains(image.manifest.hex()) ||
           (!image.layout.empty() && roots_.is_place(image.layout)) ||
           (!image.external() && roots_.is_place("sif/" + image.sif_name()));
  }

  // An image that lives may name others, and those others: until no more are found.
  void follow() {
    std::set<const RecordedImage*> followed;
    for (bool more = true; more;) {
      more = false;
      for (RecordedImage& found : roots_.images) {
        if (!found.lives && is_named(found.image)) found.lives = true;
        if (!found.lives || !followed.insert(&found).second) continue;
        more = true;
        add_names_of(found);
      }
    }
  }

  // The record of its bits in built/ stays with it, and whatever it refers to.
  void add_names_of(const RecordedImage& found) {
    for (const Sha256& name : found.mentions.all()) roots_.named.add(hex_of(name));
    if (!found.image.manifest.empty()) roots_.named.add(found.image.manifest.hex());
    if (may_be_path(found.image.reference)) roots_.places.insert(found.image.reference);
    if (!found.image.reference.empty()) roots_.references.insert(found.image.reference);
  }

  static constexpr std::uint64_t kMostPlan = std::uint64_t{4} << 30;

  const CollectSetup& setup_;
  BlobStore store_;
  RecordReader records_;
  SnapshotNames tagged_;
  Roots roots_;
};

}  // namespace

std::set<std::string> Roots::published() const {
  std::set<std::string> names;
  for (const RecordedImage& image : images)
    if (image.published && image.lives) names.insert(image.record);
  return names;
}

bool Roots::is_place(const std::string& path) const {
  return std::any_of(places.begin(), places.end(),
                     [&](const std::string& place) { return place.find(path) != std::string::npos; });
}

Roots find_roots(const CollectSetup& setup) { return RootFinder(setup).find(); }

std::optional<std::int64_t> changed_at(const fs::path& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return std::nullopt;
  return status.st_mtim.tv_sec;
}

bool is_younger(const fs::path& file, std::chrono::seconds age, std::int64_t now) {
  const auto changed = changed_at(file);
  return changed && now - *changed < age.count();
}

}  // namespace kiln
