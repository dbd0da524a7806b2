#include "factory/collect/roots.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>

#include "factory/base/error.h"
#include "factory/base/text.h"
#include "factory/collect/collect.h"
#include "factory/oci/blob_store.h"
#include "factory/state/plan_file.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

// nullopt for what is no number: the name of an image.
std::optional<std::int64_t> snapshot_number(const std::string& word) {
  std::int64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

bool is_young(const Snapshot& snapshot, const Retention& retention, std::int64_t now) {
  const auto created = unix_seconds_of(snapshot.created);
  return !created || now - *created < retention.keep_for.count();
}

constexpr std::size_t kDigits = 64;
constexpr std::size_t kPiece = std::size_t{1} << 20;

bool is_hex_digit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// Of the state folder: what names images only in ways that are followed here, or as a cache.
bool is_known(const std::string& name) {
  return name.starts_with('.') || name == "site.json" || is_state_part(name);
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
    for (const std::string& name : setup_.files.stems(folder)) {
      const fs::path file = folder / (name + ".json");
      const bool published = tagged_.matrices.contains(name);
      if (!published && !is_younger(file, setup_.retention.keep_for, setup_.now)) continue;
      roots_.plans.emplace(name, published ? "published in a snapshot that stays"
                                           : "younger than " + age_text(setup_.retention.keep_for));
      const std::string text = setup_.files.read(file, kMostPlan).value_or("");
      // Of a plan that was cut off, the steps that it no longer names would go.
      if (!is_whole_plan(text))
        throw Error(ExitCode::store, {file.string(), 0, 0, ""},
                    "the plan is damaged, and the steps that it needs are not known",
                    "remove it to collect garbage without it; `kiln build` writes it again");
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
    for (const std::string& record : setup_.files.stems(setup_.state.built_folder())) {
      try {
        auto image = records_.image(record);
        if (!image) continue;
        const bool young = is_younger(setup_.state.built(record), setup_.retention.keep_for, setup_.now);
        add({record, false, *std::move(image), {}, young});
      } catch (Error& error) {
        throw Error(ExitCode::store,
                    fmt::format("built/{}.json is not what was written: {}", record, error.message()),
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

std::map<std::int64_t, std::string> kept_snapshots(const std::vector<Snapshot>& snapshots,
                                                   const Retention& retention, std::int64_t now) {
  std::map<std::int64_t, std::string> kept;
  std::vector<std::int64_t> numbers;
  for (const Snapshot& snapshot : snapshots) {
    numbers.push_back(snapshot.number);
    if (snapshot.current) kept.emplace(snapshot.number, "current");
  }
  for (const std::string& word : retention.keep) {
    const auto number = snapshot_number(word);
    if (!number) continue;
    if (std::ranges::find(numbers, *number) == numbers.end())
      throw Error(ExitCode::no_match, fmt::format("there is no snapshot {}, which is to be kept", *number),
                  "`kiln index snapshots` lists them; \"keep\" of the site file's \"gc\" names some, too");
    kept.emplace(*number, "kept by name");
  }
  std::sort(numbers.rbegin(), numbers.rend());
  const auto newest =
      std::min(numbers.size(), static_cast<std::size_t>(std::max(1, retention.keep_snapshots)));
  for (std::size_t i = 0; i < newest; ++i)
    kept.emplace(numbers[i], fmt::format("one of the newest {}", retention.keep_snapshots));
  for (const Snapshot& snapshot : snapshots)
    if (is_young(snapshot, retention, now))
      kept.emplace(snapshot.number, "younger than " + age_text(retention.keep_for));
  return kept;
}

bool is_kept_by_name(const ImageRecord& image, const Retention& retention) {
  return std::ranges::any_of(retention.keep, [&](const std::string& word) {
    if (snapshot_number(word)) return false;
    if (word == image.manifest.text() || word == image.manifest.hex() || word == image.key) return true;
    return glob_matches(word, image.name()) ||
           glob_matches(word, image.repository + ":" + image.immutable_tag);
  });
}

std::string why_snapshots_go(const Retention& retention) {
  const std::string newest = retention.keep_snapshots == 1
                                 ? "not the newest"
                                 : fmt::format("not one of the newest {}", retention.keep_snapshots);
  return retention.keep_for.count() == 0
             ? newest
             : fmt::format("older than {}, and {}", age_text(retention.keep_for), newest);
}

std::string and_older(std::chrono::seconds age) {
  return age.count() == 0 ? "" : ", and it is older than " + age_text(age);
}

std::string age_text(std::chrono::seconds age) {
  const auto count = age.count();
  for (const auto& [unit, letter] : {std::pair(86400, 'd'), std::pair(3600, 'h'), std::pair(60, 'm')})
    if (count >= unit && count % unit == 0) return fmt::format("{}{}", count / unit, letter);
  return fmt::format("{}s", count);
}

void HexNames::add(std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    if (at < text.size() && is_hex_digit(text[at])) continue;
    if (at - begin == kDigits) names_.insert(sum_of_hex(text.substr(begin, kDigits)));
    begin = at + 1;
  }
}

void HexNames::add_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::string piece;
  std::string kept;  // the run of digits that the last piece ended with
  for (bool more = in.good(); more;) {
    piece.resize(kPiece);
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    piece.resize(static_cast<std::size_t>(in.gcount()));
    more = in.good();
    piece.insert(0, kept);
    std::size_t end = piece.size();
    while (more && end > 0 && is_hex_digit(piece[end - 1])) --end;
    add(std::string_view(piece).substr(0, end));
    kept = piece.substr(end, kDigits + 1);  // of a longer one, enough to tell that it is no name
  }
  if (!in.eof()) throw Error(ExitCode::store, "cannot read " + file.string());
}

bool HexNames::contains(std::string_view hex) const {
  return hex.size() == kDigits && is_hex(hex) && names_.contains(sum_of_hex(hex));
}

std::set<std::string> Roots::published() const {
  std::set<std::string> names;
  for (const RecordedImage& image : images)
    if (image.published && image.lives) names.insert(image.record);
  return names;
}

bool Roots::is_place(const std::string& path) const {
  return std::ranges::any_of(places,
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
