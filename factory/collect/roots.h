// What is needed, and by whom: the one list that decides what `kiln gc` leaves, in the state folder and
// wherever else images of this index lie.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/collect/hex_names.h"
#include "factory/site/site.h"
#include "factory/state/state.h"
#include "registry/index/index.h"

namespace kiln {

struct CollectSetup {
  StatePaths state;
  const FileSystem& files;
  Retention retention;
  std::int64_t now = 0;                                // seconds since 1970
  const Index* index = nullptr;                        // null: nothing was published
  std::chrono::seconds grace = std::chrono::hours(1);  // what nobody names may be about to be named
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
