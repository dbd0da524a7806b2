// Inodes as bytes, in a metadata block that is not compressed.
#include "factory/sif/squashfs_inodes.h"

#include <gtest/gtest.h>
#include <sqfs/compressor.h>
#include <sqfs/io.h>

#include "factory/base/error.h"
#include "support/temporary_folder.h"

namespace kiln::sif {
namespace {

// Little-endian numbers one behind the other.
class Bytes {
 public:
  Bytes& u16(std::uint64_t number) { return add(number, 2); }
  Bytes& u32(std::uint64_t number) { return add(number, 4); }
  Bytes& u64(std::uint64_t number) { return add(number, 8); }
  Bytes& raw(std::string_view bytes) {
    text_ += bytes;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  Bytes& add(std::uint64_t number, int size) {
    for (int i = 0; i < size; ++i) text_ += static_cast<char>(number >> (8 * i));
    return *this;
  }
  std::string text_;
};

Bytes inode_of(SQFS_INODE_TYPE type) { return Bytes().u16(type).u16(0644).u16(0).u16(0).u32(0).u32(1); }
Bytes slink_inode(std::uint64_t size) { return inode_of(SQFS_INODE_SLINK).u32(1).u32(size); }
Bytes file_inode(std::uint64_t size) {
  return inode_of(SQFS_INODE_FILE).u32(0).u32(0xffffffff).u32(0).u32(size);
}
Bytes large_inode(std::uint64_t size) {
  return inode_of(SQFS_INODE_EXT_FILE).u64(0).u64(size).u64(0).u32(1).u32(0xffffffff).u32(0).u32(0xffffffff);
}
Bytes folder_inode(std::uint64_t entries) {
  return inode_of(SQFS_INODE_EXT_DIR).u32(2).u32(3).u32(0).u32(1).u16(entries).u16(0).u32(0xffffffff);
}

// What libsquashfs makes of an image whose only inode this is.
ReadInode read_inode(const Bytes& inode) {
  kiln::testing::TemporaryFolder temporary;
  std::string block = Bytes().u16(0x8000 | inode.text().size()).raw(inode.text()).text();
  fs::path path = temporary.write("table", block);
  SquashfsOwned<sqfs_file_t> image(sqfs_open_file(path.c_str(), SQFS_FILE_OPEN_READ_ONLY));
  sqfs_compressor_config_t config;
  sqfs_compressor_config_init(&config, SQFS_COMP_GZIP, 4096, SQFS_COMP_FLAG_UNCOMPRESS);
  sqfs_compressor_t* made = nullptr;
  EXPECT_EQ(sqfs_compressor_create(&config, &made), 0);
  SquashfsOwned<sqfs_compressor_t> compressor(made);
  sqfs_super_t super{};
  super.block_size = 4096;
  super.directory_table_start = super.id_table_start = super.fragment_table_start = super.export_table_start =
      block.size();
  return SquashfsInodes(*image, *compressor, super).root();
}

std::string refusal(const Bytes& inode) {
  try {
    read_inode(inode);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.message();
  }
  return "";
}

TEST(SquashfsInodes, ReadsWhatTheTableHolds) {
  EXPECT_EQ(read_inode(slink_inode(3).raw("abc"))->payload_bytes_used, 3u);
  EXPECT_EQ(sqfs_inode_get_file_block_count(read_inode(file_inode(4097).u32(7).u32(8)).get()), 2u);
  EXPECT_EQ(sqfs_inode_get_file_block_count(read_inode(large_inode(4097).u32(7).u32(8)).get()), 2u);
  EXPECT_EQ(read_inode(folder_inode(1).u32(0).u32(0).u32(2).raw("abc"))->base.type, SQFS_INODE_EXT_DIR);
}

// Found by fuzzing: libsquashfs took up to 4 GB for each of these.
TEST(SquashfsInodes, RefusesWhatTheTableCannotHold) {
  EXPECT_EQ(refusal(slink_inode(0xfffffff0).raw("abc")), "a symbolic link has a target of 4294967280 bytes");
  EXPECT_EQ(refusal(slink_inode(65536).raw("abc")), "a symbolic link has a target of 65536 bytes");
  std::string blocks = " blocks, more than the inode table can hold";
  EXPECT_EQ(refusal(file_inode(0xffffffff)), "a file has 1048576" + blocks);
  EXPECT_EQ(refusal(large_inode(1ull << 42)), "a file has 1073741824" + blocks);
  EXPECT_EQ(refusal(folder_inode(1).u32(0).u32(0).u32(0xffffffff).raw("abc")),
            "a folder's index has a name of 4294967296 bytes");
}

TEST(SquashfsInodes, RefusesATruncatedTable) {
  EXPECT_NE(refusal(slink_inode(4).raw("abc")), "");
  EXPECT_NE(refusal(file_inode(4097).u32(7)), "");
  EXPECT_NE(refusal(inode_of(SQFS_INODE_SLINK)), "");
  EXPECT_NE(refusal(folder_inode(2).u32(0).u32(0).u32(2).raw("abc")), "");
}

}  // namespace
}  // namespace kiln::sif
