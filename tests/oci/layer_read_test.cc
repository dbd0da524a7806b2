// Every rule on tar entries, on archives made by hand.
#include "factory/oci/layer_read.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/merged.h"

namespace kiln {
namespace {

using testing::pax_header;
using testing::tar;
using testing::tar_end;
using testing::tar_entry;
using testing::tar_header;
using testing::TarEntry;
using testing::TestLayers;

std::vector<LayerEntry> read_all(const std::string& bytes, const LayerLimits& layer_limits = {}) {
  TestLayers layers({bytes});
  auto stream = layers.open(0, layer_limits);
  LayerReader reader(*stream, {}, layer_limits);
  std::vector<LayerEntry> entries;
  LayerEntry entry;
  while (reader.next(entry)) {
    if (entry.kind == EntryKind::file) reader.read_content([](std::string_view) {});
    entries.push_back(entry);
  }
  return entries;
}

std::string refusal(const std::string& bytes, const LayerLimits& limits = {}) {
  try {
    read_all(bytes, limits);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.message();
  }
  return "accepted";
}

TEST(EntryPath, IsMadePlain) {
  EntryLimits limits;
  EXPECT_EQ(entry_path("a/b", limits), "a/b");
  EXPECT_EQ(entry_path("./a//b/", limits), "a/b");
  EXPECT_EQ(entry_path("/etc/passwd", limits), "etc/passwd");
  EXPECT_EQ(entry_path("././.", limits), "");
  EXPECT_EQ(entry_path("...", limits), "...");
}

TEST(EntryPath, RefusesWhatLeavesTheRoot) {
  EntryLimits limits;
  for (const char* path : {"..", "../a", "a/../../b", "a/..", "/../a", "a/./.."})
    EXPECT_THROW(entry_path(path, limits), Error) << path;
  EXPECT_THROW(entry_path(std::string(256, 'x'), limits), Error);
  EXPECT_NO_THROW(entry_path(std::string(255, 'x'), limits));
  std::string longest;
  while (longest.size() < 4095) longest += "x/";
  EXPECT_NO_THROW(entry_path(longest, limits));
  EXPECT_THROW(entry_path(longest + "yy", limits), Error);
}

struct Refused {
  const char* name;
  std::string bytes;
  const char* message;
};

class ReaderRefuses : public ::testing::TestWithParam<Refused> {};
TEST_P(ReaderRefuses, NamesTheEntry) { EXPECT_EQ(refusal(GetParam().bytes), GetParam().message); }

std::string second(const TarEntry& entry) { return tar({{"ok"}, entry}); }
std::string with_pax(const std::vector<std::pair<std::string, std::string>>& records, const TarEntry& entry) {
  return pax_header(records) + tar_entry(entry) + tar_end();
}
std::string many_xattrs() {
  std::vector<std::pair<std::string, std::string>> records;
  for (int i = 0; i < 129; ++i) records.emplace_back("SCHILY.xattr.user.n" + std::to_string(i), "v");
  return with_pax(records, {"a"});
}

// GNU's header for a long name ('L') or link ('K').
std::string gnu_long(char type, const std::string& text) {
  return tar_header({"././@LongLink", type}, text.size()) + testing::padded(text);
}
std::string zeros() { return std::string(512, '\0'); }
std::string nul_inside(const std::string& key) {
  return pax_header({{key, std::string("a\0b", 3)}}) + tar_entry({"x", '2', "", "y"}) + tar_end();
}

INSTANTIATE_TEST_SUITE_P(
    Entries, ReaderRefuses,
    ::testing::Values(
        Refused{"dot_dot", second({"../a"}), "entry #2 '../a': has '..' in its path"},
        Refused{"root_is_a_file", second({"./", '2', "", "x"}),
                "entry #2 './': names the root, which is a folder"},
        Refused{"bare_whiteout", second({"a/.wh."}), "entry #2 'a/.wh.': is a whiteout without a name"},
        Refused{"dot_whiteout", second({".wh.."}), "entry #2 '.wh..': is a whiteout without a name"},
        Refused{"dot_dot_whiteout", second({".wh..."}), "entry #2 '.wh...': is a whiteout without a name"},
        Refused{"below_a_whiteout", second({".wh.a/b"}), "entry #2 '.wh.a/b': lies below a whiteout"},
        Refused{"control_characters", second({"a\033[2J/.."}),
                "entry #2 'a\\x1b[2J/..': has '..' in its path"},
        Refused{"user_id", with_pax({{"uid", "4294967295"}}, {"a"}),
                "entry #1 'a': has the user id 4294967295, outside 0 … 2147483647"},
        Refused{"group_id", with_pax({{"gid", "2147483648"}}, {"a"}),
                "entry #1 'a': has the group id 2147483648, outside 0 … 2147483647"},
        Refused{"empty_symlink", second({"a", '2', "", ""}),
                "entry #2 'a': is a symbolic link without a target"},
        Refused{"many_xattrs", many_xattrs(), "entry #1 'a': has more than 128 extended attributes"},
        Refused{"large_xattr", with_pax({{"SCHILY.xattr.user.a", std::string(65537, 'x')}}, {"a"}),
                "entry #1 'a': has an extended attribute of 65537 bytes, the limit is 65536"},
        // Links have no content, whatever their size is: what stands there is the next header.
        Refused{"hard_link_with_content",
                pax_header({{"path", "b"}, {"size", "5"}}) + tar_header({"b", '1', "", "ok"}, 5) +
                    testing::padded("12345") + tar_end(),
                "entry #2 '': has a damaged header: its checksum is wrong"},
        // Programs end at the first block of zeros, at two, or never.
        Refused{"single_zero_block", tar_entry({"a"}) + zeros() + tar_entry({"b"}) + tar_end(),
                "entry #2 '': follows a single block of zeros, where some programs end and others go on"},
        Refused{"nul_in_a_path", nul_inside("path"), "entry #1 '': has a PAX path with a NUL inside"},
        Refused{"nul_in_a_link", nul_inside("linkpath"), "entry #1 '': has a PAX linkpath with a NUL inside"},
        Refused{"nul_in_a_key", nul_inside(std::string("comm\0ent", 8)),
                "entry #1 '': has a PAX key with a NUL inside"},
        Refused{
            "global_path", tar_header({"g", 'g'}, 16) + testing::padded("16 path=a/b/c/d\n") + tar_end(),
            "entry #1 '': follows a global PAX header with 'path', which programs read in different ways"},
        Refused{
            "global_whiteout", tar_header({"a/.wh.b", 'g'}, 0) + tar_entry({"a"}) + tar_end(),
            "entry #1 '': follows a global PAX header that is named like a whiteout, which programs read in "
            "different ways"},
        Refused{"unknown_type", second({"a", 'Z'}), "entry #2 'a': has the unknown type 'Z'"},
        Refused{"contiguous_file", second({"a", '7'}), "entry #2 'a': has the unknown type '7'"},
        Refused{"pax_of_two_mebibytes",
                tar_header({"x", 'x'}, 2u << 20) + std::string(2u << 20, '\0') + tar_entry({"a"}) + tar_end(),
                "entry #1 '': has a header of 2097152 bytes before it, the limit is 1048576"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(LayerReader, ALongNameCountsOverThePathOfPax) {
  const std::string pax = pax_header({{"path", "of-pax"}, {"linkpath", "link-of-pax"}});
  const std::string gnu = gnu_long('L', std::string("of-gnu\0rest", 11)) + gnu_long('K', "link-of-gnu");
  const std::string entry = tar_entry({"x", '2', "", "y"}) + tar_end();
  for (const std::string& bytes : {pax + gnu + entry, gnu + pax + entry}) {
    EXPECT_EQ(read_all(bytes).at(0).path, "of-gnu");
    EXPECT_EQ(read_all(bytes).at(0).target, "link-of-gnu");
  }
}

TEST(LayerReader, OfTwoHeadersOfAKindTheLastCounts) {
  const std::string twice = pax_header({{"path", "one"}, {"mtime", "5"}}) + pax_header({{"path", "two"}});
  const LayerEntry entry = read_all(twice + tar_entry({"x"}) + tar_end()).at(0);
  EXPECT_EQ(entry.path, "two");
  EXPECT_EQ(entry.mtime, 1000);
  EXPECT_EQ(read_all(gnu_long('L', "one") + gnu_long('L', "two") + tar_entry({"x"}) + tar_end()).at(0).path,
            "two");
}

// What `git archive` writes, and engines pass over.
TEST(LayerReader, AGlobalHeaderThatSaysNothingIsPassedOver) {
  const std::string comment = testing::pax_record("comment", std::string(40, 'c'));
  const std::string global =
      tar_header({"pax_global_header", 'g'}, comment.size()) + testing::padded(comment);
  EXPECT_EQ(read_all(global + tar_entry({"a"}) + tar_end()).at(0).path, "a");
}

// By POSIX a name that ends with "/" is a file all the same; before POSIX there were no other folders.
TEST(LayerReader, ASlashMakesAFolderOfOldEntriesOnly) {
  EXPECT_EQ(read_all(tar({{"a/", '0'}})).at(0).kind, EntryKind::file);
  EXPECT_EQ(read_all(tar({{"a/", '\0'}})).at(0).kind, EntryKind::folder);
  EXPECT_EQ(read_all(tar({{"a", '\0'}})).at(0).kind, EntryKind::file);
}

TEST(LayerReader, EndsAtTwoBlocksOfZerosOrAtTheEnd) {
  const std::string one = tar_entry({"a"});
  for (const std::string& end :
       {std::string(), zeros(), zeros() + zeros(), zeros() + zeros() + tar_entry({"b"})})
    EXPECT_EQ(read_all(one + end).size(), 1u);
}

TEST(LayerReader, ReadsKindsAndWhiteouts) {
  auto entries = read_all(testing::short_tar(
      {"d a", "f a/f=xyz", "l a/l>t/../u", "h a/h>./a/f", "p a/p", "c a/c", "w a/gone", "o a", "o "}));
  ASSERT_EQ(entries.size(), 9u);
  std::vector<EntryKind> kinds;
  for (const LayerEntry& entry : entries) kinds.push_back(entry.kind);
  EXPECT_EQ(kinds, (std::vector{EntryKind::folder, EntryKind::file, EntryKind::symlink, EntryKind::hard_link,
                                EntryKind::fifo, EntryKind::device, EntryKind::whiteout, EntryKind::opaque,
                                EntryKind::opaque}));
  EXPECT_EQ(entries[1].size, 3u);
  EXPECT_EQ(entries[2].target, "t/../u");
  EXPECT_EQ(entries[3].target, "a/f");
  EXPECT_EQ(entries[6].path, "a/gone");
  EXPECT_EQ(entries[7].path, "a");
  EXPECT_EQ(entries[8].path, "");
  EXPECT_EQ(entries[8].number, 9u);
}

TEST(LayerReader, ReadsLongAndForeignNamesWhateverTheLocaleIs) {
  std::string deep = std::string(90, 'p') + "/" + std::string(200, 'q');
  EXPECT_EQ(read_all(tar({{deep}})).front().path, deep);
  EXPECT_EQ(read_all(with_pax({{"path", "gr\u00fc\u00df/\u4f60"}}, {"x"})).front().path,
            "gr\u00fc\u00df/\u4f60");
  EXPECT_EQ(read_all(tar({{"latin\xfc"}})).front().path, "latin\xfc");
}

// An old GNU sparse file: 1 MiB apparent, 512 bytes of data at its end.
std::string sparse_tar(std::uint64_t apparent, std::uint64_t offset) {
  TarEntry entry{"s", 'S', std::string(512, 'd')};
  std::string header = tar_header(entry, 512);
  header.replace(257, 8, std::string("ustar  \0", 8));
  header.replace(386, 12, testing::octal(offset, 12));
  header.replace(398, 12, testing::octal(512, 12));
  header.replace(483, 12, testing::octal(apparent, 12));
  testing::fix_checksum(header);
  return header + entry.content + tar_end();
}

TEST(LayerReader, FillsHolesWithZeros) {
  TestLayers layers({sparse_tar(1u << 20, (1u << 20) - 512)});
  auto stream = layers.open(0);
  LayerReader reader(*stream, {}, {});
  LayerEntry entry;
  ASSERT_TRUE(reader.next(entry));
  EXPECT_EQ(entry.size, 1u << 20);
  std::string content;
  reader.read_content([&](std::string_view bytes) { content += bytes; });
  EXPECT_EQ(content, std::string((1u << 20) - 512, '\0') + std::string(512, 'd'));
}

TEST(LayerReader, RefusesSparseBombs) {
  std::string message = refusal(sparse_tar(17ull << 30, 0));
  EXPECT_NE(message.find("a decompression bomb"), std::string::npos) << message;
}

TEST(LayerReader, RefusesDamageAndTruncation) {
  std::string bytes = testing::short_tar({"f a=" + std::string(700, 'x'), "f b=2"});
  std::string flipped = bytes;
  flipped[512 + 1024 + 20] ^= 1;  // inside the second header
  EXPECT_NE(refusal(flipped).find("entry #2"), std::string::npos) << refusal(flipped);
  for (std::size_t cut : {600, 1024, 1100, 1300, 1536 + 100, 2048 + 1}) {
    EXPECT_NE(refusal(bytes.substr(0, cut)), "accepted") << cut;
  }
  EXPECT_NE(refusal("this is no tar archive at all" + std::string(1000, 'x')), "accepted");
}

TEST(LayerReader, AcceptsEmptyLayers) {
  EXPECT_TRUE(read_all(tar_end()).empty());
  EXPECT_TRUE(read_all("").empty());
}

}  // namespace
}  // namespace kiln
