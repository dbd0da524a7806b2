#include "factory/sif/squashfs_inodes.h"

#include <endian.h>
#include <fmt/format.h>
#include <sqfs/error.h>

#include <algorithm>

#include "factory/base/error.h"

namespace kiln::sif {
namespace {

constexpr std::uint32_t kFragmentNone = 0xffffffff;
constexpr std::uint64_t kMetadataBlock = 8192;   // plain bytes of one
constexpr std::uint64_t kLeastStoredBlock = 3;   // its size, and a byte
constexpr std::uint32_t kLongestTarget = 65535;  // as mksquashfs has it
constexpr std::uint32_t kLongestName = 256;

[[noreturn]] void bad_inode(const std::string& what) { throw Error(ExitCode::input, what); }

void check_reading(int status, const char* what) {
  if (status == SQFS_ERROR_ALLOC) throw std::bad_alloc();
  if (status < 0) bad_inode(fmt::format("cannot read {} (libsquashfs error {})", what, status));
}

SquashfsOwned<sqfs_meta_reader_t> meta_reader(sqfs_file_t& image, sqfs_compressor_t& compressor,
                                              std::uint64_t start, std::uint64_t end) {
  SquashfsOwned<sqfs_meta_reader_t> reader(sqfs_meta_reader_create(&image, &compressor, start, end));
  if (!reader) throw std::bad_alloc();
  return reader;
}

}  // namespace

SquashfsInodes::SquashfsInodes(sqfs_file_t& image, sqfs_compressor_t& compressor, const sqfs_super_t& super)
    : super_(super) {
  if (super.directory_table_start < super.inode_table_start) bad_inode("the folders lie before the inodes");
  most_bytes_ =
      ((super.directory_table_start - super.inode_table_start) / kLeastStoredBlock + 1) * kMetadataBlock;
  inodes_ = meta_reader(image, compressor, super.inode_table_start, super.directory_table_start);
  std::uint64_t end = std::min({super.id_table_start, super.fragment_table_start, super.export_table_start});
  folders_ = meta_reader(image, compressor, super.directory_table_start, end);
}

sqfs_readdir_state_t SquashfsInodes::open(const sqfs_inode_generic_t& folder) const {
  sqfs_readdir_state_t place{};
  check_reading(sqfs_readdir_state_init(&place, &super_, &folder), "a folder");
  return place;
}

ReadInode SquashfsInodes::next(sqfs_readdir_state_t& place) {
  sqfs_dir_entry_t* entry = nullptr;
  sqfs_u64 reference = 0;
  int status = sqfs_meta_reader_readdir(folders_.get(), &place, &entry, nullptr, &reference);
  check_reading(status, "a folder's entry");
  if (status > 0) return nullptr;
  std::unique_ptr<sqfs_dir_entry_t, FreeMemory> owned(entry);
  return read(reference);
}

// The block counts from the inode table's start.
ReadInode SquashfsInodes::read(std::uint64_t reference) {
  std::uint64_t block = reference >> 16;
  auto offset = static_cast<std::size_t>(reference & 0xffff);
  check_inode(super_.inode_table_start + block, offset);
  sqfs_inode_generic_t* made = nullptr;
  check_reading(sqfs_meta_reader_read_inode(inodes_.get(), &super_, block, offset, &made), "an inode");
  return ReadInode(made);
}

template <typename Part>
Part SquashfsInodes::part() {
  Part part{};
  check_reading(sqfs_meta_reader_read(inodes_.get(), &part, sizeof part), "an inode");
  return part;
}

void SquashfsInodes::check_inode(std::uint64_t block, std::size_t offset) {
  check_reading(sqfs_meta_reader_seek(inodes_.get(), block, offset), "an inode");
  switch (le16toh(part<sqfs_inode_t>().type)) {
    case SQFS_INODE_FILE: {
      auto file = part<sqfs_inode_file_t>();
      return check_blocks(le32toh(file.file_size), le32toh(file.fragment_index) != kFragmentNone);
    }
    case SQFS_INODE_EXT_FILE: {
      auto file = part<sqfs_inode_file_ext_t>();
      return check_blocks(le64toh(file.file_size), le32toh(file.fragment_idx) != kFragmentNone);
    }
    case SQFS_INODE_SLINK:
    case SQFS_INODE_EXT_SLINK:  // starts with the same fields
      return check_target(le32toh(part<sqfs_inode_slink_t>().target_size));
    case SQFS_INODE_EXT_DIR:
      return check_folder_index(le16toh(part<sqfs_inode_dir_ext_t>().inodex_count));
    default:
      return;
  }
}

// A fragment holds the end only: the blocks before it are whole.
void SquashfsInodes::check_blocks(std::uint64_t size, bool has_fragment) const {
  std::uint64_t blocks = size / super_.block_size;
  if (!has_fragment && size % super_.block_size != 0) ++blocks;
  if (blocks > most_bytes_ / sizeof(sqfs_u32))
    bad_inode(fmt::format("a file has {} blocks, more than the inode table can hold", blocks));
}

void SquashfsInodes::check_target(std::uint32_t size) const {
  if (size > kLongestTarget || size > most_bytes_)
    bad_inode(fmt::format("a symbolic link has a target of {} bytes", size));
}

void SquashfsInodes::check_folder_index(std::uint16_t entries) {
  for (std::uint16_t i = 0; i < entries; ++i) {
    std::uint64_t name = std::uint64_t{le32toh(part<sqfs_dir_index_t>().size)} + 1;
    if (name > kLongestName) bad_inode(fmt::format("a folder's index has a name of {} bytes", name));
    char bytes[kLongestName];
    check_reading(sqfs_meta_reader_read(inodes_.get(), bytes, static_cast<std::size_t>(name)), "an inode");
  }
}

}  // namespace kiln::sif
