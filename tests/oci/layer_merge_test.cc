// The OCI layer rules (image-spec layer.md), as umoci unpacks them: umoci's own tables of whiteouts and
// opaque folders, and what lies between layers: links, replaced types, skipped contents.
#include "factory/oci/layer_merge.h"

#include <gtest/gtest.h>

#include "support/merged.h"

namespace kiln {
namespace {

using testing::merge;
using testing::merge_short;
using testing::short_tar;
using testing::TestLayers;
using Files = std::map<std::string, std::string>;
using Layers = std::vector<std::vector<std::string>>;

struct Case {
  const char* name;
  Layers layers;
  Files expected;
};

class MergeTable : public ::testing::TestWithParam<Case> {};

TEST_P(MergeTable, Merges) { EXPECT_EQ(merge_short(GetParam().layers).files, GetParam().expected); }

const Layers kBase = {{"d dir", "f dir/a=1", "d dir/sub", "f dir/sub/b=2", "f file=3", "l link>dir"}};

Layers upon(std::vector<std::string> upper) {
  Layers layers = kBase;
  layers.push_back(std::move(upper));
  return layers;
}

INSTANTIATE_TEST_SUITE_P(
    Whiteouts, MergeTable,
    ::testing::Values(
        Case{"file",
             upon({"w file"}),
             {{"dir", "d"}, {"dir/a", "f 1"}, {"dir/sub", "d"}, {"dir/sub/b", "f 2"}, {"link", "l dir"}}},
        Case{"folder", upon({"w dir"}), {{"file", "f 3"}, {"link", "l dir"}}},
        Case{"link_itself",
             upon({"w link"}),
             {{"dir", "d"}, {"dir/a", "f 1"}, {"dir/sub", "d"}, {"dir/sub/b", "f 2"}, {"file", "f 3"}}},
        Case{"nested",
             upon({"w dir/sub/b"}),
             {{"dir", "d"}, {"dir/a", "f 1"}, {"dir/sub", "d"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"nothing_there",
             upon({"w gone"}),
             {{"dir", "d"},
              {"dir/a", "f 1"},
              {"dir/sub", "d"},
              {"dir/sub/b", "f 2"},
              {"file", "f 3"},
              {"link", "l dir"}}},
        Case{"nothing_there_nested",
             upon({"w gone/x"}),
             {{"dir", "d"},
              {"dir/a", "f 1"},
              {"dir/sub", "d"},
              {"dir/sub/b", "f 2"},
              {"file", "f 3"},
              {"link", "l dir"}}},
        Case{"through_a_link",
             upon({"w link/a"}),
             {{"dir", "d"}, {"dir/sub", "d"}, {"dir/sub/b", "f 2"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"own_file_before",
             upon({"f file=new", "w file"}),
             {{"dir", "d"},
              {"dir/a", "f 1"},
              {"dir/sub", "d"},
              {"dir/sub/b", "f 2"},
              {"file", "f new"},
              {"link", "l dir"}}},
        Case{"own_file_after",
             upon({"w file", "f file=new"}),
             {{"dir", "d"},
              {"dir/a", "f 1"},
              {"dir/sub", "d"},
              {"dir/sub/b", "f 2"},
              {"file", "f new"},
              {"link", "l dir"}}},
        Case{"folder_with_own_child",
             upon({"f dir/new=n", "w dir"}),
             {{"dir", "d"}, {"dir/new", "f n"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"folder_made_anew",
             upon({"w dir", "d dir", "f dir/new=n"}),
             {{"dir", "d"}, {"dir/new", "f n"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"three_layers", {{"f a=1"}, {"w a"}, {"f a=2"}}, {{"a", "f 2"}}},
        Case{"removed_again", {{"f a=1"}, {"f a=2"}, {"w a"}}, {}}),
    [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Opaque, MergeTable,
    ::testing::Values(
        Case{"folder", upon({"o dir"}), {{"dir", "d"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"nested",
             upon({"o dir/sub"}),
             {{"dir", "d"}, {"dir/a", "f 1"}, {"dir/sub", "d"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"own_files_stay",
             upon({"f dir/new=n", "o dir"}),
             {{"dir", "d"}, {"dir/new", "f n"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"own_files_after",
             upon({"o dir", "f dir/new=n"}),
             {{"dir", "d"}, {"dir/new", "f n"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"own_nested_file",
             upon({"f dir/sub/new=n", "o dir"}),
             {{"dir", "d"}, {"dir/sub", "d"}, {"dir/sub/new", "f n"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"replaced_file",
             upon({"f dir/a=new", "o dir"}),
             {{"dir", "d"}, {"dir/a", "f new"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"root", upon({"o ", "f only=1"}), {{"only", "f 1"}}},
        Case{"through_a_link", upon({"o link"}), {{"dir", "d"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"of_a_file",
             upon({"o file"}),
             {{"dir", "d"},
              {"dir/a", "f 1"},
              {"dir/sub", "d"},
              {"dir/sub/b", "f 2"},
              {"file", "f 3"},
              {"link", "l dir"}}},
        Case{"twice",
             upon({"o dir", "f dir/x=x", "o dir"}),
             {{"dir", "d"}, {"dir/x", "f x"}, {"file", "f 3"}, {"link", "l dir"}}},
        Case{"then_filled_again", {{"d a", "f a/x=1"}, {"o a"}, {"f a/y=2"}}, {{"a", "d"}, {"a/y", "f 2"}}}),
    [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Replaced, MergeTable,
    ::testing::Values(
        Case{"file_by_folder", {{"f a=1"}, {"d a", "f a/b=2"}}, {{"a", "d"}, {"a/b", "f 2"}}},
        Case{"folder_by_file", {{"d a", "f a/b=1"}, {"f a=2"}}, {{"a", "f 2"}}},
        Case{"folder_by_file_by_folder",
             {{"d a", "f a/x=1"}, {"f a=2"}, {"d a", "f a/y=3"}},
             {{"a", "d"}, {"a/y", "f 3"}}},
        Case{"link_by_folder",
             {{"d b", "l a>b"}, {"d a", "f a/x=1"}},
             {{"a", "d"}, {"a/x", "f 1"}, {"b", "d"}}},
        Case{"folder_by_link", {{"d b", "d a", "f a/x=1"}, {"l a>b"}}, {{"a", "l b"}, {"b", "d"}}},
        Case{"folders_merge",
             {{"d a", "f a/x=1"}, {"d a", "f a/y=2"}},
             {{"a", "d"}, {"a/x", "f 1"}, {"a/y", "f 2"}}},
        Case{"device_removes_file", {{"f a=1"}, {"c a"}}, {}},
        Case{"twice_in_one_layer", {{"f a=1", "f a=2"}}, {{"a", "f 2"}}},
        Case{"type_twice_in_one_layer",
             {{"d a", "f a/b=1", "f a=2", "d a", "f a/c=3"}},
             {{"a", "d"}, {"a/c", "f 3"}}},
        Case{"parents_left_out", {{"f a/b/c=1"}}, {{"a", "d"}, {"a/b", "d"}, {"a/b/c", "f 1"}}}),
    [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Links, MergeTable,
    ::testing::Values(
        Case{"through_relative", {{"d b", "l a>b"}, {"f a/x=1"}}, {{"a", "l b"}, {"b", "d"}, {"b/x", "f 1"}}},
        Case{"through_absolute",
             {{"d b", "l a>/b"}, {"f a/x=1"}},
             {{"a", "l /b"}, {"b", "d"}, {"b/x", "f 1"}}},
        Case{"up_and_out_stays_inside",
             {{"l a>../../../etc"}, {"f a/x=1"}},
             {{"a", "l ../../../etc"}, {"etc", "d"}, {"etc/x", "f 1"}}},
        Case{"dangling_makes_folders",
             {{"l a>/n/m"}, {"f a/x=1"}},
             {{"a", "l /n/m"}, {"n", "d"}, {"n/m", "d"}, {"n/m/x", "f 1"}}},
        Case{"dot_dot_in_a_dangling_one",
             {{"d d", "l a>gone/../d"}, {"f a/x=1"}},
             {{"a", "l gone/../d"}, {"d", "d"}, {"d/x", "f 1"}}},
        Case{"over_two_links",
             {{"d c", "l b>c", "l a>b"}, {"f a/x=1"}},
             {{"a", "l b"}, {"b", "l c"}, {"c", "d"}, {"c/x", "f 1"}}},
        Case{"link_replaced_above",
             {{"d b", "f b/x=1", "l a>b"}, {"f a/x=2"}, {"d a", "f a/x=3"}},
             {{"a", "d"}, {"a/x", "f 3"}, {"b", "d"}, {"b/x", "f 2"}}},
        Case{"hard_in_layer", {{"f a=1", "h b>a"}}, {{"a", "f 1 =a"}, {"b", "f 1 =a"}}},
        Case{"hard_to_lower_layer", {{"f a=1"}, {"h b>a"}}, {{"a", "f 1 =a"}, {"b", "f 1 =a"}}},
        Case{"hard_survives_whiteout", {{"f a=1"}, {"h b>a"}, {"w a"}}, {{"b", "f 1"}}},
        Case{"hard_survives_replacement", {{"f a=1", "h b>a"}, {"f a=2"}}, {{"a", "f 2"}, {"b", "f 1"}}},
        Case{"hard_to_a_symlink", {{"l a>x", "h b>a"}}, {{"a", "l x =a"}, {"b", "l x =a"}}},
        Case{"hard_through_a_link",
             {{"d d", "f d/a=1", "l s>d"}, {"h b>s/a"}},
             {{"b", "f 1 =b"}, {"d", "d"}, {"d/a", "f 1 =b"}, {"s", "l d"}}},
        Case{"hard_to_a_device",
             {{"c d/null", "h d/b>d/null", "h c>d/b", "f a=1"}},
             {{"a", "f 1"}, {"d", "d"}}},
        Case{"hard_to_a_device_below", {{"c null"}, {"f b=1"}, {"h b>null"}}, {}},
        Case{"hard_to_what_was_a_device", {{"c a"}, {"f a=1", "h b>a"}}, {{"a", "f 1 =a"}, {"b", "f 1 =a"}}},
        Case{"fifo", {{"p a"}}, {{"a", "p"}}}),
    [](const auto& one) { return std::string(one.param.name); });

// What an upper layer hides is not handed on, unless it shows through another name.
TEST(LayerMerge, SkipsHiddenContents) {
  testing::Merged merged = merge_short({{"f a=1", "f b=2"}, {"f a=3"}});
  EXPECT_EQ(merged.report.contents_skipped, 1u);
  EXPECT_EQ(merged.report.layers_read_again, 0u);
}

TEST(LayerMerge, ReadsALayerAgainWhenASkippedContentShows) {
  testing::Merged merged = merge_short({{"f a=1", "h b>a"}, {"w a"}});
  EXPECT_EQ(merged.files, (Files{{"b", "f 1"}}));
  EXPECT_EQ(merged.report.layers_read_again, 1u);
}

struct Refusal {
  const char* name;
  Layers layers;
  const char* message;
};

class MergeRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(MergeRefuses, WithEntryNumberAndName) {
  try {
    merge_short(GetParam().layers);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.message(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, MergeRefuses,
    ::testing::Values(
        Refusal{"hard_to_a_device_that_went",
                {{"c null"}, {"w null", "h b>null"}},
                "entry #2 'b': is a hard link to 'null', which is missing"},
        Refusal{"hard_to_a_device_of_a_folder_that_went",
                {{"c d/null"}, {"w d"}, {"h b>d/null"}},
                "entry #1 'b': is a hard link to 'd/null', which is missing"},

        Refusal{"hard_link_to_nothing",
                {{"f x=", "h b>a"}},
                "entry #2 'b': is a hard link to 'a', which is missing"},
        Refusal{"hard_link_to_itself", {{"h a>a"}}, "entry #1 'a': is a hard link to 'a', which is missing"},
        Refusal{"hard_link_to_later",
                {{"h b>a", "f a=1"}},
                "entry #1 'b': is a hard link to 'a', which is missing"},
        Refusal{"hard_link_to_folder", {{"d a", "h b>a"}}, "entry #2 'b': is a hard link to a folder"},
        Refusal{"hard_link_to_root", {{"h b>/"}}, "entry #1 'b': is a hard link to a folder"},
        Refusal{"hard_link_out", {{"h b>../../etc/passwd"}}, "entry #1 'b': has '..' in its path"},
        Refusal{
            "below_a_file", {{"f a=1", "f a/b=2"}}, "entry #2 'a/b': lies below 'a', which is not a folder"},
        Refusal{"below_a_lower_file",
                {{"f a=1"}, {"f a/b=2"}},
                "entry #1 'a/b': lies below 'a', which is not a folder"},
        Refusal{"link_loop",
                {{"l a>b", "l b>a", "f a/x=1"}},
                "entry #3 'a/x': leads through more than 255 symbolic links"},
        Refusal{"link_to_itself",
                {{"l a>a", "f a/x=1"}},
                "entry #2 'a/x': leads through more than 255 symbolic links"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(LayerMerge, KeepsOwnersModesTimesAndTheAllowedXattrs) {
  std::string bytes = testing::pax_header({{"SCHILY.xattr.user.a", "1"},
                                           {"SCHILY.xattr.security.capability", "cap"},
                                           {"SCHILY.xattr.security.selinux", "label"},
                                           {"SCHILY.xattr.trusted.overlay.opaque", "y"}}) +
                      testing::tar_entry({"a", '0', "1", "", 04755, 12, 34, 99}) + testing::tar_end();
  TestLayers layers({bytes});
  testing::MemorySink sink;
  LayerMerge merged(
      1, [&](std::size_t i) { return layers.open(i); }, sink);
  merged.run();
  const Inode& inode = merged.tree().inode(merged.tree().inode_at(*merged.tree().lookup("a")));
  EXPECT_EQ(inode.mode, 04755);
  EXPECT_EQ(inode.uid, 12u);
  EXPECT_EQ(inode.gid, 34u);
  EXPECT_EQ(inode.mtime, 99u);
  EXPECT_EQ(merged.xattr_sets().at(inode.xattrs), (Xattrs{{"security.capability", "cap"}, {"user.a", "1"}}));
  EXPECT_EQ(merged.report().xattrs_dropped, 2u);
}

TEST(LayerMerge, CountsEntriesOfAllLayers) {
  EntryLimits limits;
  limits.entries = 3;
  TestLayers fits({short_tar({"f a=", "f b="}), short_tar({"f c="})});
  EXPECT_EQ(merge(fits, limits).report.entries, 3u);
  TestLayers over({short_tar({"f a=", "f b="}), short_tar({"f c=", "f d="})});
  EXPECT_THROW(merge(over, limits), Error);
}

// Quadratic work would take minutes here.
TEST(LayerMerge, RemovesAndSweepsInLittleTime) {
  std::vector<std::string> entries;
  for (int i = 0; i < 3000; ++i) entries.push_back("f d/" + std::to_string(i) + "=");
  for (int i = 0; i < 3000; ++i) {
    entries.push_back("o d");
    entries.push_back("w d");
  }
  EXPECT_EQ(merge_short({entries}).files.size(), 3001u);
  std::vector<std::string> flips(1, "d a");
  for (int i = 0; i < 3000; ++i) flips.push_back("f a/" + std::to_string(i) + "=");
  for (int i = 0; i < 3000; ++i) {
    flips.push_back("f a=");
    flips.push_back("d a");
  }
  EXPECT_EQ(merge_short({flips}).files, (Files{{"a", "d"}}));
}

}  // namespace
}  // namespace kiln
