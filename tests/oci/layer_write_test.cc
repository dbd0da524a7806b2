#include "factory/oci/layer_write.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <locale.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

struct Entry {
  std::string type;  // "file", "folder", "link TARGET", "hard link TARGET", …
  int mode = 0;
  std::int64_t mtime = 0;
  std::string content;
  std::map<std::string, std::string> xattrs;
};

std::string tar_of(const fs::path& tree, std::int64_t epoch = 1000) {
  std::string tar;
  write_tar({tree, {"/nonexistent"}}, epoch, [&](std::string_view bytes) { tar += bytes; });
  return tar;
}

// Reads a tar back; names in the archive's order go to `order`.
std::map<std::string, Entry> entries_of(const std::string& tar, std::vector<std::string>* order = nullptr) {
  std::map<std::string, Entry> entries;
  archive* in = archive_read_new();
  archive_read_support_format_tar(in);
  EXPECT_EQ(archive_read_open_memory(in, tar.data(), tar.size()), ARCHIVE_OK);
  archive_entry* header = nullptr;
  while (archive_read_next_header(in, &header) == ARCHIVE_OK) {
    Entry entry;
    entry.mode = static_cast<int>(archive_entry_perm(header));
    entry.mtime = archive_entry_mtime(header);
    entry.type = archive_entry_filetype(header) == AE_IFDIR ? "folder" : "file";
    if (const char* target = archive_entry_symlink(header)) entry.type = std::string("link ") + target;
    if (const char* target = archive_entry_hardlink(header)) entry.type = std::string("hard link ") + target;
    EXPECT_STREQ(archive_entry_uname(header), "");
    EXPECT_STREQ(archive_entry_gname(header), "");
    EXPECT_FALSE(archive_entry_atime_is_set(header));
    EXPECT_FALSE(archive_entry_ctime_is_set(header));
    entry.content.resize(static_cast<std::size_t>(archive_entry_size(header)));
    archive_read_data(in, entry.content.data(), entry.content.size());
    archive_entry_xattr_reset(header);
    const char* name;
    const void* value;
    std::size_t size;
    while (archive_entry_xattr_next(header, &name, &value, &size) == ARCHIVE_OK)
      entry.xattrs[name] = std::string(static_cast<const char*>(value), size);
    if (order != nullptr) order->emplace_back(archive_entry_pathname(header));
    entries[archive_entry_pathname(header)] = entry;
  }
  archive_read_free(in);
  return entries;
}

void set_mtime(const fs::path& path, std::int64_t seconds) {
  timespec times[2] = {{seconds, 5}, {seconds, 5}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

// A tree with one of everything, made in the given order under the given umask, some time ago or now.
void make_tree(const TemporaryFolder& tree, bool reverse, mode_t mask, std::int64_t mtime) {
  mode_t old_mask = ::umask(mask);
  std::vector<std::string> names = {"usr/bin/tool", "usr/lib/a", "usr/lib/b",
                                    "opt/" + std::string(120, 'n') + "/long"};
  if (reverse) std::reverse(names.begin(), names.end());
  for (const std::string& name : names) tree.write(name, "content of " + name);
  ::umask(old_mask);
  fs::create_symlink("../lib/a", tree / "usr/bin/link");
  fs::create_hard_link(tree / "usr/lib/b", tree / "usr/lib/also");
  for (const auto& item : fs::recursive_directory_iterator(tree.path())) {
    if (!item.is_symlink()) fs::permissions(item, fs::perms::owner_all);
    set_mtime(item.path(), mtime);
  }
  fs::permissions(tree / "usr/bin/tool", static_cast<fs::perms>(04755));
}

TEST(Layer, TheSameTreeGivesTheSameBytes) {
  TemporaryFolder first;
  TemporaryFolder second;
  make_tree(first, false, 022, 2000);
  make_tree(second, true, 077, 1'700'000'000);
  EXPECT_EQ(Digest::of(tar_of(first.path())), Digest::of(tar_of(second.path())));
}

TEST(Layer, HoldsWhatTheTreeHolds) {
  TemporaryFolder tree;
  make_tree(tree, false, 022, 2000);
  set_mtime(tree / "usr/lib/a", 500);
  auto entries = entries_of(tar_of(tree.path()));
  EXPECT_EQ(entries.at("usr/bin/tool").mode, 04755);
  EXPECT_EQ(entries.at("usr/bin/tool").content, "content of usr/bin/tool");
  EXPECT_EQ(entries.at("usr/bin/tool").mtime, 1000) << "no newer than the epoch";
  EXPECT_EQ(entries.at("usr/lib/a").mtime, 500) << "older stays";
  EXPECT_EQ(entries.at("usr/bin/link").type, "link ../lib/a");
  EXPECT_EQ(entries.at("usr/lib/b").type, "hard link usr/lib/also");
  EXPECT_EQ(entries.at("usr/lib/also").content, "content of usr/lib/b");
  EXPECT_TRUE(entries.contains("opt/" + std::string(120, 'n') + "/long"));
  EXPECT_EQ(entries.at("usr/").type, "folder");
  EXPECT_EQ(entries.size(), 11u);
}

TEST(Layer, DeletionsAreMarksOfOciLayers) {
  TemporaryFolder tree;
  TemporaryFolder below;
  fs::create_directories(tree / "usr/new");
  fs::create_directories(below / "usr/new");
  ASSERT_EQ(::lsetxattr((tree / "usr/new").c_str(), "user.overlay.opaque", "y", 1, 0), 0);
  tree.write("usr/new/file", "");
  ASSERT_EQ(::mknod((tree / "usr/gone").c_str(), S_IFCHR, 0), 0);
  std::string tar;
  write_tar({tree.path(), {below.path()}}, 1000, [&](std::string_view bytes) { tar += bytes; });
  std::vector<std::string> order;
  auto entries = entries_of(tar, &order);
  EXPECT_EQ(order, (std::vector<std::string>{"usr/", "usr/.wh.gone", "usr/new/", "usr/new/.wh..wh..opq",
                                             "usr/new/file"}));
  EXPECT_EQ(entries.at("usr/.wh.gone").type, "file");
  EXPECT_EQ(entries.at("usr/.wh.gone").content, "");
}

TEST(Layer, AttributesSurvive) {
  TemporaryFolder tree;
  fs::path file = tree.write("file", "");
  std::string value("\0=\n", 3);
  ASSERT_EQ(::lsetxattr(file.c_str(), "user.mine", value.data(), value.size(), 0), 0);
  EXPECT_EQ(entries_of(tar_of(tree.path())).at("file").xattrs,
            (std::map<std::string, std::string>{{"user.mine", value}}));
}

TEST(Layer, BytesDoNotDependOnTheLocale) {
  TemporaryFolder tree;
  tree.write("grün", "");
  tree.write("broken-\xff", "");
  std::string before = ::setlocale(LC_ALL, nullptr);
  ASSERT_NE(::setlocale(LC_ALL, "C"), nullptr);
  std::string plain = tar_of(tree.path());
  ASSERT_NE(::setlocale(LC_ALL, "C.UTF-8"), nullptr);
  std::string utf8 = tar_of(tree.path());
  ::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(plain, utf8);
  EXPECT_NE(plain.find("grün"), std::string::npos);
  EXPECT_NE(plain.find("broken-\xff"), std::string::npos);
}

// Bytes that zstd cannot squeeze to nothing, so that several of its jobs are needed.
std::string noise(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& c : bytes) {
    state = state * 1664525 + 1013904223;
    c = static_cast<char>((state >> 24) & 0x3f);
  }
  return bytes;
}

TEST(Layer, TheBlobIsTheTarAndDoesNotDependOnThreads) {
  TemporaryFolder tree;
  TemporaryFolder folder;
  tree.write("noise", noise(24u << 20));
  BlobStore store(folder / "store");
  LayerOptions options;
  options.epoch = 1000;
  options.threads = 1;
  BuiltLayer one = write_layer({tree.path(), {}}, store, options);
  options.threads = 3;
  BuiltLayer three = write_layer({tree.path(), {}}, store, options);
  EXPECT_EQ(one.blob, three.blob);
  EXPECT_EQ(one.diff_id, three.diff_id);
  EXPECT_EQ(one.blob.media_type, media_type::kLayerZstd);
  EXPECT_TRUE(store.has(one.blob.digest));
  EXPECT_EQ(one.diff_id, Digest::of(tar_of(tree.path())));
  EXPECT_EQ(diff_id_of(store.path(one.blob.digest)), one.diff_id);
  EXPECT_LT(one.blob.size, 24u << 20);
}

TEST(Layer, GzipHoldsTheSameTar) {
  TemporaryFolder tree;
  TemporaryFolder folder;
  tree.write("noise", noise(3u << 20));
  BlobStore store(folder / "store");
  LayerOptions options;
  options.epoch = 1000;
  options.compression = LayerCompression::gzip;
  BuiltLayer record = write_layer({tree.path(), {}}, store, options);
  EXPECT_EQ(record.blob.media_type, media_type::kLayerGzip);
  EXPECT_EQ(record.diff_id, Digest::of(tar_of(tree.path())));
  EXPECT_EQ(diff_id_of(store.path(record.blob.digest)), record.diff_id);
  EXPECT_LT(record.blob.size, 3u << 20);
  std::string head = store.read(record.blob.digest).substr(0, 10);
  EXPECT_EQ(head.substr(0, 4), std::string("\x1f\x8b\x08\0", 4));  // no name
  EXPECT_EQ(head.substr(4, 4), std::string(4, '\0'));              // no time
  std::string command = "gzip -t <'" + store.path(record.blob.digest).string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_EQ(write_layer({tree.path(), {}}, store, options).blob, record.blob);
}

TEST(Layer, AnEmptyTreeIsAnEmptyTar) {
  TemporaryFolder tree;
  EXPECT_EQ(tar_of(tree.path()), std::string(1024, '\0'));
}

TEST(Layer, WhatTheSinkThrowsComesThrough) {
  TemporaryFolder tree;
  tree.write("file", noise(3u << 20));
  auto full = [](std::string_view) { throw Error(ExitCode::store, "the disk is full"); };
  EXPECT_THROW(write_tar({tree.path(), {}}, 0, full), Error);
}

TEST(DiffId, SeesThroughGzipAndPlainTar) {
  TemporaryFolder folder;
  folder.write("layer", "plain");
  EXPECT_EQ(diff_id_of(folder / "layer"), Digest::of("plain"));
  ASSERT_EQ(std::system(("gzip -kn " + (folder / "layer").string()).c_str()), 0);
  EXPECT_EQ(diff_id_of(folder / "layer.gz"), Digest::of("plain"));
  EXPECT_THROW(diff_id_of(folder / "nothing"), Error);
}

}  // namespace
}  // namespace kiln
