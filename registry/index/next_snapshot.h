// Makes a snapshot, and makes it the current one: shared by publishing, retiring and importing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/index/index_state.h"
#include "registry/index/index_writer.h"

namespace kiln {

// Names of the current snapshot that are to change; each is read when it is first asked for.
class TagEdits {
 public:
  explicit TagEdits(IndexState& state) : state_(state) {}
  // The new image of the name; nullopt: none.
  std::optional<Tagged>& at(const TagName& name);
  std::vector<TagChange> changes() const;  // by name

 private:
  struct Edit {
    std::optional<Tagged> before, after;
  };
  IndexState& state_;
  std::map<TagName, Edit> edits_;
};

// A writing transaction on an index that has all that its sidecars prove.
class IndexChange {
 public:
  explicit IndexChange(IndexState& state);
  IndexWriter& writer() { return writer_; }
  void commit();

 private:
  Transaction transaction_;
  IndexWriter writer_;
};

// Makes the current snapshot with these changes the current one, its sidecar first. Returns its number.
// `held`: as write_current_sidecar() takes it. Throws Error(input) when that would be too large a sidecar.
std::int64_t make_snapshot(IndexWriter& writer, const std::vector<TagChange>& changes,
                           const std::string& created, const std::string& note,
                           std::optional<bool> held = {});

// The bits that were withdrawn, whatever the current snapshot holds: `snapshots/retired.json` of the blob
// store. A snapshot from before the retirement does not know it, nor does one without those bits.

// ImageRecord::bits, and the reason.
using Retirements = std::map<std::string, std::string>;

// The retirements in the file; without a readable one, those of the newest snapshot with the bits. Reads the
// sidecar and, without it, the whole history of tags.
Retirements all_retirements(IndexState& state);

// Why bits are retired, for an image that is about to be published.
class RetiredReasons {
 public:
  explicit RetiredReasons(IndexState& state);
  // "" when they are not. Without a file, by the tags of the current snapshot: no publication reads all of
  // them.
  std::string of(const std::string& bits) const;

 private:
  IndexState& state_;
  std::optional<Retirements> written_;
};

// REQUIRES: the index is open for writing.
void write_retirements(IndexState& state, const Retirements& retirements);

}  // namespace kiln
