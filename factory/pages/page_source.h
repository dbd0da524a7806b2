// The data of pages: values that are read once, and values that a page requests when it needs them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/index/index.h"

namespace kiln {

// The Dockerfile and the definition file of an image.
struct DefinitionFiles {
  std::string dockerfile;
  std::string singularity;
};

// A document that hangs on an image. `problem`: why it could not be read; then there is no text.
struct PageDocument {
  std::string text;
  std::string problem{};
};

// A night as a list has it.
struct NightRow {
  std::string matrix;
  std::int64_t number = 0;
  std::string state;     // green, red, held, interrupted
  std::string started;   // RFC 3339
  std::string headline;  // one sentence
};

// One snapshot of the index.
struct PageContent {
  std::int64_t snapshot = 0;          // 0: nothing was published
  std::vector<Snapshot> snapshots;    // all that there are, newest first
  std::vector<IndexEntry> entries;    // of `snapshot`
  std::vector<NightRow> nights = {};  // newest first in each matrix
  // When the first snapshot that has it was made, RFC 3339, by ImageRecord::identity as hex. Images
  // themselves state SOURCE_DATE_EPOCH, so that their bits do not depend on the time.
  std::map<std::string, std::string> published = {};

  std::string published_at(const ImageRecord& image) const;  // "": not known
};

// Data that only some pages need, and that is too large to be held for all. Several threads may ask at once
// if the implementation allows it.
class PageSource {
 public:
  virtual ~PageSource() = default;
  // spdx, provenance; nullopt: the image has none.
  virtual std::optional<PageDocument> document(const ImageRecord& image, const std::string& kind) const = 0;
  // nullopt: nothing here knows how it was made any more.
  virtual std::optional<DefinitionFiles> definitions(const ImageRecord& image) const = 0;
  // As Index::history().
  virtual std::vector<TagSpan> history(const std::string& repository, const std::string& tag) const = 0;
  // The report of a night, as HTML; nullopt: there is none.
  virtual std::optional<std::string> night(const std::string& matrix, std::int64_t number) const = 0;
};

}  // namespace kiln
