#include "factory/sif/squashfs_tree.h"

#include <fmt/format.h>
#include <isa-l/crc64.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace kiln::sif {
namespace {

std::uint64_t crc_of(std::uint64_t start, std::string_view bytes) {
  return crc64_ecma_refl(start, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

// splitmix64's finalizer: near numbers become far ones, so that sums of them tell exchanged files apart.
std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}

}  // namespace

std::uint64_t content_crc(std::string_view bytes) { return crc_of(0, bytes); }

void ContentSum::append(std::string_view bytes) {
  while (!bytes.empty()) {
    std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), block_size_ - filled_));
    crc_ = crc_of(crc_, bytes.substr(0, take));
    filled_ += take;
    bytes.remove_prefix(take);
    if (filled_ < block_size_) continue;
    add_block(crc_, filled_);
    crc_ = filled_ = 0;
  }
}

void ContentSum::add_block(std::uint64_t crc, std::uint64_t size) {
  sum_ = mixed(sum_ + mixed(crc) + size);
  size_ += size;
}

std::uint64_t ContentSum::finish() {
  if (filled_ > 0) add_block(crc_, filled_);
  std::uint64_t sum = sum_;
  *this = ContentSum(block_size_);
  return sum;
}

void SquashfsTotals::add_file(std::uint32_t number, std::uint64_t size, std::uint64_t content) {
  ++files;
  bytes += size;
  contents += mixed(content + mixed(number));
}

namespace {

std::uint16_t type_bits(EntryKind kind) {
  switch (kind) {
    case EntryKind::folder:
      return S_IFDIR;
    case EntryKind::symlink:
      return S_IFLNK;
    case EntryKind::fifo:
      return S_IFIFO;
    default:
      return S_IFREG;
  }
}

struct FreeInode {
  void operator()(sqfs_inode_generic_t* inode) const { sqfs_free(inode); }
};
using OwnedInode = std::unique_ptr<sqfs_inode_generic_t, FreeInode>;

// As libsquashfs allocates its own: with malloc, zeroed, the payload behind.
OwnedInode new_inode(std::size_t payload) {
  auto* inode = static_cast<sqfs_inode_generic_t*>(std::calloc(1, sizeof(sqfs_inode_generic_t) + payload));
  if (inode == nullptr) throw std::bad_alloc();
  inode->payload_bytes_available = static_cast<sqfs_u32>(payload);
  return OwnedInode(inode);
}

// How many entries a folder's index really has: libsquashfs's count of them is 16 bits wide and wraps around.
std::size_t index_entries(const sqfs_inode_generic_t& inode) {
  std::size_t count = 0;
  const char* index = reinterpret_cast<const char*>(inode.extra);
  for (std::size_t at = 0; at + sizeof(sqfs_dir_index_t) <= inode.payload_bytes_used; ++count) {
    sqfs_dir_index_t entry;
    std::memcpy(&entry, index + at, sizeof entry);
    at += sizeof entry + entry.size + 1;
  }
  return count;
}

OwnedInode symlink_inode(const std::string& target) {
  OwnedInode inode = new_inode(target.size());
  inode->base.type = SQFS_INODE_SLINK;
  inode->data.slink.target_size = static_cast<sqfs_u32>(target.size());
  inode->payload_bytes_used = static_cast<sqfs_u32>(target.size());
  std::memcpy(inode->extra, target.data(), target.size());
  return inode;
}

void set_links(sqfs_inode_generic_t* inode, std::uint32_t links) {
  switch (inode->base.type) {
    case SQFS_INODE_FILE:
      if (links > 1) {
        check_squashfs(sqfs_inode_make_extended(inode), "an inode with several names");
        inode->data.file_ext.nlink = links;
      }
      break;
    case SQFS_INODE_EXT_FILE:
      inode->data.file_ext.nlink = links;
      break;
    case SQFS_INODE_SLINK:
      inode->data.slink.nlink = links;
      break;
    default:
      inode->data.ipc.nlink = links;
  }
}

}  // namespace

void check_squashfs(int status, const char* what) {
  if (status >= 0) return;
  if (status == SQFS_ERROR_ALLOC) throw std::bad_alloc();
  std::string reason = fmt::format("libsquashfs error {}", status);
  if (status == SQFS_ERROR_OVERFLOW) reason = "more than SquashFS can hold";
  if (status == SQFS_ERROR_UNSUPPORTED) reason = "not supported by this libsquashfs";
  throw Error(ExitCode::store, fmt::format("cannot write {}: {}", what, reason));
}

sqfs_inode_generic_t* new_file_inode() {
  OwnedInode inode = new_inode(0);
  inode->base.type = SQFS_INODE_FILE;
  check_squashfs(sqfs_inode_set_frag_location(inode.get(), kNone, kNone), "an empty file");
  return inode.release();
}

SquashfsTree::SquashfsTree(const ImageTree& tree, const Contents& contents, const Tables& tables,
                           std::uint32_t latest_time)
    : tree_(tree),
      contents_(contents),
      tables_(tables),
      latest_time_(latest_time),
      written_(tree.inode_count()),
      folder_numbers_(tree.node_count()) {}

void SquashfsTree::add_xattrs(const std::vector<Xattrs>& sets) {
  for (const Xattrs& set : sets) {
    check_squashfs(sqfs_xattr_writer_begin(tables_.xattrs, 0), "extended attributes");
    for (const auto& [name, value] : set)
      check_squashfs(sqfs_xattr_writer_add(tables_.xattrs, name.c_str(), value.data(), value.size()),
                     "an extended attribute");
    xattr_ids_.push_back(0);
    check_squashfs(sqfs_xattr_writer_end(tables_.xattrs, &xattr_ids_.back()), "extended attributes");
  }
}

std::uint64_t SquashfsTree::write() {
  number_folder(kRootNode);
  folder_numbers_[kRootNode] = next_number_++;
  totals_.inodes = inode_count();
  return write_folder(kRootNode, next_number_);  // what mksquashfs stores as the root's parent
}

// A folder's entries get numbers in a row, which keeps folders small: an entry has its number as a difference
// of 16 bits to that of its header, and a header stands before every 256 entries, or where a difference does
// not fit. The recursion is as deep as PathTable lets folders be.
void SquashfsTree::number_folder(NodeId folder) {
  std::vector<NodeId> children = tree_.children(folder);
  for (NodeId child : children)
    if (tree_.inode(tree_.inode_at(child)).kind == EntryKind::folder) number_folder(child);
  for (NodeId child : children) {
    InodeId id = tree_.inode_at(child);
    if (tree_.inode(id).kind == EntryKind::folder) {
      folder_numbers_[child] = next_number_++;
      continue;
    }
    if (written(id).links++ == 0) written(id).number = next_number_++;
  }
}

std::uint64_t SquashfsTree::write_folder(NodeId folder, std::uint32_t parent_number) {
  std::vector<NodeId> children = tree_.children(folder);
  std::vector<std::uint64_t> references;
  std::uint32_t links = 2;
  for (NodeId child : children) {
    InodeId id = tree_.inode_at(child);
    if (tree_.inode(id).kind == EntryKind::folder) {
      references.push_back(write_folder(child, folder_numbers_[folder]));
      ++links;
    } else {
      if (written(id).reference == 0 && tree_.inode(id).kind != EntryKind::folder) write_leaf(id);
      references.push_back(written(id).reference - 1);
    }
  }
  check_squashfs(sqfs_dir_writer_begin(tables_.folders, 0), "a folder");
  for (std::size_t i = 0; i < children.size(); ++i) {
    InodeId id = tree_.inode_at(children[i]);
    const Inode& inode = tree_.inode(id);
    std::uint32_t number =
        inode.kind == EntryKind::folder ? folder_numbers_[children[i]] : written(id).number;
    std::string name(tree_.name(children[i]));
    check_squashfs(sqfs_dir_writer_add_entry(tables_.folders, name.c_str(), number, references[i],
                                             type_bits(inode.kind) | inode.mode),
                   "a folder's entry");
  }
  check_squashfs(sqfs_dir_writer_end(tables_.folders), "a folder");
  InodeId id = tree_.inode_at(folder);
  std::uint32_t xattrs = tree_.inode(id).xattrs;
  OwnedInode inode(sqfs_dir_writer_create_inode(tables_.folders, 0,
                                                xattrs == kNone ? kNone : xattr_ids_[xattrs], parent_number));
  if (!inode) throw std::bad_alloc();
  if (inode->base.type == SQFS_INODE_EXT_DIR && index_entries(*inode) > UINT16_MAX)
    throw Error(ExitCode::input,
                fmt::format("'{}' has more entries than a SquashFS folder can hold", tree_.path(folder)));
  // libsquashfs counts every entry as a link; file systems count "..", "." and the folders inside.
  (inode->base.type == SQFS_INODE_EXT_DIR ? inode->data.dir_ext.nlink : inode->data.dir.nlink) = links;
  std::uint64_t reference = position();
  write_inode(inode.get(), id, folder_numbers_[folder]);
  return reference;
}

void SquashfsTree::write_leaf(InodeId id) {
  const Inode& entry = tree_.inode(id);
  OwnedInode own;
  sqfs_inode_generic_t* inode = nullptr;
  if (entry.kind == EntryKind::file) {
    inode = contents_.inodes.at(entry.payload);
    sqfs_u64 size = 0;
    sqfs_inode_get_file_size(inode, &size);
    totals_.add_file(written(id).number, size, contents_.sums.at(entry.payload));
  } else {
    own = entry.kind == EntryKind::symlink ? symlink_inode(tree_.string(entry.payload)) : new_inode(0);
    if (entry.kind == EntryKind::fifo) own->base.type = SQFS_INODE_FIFO;
    inode = own.get();
  }
  set_links(inode, written(id).links);
  if (entry.xattrs != kNone)
    check_squashfs(sqfs_inode_set_xattr_index(inode, xattr_ids_[entry.xattrs]),
                   "an inode's extended attributes");
  written(id).reference = position() + 1;  // 0 stands for "not written"
  write_inode(inode, id, written(id).number);
}

void SquashfsTree::write_inode(sqfs_inode_generic_t* inode, InodeId id, std::uint32_t number) {
  const Inode& entry = tree_.inode(id);
  inode->base.mode = static_cast<sqfs_u16>(type_bits(entry.kind) | entry.mode);
  inode->base.mod_time = std::min(entry.mtime, latest_time_);
  inode->base.inode_number = number;
  check_squashfs(sqfs_id_table_id_to_index(tables_.ids, entry.uid, &inode->base.uid_idx), "a user id");
  check_squashfs(sqfs_id_table_id_to_index(tables_.ids, entry.gid, &inode->base.gid_idx), "a group id");
  check_squashfs(sqfs_meta_writer_write_inode(tables_.inodes, inode), "an inode");
}

// An inode reference: where the metadata block starts, in bytes from the inode table's start, and the inode's
// place among the block's 8192 plain bytes in the low 16 bits.
std::uint64_t SquashfsTree::position() const {
  sqfs_u64 block = 0;
  sqfs_u32 offset = 0;
  sqfs_meta_writer_get_position(tables_.inodes, &block, &offset);
  return (block << 16) | offset;
}

}  // namespace kiln::sif
