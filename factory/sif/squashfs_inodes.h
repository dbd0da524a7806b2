// The inodes and folders of an untrusted SquashFS image; only for squashfs_reader.cc. libsquashfs takes
// memory for as many blocks, and for as long a target, as an inode says: an inode is looked at before
// libsquashfs reads it, and refused when the inode table cannot hold what it speaks of.
#pragma once

#include <sqfs/dir.h>
#include <sqfs/inode.h>
#include <sqfs/meta_reader.h>
#include <sqfs/super.h>

#include <memory>

#include "factory/sif/squashfs_tree.h"

namespace kiln::sif {

struct FreeMemory {
  template <typename Object>
  void operator()(Object* object) const {
    sqfs_free(object);
  }
};
using ReadInode = std::unique_ptr<sqfs_inode_generic_t, FreeMemory>;

class SquashfsInodes {
 public:
  // All three outlive the object. All functions throw Error(input) for a fault of the image.
  SquashfsInodes(sqfs_file_t& image, sqfs_compressor_t& compressor, const sqfs_super_t& super);

  ReadInode root() { return read(super_.root_inode_ref); }
  // The next entry's inode; null at the folder's end. Takes the folder's place, set by open().
  ReadInode next(sqfs_readdir_state_t& place);
  sqfs_readdir_state_t open(const sqfs_inode_generic_t& folder) const;

 private:
  ReadInode read(std::uint64_t reference);
  void check_inode(std::uint64_t block, std::size_t offset);
  void check_blocks(std::uint64_t size, bool has_fragment) const;
  void check_target(std::uint32_t size) const;
  void check_folder_index(std::uint16_t entries);
  template <typename Part>
  Part part();

  const sqfs_super_t& super_;
  std::uint64_t most_bytes_;  // that the inode table can hold
  SquashfsOwned<sqfs_meta_reader_t> inodes_;
  SquashfsOwned<sqfs_meta_reader_t> folders_;
};

}  // namespace kiln::sif
