// Mappings of others' images on their way into the index.
#pragma once

#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "registry/index/next_snapshot.h"

namespace kiln {

// They become rows as they come, so that no more than names and digests of them is kept; their sidecars are
// written when the last has come, as one of them may be wrong.
class MappingImport {
 public:
  explicit MappingImport(IndexWriter& writer);
  void take(const ImageRecord& mapping);  // throws Error(store) for what is no mapping
  std::size_t mappings() const { return taken_.size(); }
  // The number of the snapshot with all that was taken, of the current one where nothing is new. Throws
  // Error(input) when that would be too large, Error(store).
  std::int64_t finish(const std::string& created);

 private:
  struct Taken {
    Digest identity;
    std::string bits;
    bool is_new = false;  // its row was made here
  };
  std::vector<TagChange> changes();
  void drop_replaced();
  void write_sidecars();

  IndexWriter& writer_;
  IndexState& state_;
  std::unordered_map<std::string, Taken> taken_;  // by code
  std::set<std::string> replaced_;                // rows of ours whose code another mapping has now
};

}  // namespace kiln
