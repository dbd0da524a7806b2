// What a snapshot is made from, and how it becomes the current one: what publishing, retiring and importing
// share.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "registry/index/index_writer.h"

namespace kiln {

// Names of the current snapshot that are to change; each is read when it is first asked for.
class TagEdits {
 public:
  explicit TagEdits(IndexState& state) : state_(state) {}
  // What it is to be; nullopt: there is none.
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

}  // namespace kiln
