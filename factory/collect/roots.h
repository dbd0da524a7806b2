// The roots of the garbage collection: the one list that decides what `kiln gc` keeps, in the state folder
// and in every other place with images of this index.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/effects.h"
#include "factory/site/site.h"
#include "factory/state/state.h"
#include "registry/index/index.h"

namespace kiln {

// The snapshots and images to keep. Nothing here looks at a disk.

// Numbers of those that stay, with the reason: "current", "one of the newest 10", "younger than 30d", "kept
// by name". The newest always stays. One without a readable date counts as young. `now`: seconds since 1970.
// Throws Error(no_match) for a number to keep that does not exist.
std::map<std::int64_t, std::string> kept_snapshots(const std::vector<Snapshot>& snapshots,
                                                   const Retention& retention, std::int64_t now);

// Whether one of Retention::keep names this image, by digest, key or name.
bool is_kept_by_name(const ImageRecord& image, const Retention& retention);

// Why others go: "older than 30d, and not one of the newest 10".
std::string why_snapshots_go(const Retention& retention);

// ", and it is older than 30d"; "" where no age keeps it.
std::string and_older(std::chrono::seconds age);

std::string age_text(std::chrono::seconds age);  // "30d", "36h", "90s"

// Keys and digests that a text names, whatever its form: 64 small hex digits in a row.
class HexNames {
 public:
  void add(std::string_view text);
  // Adds the names in a file of any size. Throws Error(store) if it cannot be read.
  void add_file(const std::filesystem::path& file);
  // `hex`: 64 digits; false for any other text.
  bool contains(std::string_view hex) const;
  const std::set<Sha256>& all() const { return names_; }

 private:
  std::set<Sha256> names_;
};

struct CollectSetup {
  StatePaths state;
  const FileSystem& files;
  Retention retention;
  std::int64_t now = 0;                                // seconds since 1970
  const Index* index = nullptr;                        // null: nothing was published
  std::chrono::seconds grace = std::chrono::hours(1);  // a file without a name may be about to get one
};

// An image that has a record, slim: what names, files and blobs it has.
struct RecordedImage {
  std::string record;      // of built/, or of the index (ImageRecord::identity, as hex)
  bool published = false;  // of the index
  ImageRecord image;
  HexNames mentions;  // in its labels and its reference: a base, another's digest
  bool lives = false;
};

struct Roots {
  std::map<std::int64_t, std::string> snapshots;  // numbers of those that stay, and why
  std::vector<RecordedImage> images;              // all that there are
  std::map<std::string, std::string> plans;       // names of those that stay, and why
  // Keys of steps, tests and images, and digests: of these plans, of the images that live, and of every file
  // in the state folder that this kiln does not know, such as a newer one's journal.
  HexNames named;
  std::set<std::string>
      places;  // texts that may be paths into the state folder: references of mappings, bases

  std::set<std::string>
      references;  // "docker://registry.site/ai/hello:2.10": of bases and mappings that stay

  std::set<std::string> published() const;       // that live, as Index::forget() takes them
  bool is_place(const std::string& path) const;  // a part of one of the places
};

// Throws Error(store) for a record that cannot be read: kiln cannot know what it needs.
Roots find_roots(const CollectSetup& setup);

// Seconds since 1970 of the last change of a file; nullopt when there is none.
std::optional<std::int64_t> changed_at(const fs::path& file);
bool is_younger(const fs::path& file, std::chrono::seconds age, std::int64_t now);

}  // namespace kiln
