#include "factory/oci/image_diff.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/layout.h"

namespace kiln {
namespace {

using testing::short_tar;
using testing::tar;
using testing::TarEntry;
using testing::TestLayout;
using Strings = std::vector<std::string>;

ImageDifference compare(const std::vector<std::string>& before, const std::vector<std::string>& now,
                        const ImageConfig& first = {}, const ImageConfig& second = {}) {
  TestLayout one, two;
  one.one_image(before, first);
  two.one_image(now, second);
  auto open = [](const TestLayout& layout) {
    return SourceImage::open(parse_image_name("oci:" + layout.path()), "amd64");
  };
  return compare_images(open(one), open(two));
}

// "/path: change what, what"
Strings lines(const ImageDifference& difference) {
  Strings result;
  for (const FileDifference& file : difference.files)
    result.push_back(fmt::format("{}: {} {}", file.path, name_of(file.change), fmt::join(file.what, ", ")));
  return result;
}

TEST(ImageDiff, EqualImagesHaveNone) {
  std::vector<std::string> layers = {short_tar({"d d", "f d/a=1", "l s>d/a", "h b>d/a", "p p"})};
  ImageDifference same = compare(layers, layers);
  EXPECT_TRUE(same.empty());
  EXPECT_EQ(same.compared, 5u);
  // Other layers, the same files.
  EXPECT_TRUE(compare({short_tar({"f a=1", "f b=2"})},
                      {short_tar({"f a=0", "f c=3"}), short_tar({"f a=1", "w c", "f b=2"})})
                  .empty());
}

TEST(ImageDiff, NamesEachKindOfChange) {
  EXPECT_EQ(lines(compare({tar({{"a", '0', "1"},
                                {"b", '0', "1"},
                                {"c", '0', "1"},
                                {"d", '0', "1"},
                                {"e", '0', "1"},
                                {"f", '2', "", "x"},
                                {"g", '0', "1"},
                                {"h", '0', "1"},
                                {"same", '0', "1"}})},
                          {tar({{"a", '0', "2"},
                                {"b", '0', "longer"},
                                {"c", '0', "1", "", 0755},
                                {"d", '0', "1", "", 0644, 5, 6},
                                {"e", '0', "1", "", 0644, 0, 0, 77},
                                {"f", '2', "", "y"},
                                {"g", '5', "", "", 0755},
                                {"i", '0', "1"},
                                {"same", '0', "1"}})})),
            (Strings{"/a: changed content", "/b: changed content (1 → 6 bytes)", "/c: changed mode 644 → 755",
                     "/d: changed owner 0:0 → 5:6", "/e: changed time 1000 → 77", "/f: changed target x → y",
                     "/g: changed file → folder", "/h: removed ", "/i: added "}));
}

TEST(ImageDiff, NamesAttributesAndHardLinks) {
  auto with = [](const std::string& value) {
    return testing::pax_header({{"SCHILY.xattr.user.note", value}}) + testing::tar_entry({"a", '0', "1"}) +
           testing::tar_end();
  };
  EXPECT_EQ(lines(compare({with("x")}, {with("y")})), (Strings{"/a: changed xattr user.note"}));
  EXPECT_EQ(lines(compare({with("x")}, {short_tar({"f a=1"})})), (Strings{"/a: changed xattr user.note"}));
  EXPECT_EQ(lines(compare({short_tar({"f a=1", "h b>a"})}, {short_tar({"f a=1", "f b=1"})})),
            (Strings{"/b: changed hard link"}));
}

TEST(ImageDiff, NamesTheStepThatMadeTheFile) {
  ImageConfig config;
  config.history = {{"", "base", false}, {"", "ENV", true}, {"", "make install", false}};
  ImageDifference found = compare({short_tar({"f a=1"}), short_tar({"f b=1", "f c=1"})},
                                  {short_tar({"f a=2"}), short_tar({"f b=2"})}, config, config);
  ASSERT_EQ(found.files.size(), 3u);
  EXPECT_EQ(found.files[0].made_by, "base");
  EXPECT_EQ(found.files[1].made_by, "make install");
  EXPECT_EQ(found.files[2].made_by, "make install") << "of the one that has it";
}

TEST(ImageDiff, ComparesTheConfigurationToo) {
  ImageConfig before, now;
  before.env = {"PATH=/bin", "A=1"};
  now.env = {"A=2", "PATH=/bin", "B="};
  before.labels = {{"x", "1"}};
  now.cmd = {"sh"};
  std::vector<std::string> layers = {short_tar({"f a=1"})};
  ImageDifference found = compare(layers, layers, before, now);
  EXPECT_TRUE(found.files.empty());
  EXPECT_EQ(found.configuration, (Strings{"command", "env A", "env B", "label x"}));
  Json json = to_json(found);
  EXPECT_EQ(json["configuration"].size(), 4u);
  EXPECT_EQ(json["compared"], 1);
}

}  // namespace
}  // namespace kiln
