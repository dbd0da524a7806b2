// Shared steps in a folder, such as one of a parallel file system:
//
//   <folder>/steps/step-<key>.json, test-<key>.json   the record in its envelope
//   <folder>/sha256/<aa>/<64 hex>                     BlobStore
//
// It may promise that nobody but this user writes there. Then a record is ours if its file and its folder
// are, and nobody else may write to them; who can write elsewhere can put no file of ours there.
#pragma once

#include "factory/base/effects.h"
#include "factory/share/shared_place.h"

namespace kiln {

class FolderPlace final : public SharedPlace {
 public:
  // `is_private`: that it promises that. REQUIRES: `files` outlives this.
  FolderPlace(fs::path folder, bool is_private, FileSystem& files)
      : folder_(std::move(folder)), is_private_(is_private), files_(files) {}

  std::string text() const override { return folder_.string(); }
  std::set<std::string> names() override;
  std::optional<Found> find(const SharedName& name) override;
  bool fetch(const Descriptor& blob, const BlobStore& store) override;
  void put(const SharedName& name, const std::string& envelope, const std::string& made,
           const std::vector<Descriptor>& blobs, const BlobStore& store, bool mends) override;
  void touch(const SharedName& name, const std::string& now) override;
  std::map<std::string, std::string> used() override;
  void remove(const std::set<std::string>& names) override;

 private:
  fs::path records() const { return folder_ / "steps"; }
  fs::path record(const std::string& name) const { return records() / (name + ".json"); }
  void remove_unnamed_blobs() const;
  void need_folder() const;  // throws Error(network) where it is not there: it may be mounted later

  fs::path folder_;
  bool is_private_;
  FileSystem& files_;
};

// Why somebody else may have written what is open there: "belongs to the user 1001", "may be written by its
// group"; "" if nobody may but this user, or root.
std::string foreign_hand(int descriptor);

}  // namespace kiln
