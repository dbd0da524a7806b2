// <state>/pushed.jsonl: what this kiln has put into registries, a line each, the last of a name counts:
//
//   {"image":"registry.site/ai/pytorch@sha256:…","sif":"sha256:…","signed":"<64 hex>","immutable":"2.6-…",
//    "with":["sha256:…"],"list":true}                                   complete and read back
//   {"image":"registry.site/ai/modak@sha256:…","index":true}            an image index of the site's names
//   {"tag":"registry.site/ai/pytorch:2.6-…","digest":"sha256:…"}        where we last moved it
//   {"gone":"registry.site/ai/pytorch@sha256:…"}                        or a tag: it is there no more
//   {"registry":"registry.site/ai","part":3,"looked":1795833600}        when that part of it was last looked
//   at
//
// A cache: without it kiln asks the registry for everything again, and cannot distinguish a tag that names
// another image from one that another writer has moved.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "factory/base/digest.h"
#include "factory/base/durable_file.h"
#include "factory/state/state.h"

namespace kiln {

struct PushedRecord {
  Digest sif{};                     // its SIF's manifest; empty: it has none there
  std::string signed_by{};          // SigningKey::id(); "" = it is not signed
  std::string immutable_tag{};      // "" = an index, or a line of an earlier kiln
  std::vector<Digest> referrers{};  // manifests that kiln put there with it, also the SIF's
  bool listed_by_tag = false;       // a tag lists them, for the registry has no API for that
  bool is_index = false;            // not an image, but one over platforms
  bool going = false;               // it is being taken away: not to be counted on
};

// The contents of a registry are checked in so many parts, in turn.
inline constexpr std::size_t kLookParts = 7;
using LookTimes = std::array<std::int64_t, kLookParts>;  // seconds since 1970; 0: never

class PushedNames {
 public:
  // Reads what is there; a line that a kill has cut is left out, and a file that is mostly old is written
  // anew. Throws Error(store). REQUIRES: the state's lock is held.
  explicit PushedNames(const StatePaths& state);
  // For a caller that only looks.
  static PushedNames reading(const StatePaths& state);

  // `image`: "registry.site/ai/pytorch@sha256:…". nullopt: it was not pushed.
  std::optional<PushedRecord> image(const std::string& image) const;
  std::optional<Digest> tag(const std::string& tag) const;  // its digest when kiln last moved it
  // On the disk when they return. REQUIRES: the state's lock is held.
  void put_image(const std::string& image, const PushedRecord& record);
  void put_tag(const std::string& tag, const Digest& digest);
  void forget(const std::string& name);  // an image or a tag

  LookTimes looked(const std::string& registry) const;
  // On the disk when it returns. REQUIRES as above, and `part` < kLookParts.
  void put_look(const std::string& registry, std::size_t part, std::int64_t time);

  const std::map<std::string, PushedRecord>& images() const { return images_; }
  const std::map<std::string, Digest>& tags() const { return tags_; }

 private:
  struct AsItIs {};
  PushedNames(const StatePaths& state, AsItIs);
  void write_anew() const;
  void append(const std::string& line);

  std::filesystem::path file_;
  std::optional<LineFile> lines_file_;  // opened at the first line that is added
  std::map<std::string, PushedRecord> images_;
  std::map<std::string, Digest> tags_;
  std::map<std::string, LookTimes> looks_;  // by registry
  std::size_t lines_ = 0;
  bool cut_ = false;  // by a kill
};

}  // namespace kiln
