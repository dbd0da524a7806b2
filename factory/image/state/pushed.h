// <state>/pushed.jsonl: what this kiln has put into registries, a line each, the last of a name counts:
//
//   {"image":"registry.site/ai/pytorch@sha256:…","sif":"sha256:…","signed":"<64 hex>"}   complete and read
//   back
//   {"tag":"registry.site/ai/pytorch:2.6-…","digest":"sha256:…"}       where we last moved it
//
// A memory, and no truth: without it everything is asked of the registry again, and a tag that names another
// image cannot be told from one that somebody else has moved.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/digest.h"
#include "base/line_file.h"
#include "image/state/state.h"

namespace kiln {

struct PushedRecord {
  Digest sif;             // its SIF's manifest; empty: it has none there
  std::string signed_by;  // SigningKey::id(); "" = nobody has signed it
};

class PushedNames {
 public:
  // Reads what is there; a line that a kill has cut is left out. Throws Error(store).
  explicit PushedNames(const StatePaths& state);

  // `image`: "registry.site/ai/pytorch@sha256:…". nullopt: it was not pushed.
  std::optional<PushedRecord> image(const std::string& image) const;
  std::optional<Digest> tag(const std::string& tag) const;  // what it named when we moved it last
  // On the disk when they return. REQUIRES: the state's lock is held.
  void put_image(const std::string& image, const PushedRecord& record);
  void put_tag(const std::string& tag, const Digest& digest);

 private:
  void append(const std::string& line);

  std::filesystem::path file_;
  std::optional<LineFile> lines_file_;  // opened at the first line that is added
  std::map<std::string, PushedRecord> images_;
  std::map<std::string, Digest> tags_;
  std::size_t lines_ = 0;
};

}  // namespace kiln
