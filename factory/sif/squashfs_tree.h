// Inodes and folders of a SquashFS image; only for squashfs_writer.cc.
#pragma once

#include <sqfs/dir.h>
#include <sqfs/dir_writer.h>
#include <sqfs/error.h>
#include <sqfs/id_table.h>
#include <sqfs/inode.h>
#include <sqfs/meta_writer.h>
#include <sqfs/predef.h>
#include <sqfs/xattr_writer.h>

#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "factory/oci/layer_merge.h"

namespace kiln::sif {

// The contents of a SquashFS image in a few numbers: its writer reports them, and a reader must find the same
// ones.

// The content of a file as its blocks come: each block's CRC-64 and size, in order.
class ContentSum {
 public:
  explicit ContentSum(std::uint32_t block_size) : block_size_(block_size) {}
  void append(std::string_view bytes);
  void add_block(std::uint64_t crc, std::uint64_t size);  // a whole one, or the last
  // Ends the content; what is appended afterwards belongs to the next one.
  std::uint64_t finish();
  std::uint64_t size() const { return size_; }

 private:
  std::uint32_t block_size_;
  std::uint64_t filled_ = 0;  // of the block begun
  std::uint64_t crc_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t size_ = 0;
};

std::uint64_t content_crc(std::string_view bytes);

struct SquashfsTotals {
  std::uint64_t inodes = 0;
  std::uint64_t files = 0;     // regular ones, each inode once
  std::uint64_t bytes = 0;     // of their contents
  std::uint64_t contents = 0;  // of inode numbers and contents, in any order

  void add_file(std::uint32_t number, std::uint64_t size, std::uint64_t content);
  bool operator==(const SquashfsTotals&) const = default;
};

struct SquashfsDestroy {
  template <typename Object>
  void operator()(Object* object) const {
    sqfs_destroy(object);
  }
};
template <typename Object>
using SquashfsOwned = std::unique_ptr<Object, SquashfsDestroy>;

// Throws Error(store) naming what failed; `status` is an SQFS_ERROR.
void check_squashfs(int status, const char* what);

// An empty file, as libsquashfs makes its own: sqfs_free() frees it.
sqfs_inode_generic_t* new_file_inode();

// Serialises the tree: children before their folder, so that folders can refer to where their entries' inodes
// lie.
class SquashfsTree {
 public:
  struct Tables {
    sqfs_meta_writer_t* inodes;
    sqfs_dir_writer_t* folders;
    sqfs_id_table_t* ids;
    sqfs_xattr_writer_t* xattrs;
  };
  // By content id.
  struct Contents {
    std::deque<sqfs_inode_generic_t*>& inodes;
    const std::vector<std::uint64_t>& sums;
  };
  SquashfsTree(const ImageTree& tree, const Contents& contents, const Tables& tables,
               std::uint32_t latest_time);

  void add_xattrs(const std::vector<Xattrs>& sets);
  std::uint64_t write();  // the root's inode reference
  std::uint32_t inode_count() const { return next_number_ - 1; }
  const SquashfsTotals& totals() const { return totals_; }

 private:
  struct Written {
    std::uint64_t reference = 0;
    std::uint32_t number = 0;  // 0: no number yet
    std::uint32_t links = 0;
  };
  void number_folder(NodeId folder);
  Written& written(InodeId id) { return written_[id]; }
  std::uint64_t write_folder(NodeId folder, std::uint32_t parent_number);
  void write_leaf(InodeId id);
  void write_inode(sqfs_inode_generic_t* inode, InodeId id, std::uint32_t number);
  std::uint64_t position() const;

  const ImageTree& tree_;
  Contents contents_;
  Tables tables_;
  std::uint32_t latest_time_;
  std::vector<std::uint32_t> xattr_ids_;
  std::vector<Written> written_;               // of all but folders, by inode
  std::vector<std::uint32_t> folder_numbers_;  // by node
  std::uint32_t next_number_ = 1;
  SquashfsTotals totals_;
};

}  // namespace kiln::sif
