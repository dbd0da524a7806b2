// Reads a SquashFS image back with libsquashfs's readers.
#pragma once

#include <gtest/gtest.h>
#include <sqfs/compressor.h>
#include <sqfs/data_reader.h>
#include <sqfs/dir_reader.h>
#include <sqfs/id_table.h>
#include <sqfs/inode.h>
#include <sqfs/io.h>
#include <sqfs/super.h>
#include <sys/stat.h>

#include <map>
#include <string>

namespace kiln::testing {

struct SquashfsEntry {
  unsigned mode = 0;  // with the type
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint32_t mtime = 0;
  std::uint32_t inode = 0;
  std::string content;  // of a file; a symbolic link's target
};
using SquashfsContents = std::map<std::string, SquashfsEntry>;

struct SquashfsReading {
  sqfs_file_t* file = nullptr;
  sqfs_compressor_t* compressor = nullptr;
  sqfs_id_table_t* ids = sqfs_id_table_create(0);
  sqfs_dir_reader_t* folders = nullptr;
  sqfs_data_reader_t* data = nullptr;
  sqfs_tree_node_t* tree = nullptr;
  sqfs_super_t super{};

  explicit SquashfsReading(const std::string& path) {
    file = sqfs_open_file(path.c_str(), SQFS_FILE_OPEN_READ_ONLY);
    EXPECT_EQ(sqfs_super_read(&super, file), 0);
    sqfs_compressor_config_t config;
    sqfs_compressor_config_init(&config, static_cast<SQFS_COMPRESSOR>(super.compression_id), super.block_size,
                                SQFS_COMP_FLAG_UNCOMPRESS);
    EXPECT_EQ(sqfs_compressor_create(&config, &compressor), 0);
    EXPECT_EQ(sqfs_id_table_read(ids, file, &super, compressor), 0);
    folders = sqfs_dir_reader_create(&super, compressor, file, 0);
    data = sqfs_data_reader_create(file, super.block_size, compressor, 0);
    EXPECT_EQ(sqfs_data_reader_load_fragment_table(data, &super), 0);
    EXPECT_EQ(sqfs_dir_reader_get_full_hierarchy(folders, ids, nullptr, 0, &tree), 0);
  }
  ~SquashfsReading() {
    sqfs_dir_tree_destroy(tree);
    sqfs_destroy(data);
    sqfs_destroy(folders);
    sqfs_destroy(ids);
    sqfs_destroy(compressor);
    sqfs_destroy(file);
  }
  SquashfsReading(const SquashfsReading&) = delete;
  SquashfsReading& operator=(const SquashfsReading&) = delete;

  std::string content_of(const sqfs_inode_generic_t* inode) const {
    sqfs_u64 size = 0;
    sqfs_inode_get_file_size(inode, &size);
    std::string content(size, '\0');
    for (std::size_t done = 0; done < size;) {
      auto want = static_cast<sqfs_u32>(std::min<std::size_t>(size - done, 1u << 20));
      sqfs_s32 got = sqfs_data_reader_read(data, inode, done, content.data() + done, want);
      if (got <= 0) {
        ADD_FAILURE() << "cannot read a file";
        break;
      }
      done += static_cast<std::size_t>(got);
    }
    return content;
  }

  void collect(const sqfs_tree_node_t* node, const std::string& path, SquashfsContents& out) const {
    SquashfsEntry entry;
    entry.mode = node->inode->base.mode;
    entry.uid = node->uid;
    entry.gid = node->gid;
    entry.mtime = node->inode->base.mod_time;
    entry.inode = node->inode->base.inode_number;
    if (S_ISREG(entry.mode)) entry.content = content_of(node->inode);
    if (S_ISLNK(entry.mode))
      entry.content.assign(reinterpret_cast<const char*>(node->inode->extra),
                           node->inode->data.slink.target_size);
    out[path] = entry;
    for (const sqfs_tree_node_t* child = node->children; child != nullptr; child = child->next) {
      std::string name(reinterpret_cast<const char*>(child->name));
      collect(child, path.empty() ? name : path + "/" + name, out);
    }
  }
};

inline SquashfsContents read_squashfs(const std::string& path) {
  SquashfsReading reading(path);
  SquashfsContents contents;
  reading.collect(reading.tree, "", contents);
  return contents;
}

}  // namespace kiln::testing
