// Whole conversions, read back by libsquashfs.
#include "factory/sif/sif_build.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>

#include "factory/sif/oci_runtime.h"
#include "factory/sif/sif_reader.h"
#include "squashfs_contents.h"
#include "support/compressed.h"
#include "support/layout.h"

// libsquashfs does not free the blocks in flight of a writer that is given up.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libsquashfs.so"; }

namespace kiln::sif {
namespace {

using testing::short_tar;
using testing::SquashfsContents;
using testing::TestLayout;

std::string pseudo_random(std::size_t size, std::uint32_t seed) {
  std::string bytes(size, '\0');
  for (char& c : bytes) {
    seed = seed * 1664525 + 1013904223;
    c = static_cast<char>((seed >> 24) & 0x3f);
  }
  return bytes;
}

SifOptions options(unsigned jobs = 1) {
  SifOptions result;
  result.squashfs.jobs = jobs;
  result.now = 1'000'000'000;
  result.reproducible = true;
  return result;
}

SourceImage open(const TestLayout& layout) {
  return SourceImage::open(parse_image_name("oci:" + layout.path()), "amd64");
}

// Converts, checks the SIF strictly and gives the files of its partition.
SquashfsContents convert(const TestLayout& layout, const SifOptions& settings) {
  SourceImage image = open(layout);
  fs::path output = layout.folder().path() / "out.sif";
  build_sif(image, output, settings);
  ReadOnlyFile file(output);
  SifFile sif = read_sif(file);
  check_primary_partition(file, sif);
  const SifObject& primary = sif.primary();
  return testing::read_squashfs(
      layout.folder().write("out.sqfs", file.section(primary.offset, primary.size, 1u << 30)).string());
}

std::vector<std::string> sample_layers() {
  std::string big = pseudo_random(1'500'000, 7);
  std::vector<testing::TarEntry> lower = {{"d", '5', "", "", 0711, 3, 4, 77},
                                          {"d/big", '0', big, "", 04755, 1000, 1001, 78},
                                          {"d/twin", '0', big},
                                          {"zeros", '0', std::string(700'000, '\0')}};
  for (int i = 0; i < 200; ++i)
    lower.push_back({"small/" + std::to_string(i), '0', pseudo_random(37 * i, i)});
  return {testing::tar(lower), short_tar({"f a=1", "h b>a", "l s>a", "p fifo", "w zeros"})};
}

TEST(SifBuild, HoldsTheMergedFiles) {
  TestLayout layout;
  layout.one_image(sample_layers());
  SifOptions settings = options();
  settings.reproducible = false;
  SquashfsContents files = convert(layout, settings);
  EXPECT_EQ(files.at("d").mode, 040711u);
  EXPECT_EQ(files.at("d").uid, 3u);
  EXPECT_EQ(files.at("d").gid, 4u);
  EXPECT_EQ(files.at("d").mtime, 77u);
  EXPECT_EQ(files.at("d/big").mode, 0104755u);
  EXPECT_EQ(files.at("d/big").uid, 1000u);
  EXPECT_TRUE(files.at("d/big").content == pseudo_random(1'500'000, 7));
  EXPECT_TRUE(files.at("d/twin").content == pseudo_random(1'500'000, 7));
  EXPECT_EQ(files.at("a").inode, files.at("b").inode);
  EXPECT_EQ(files.at("b").content, "1");
  EXPECT_EQ(files.at("s").content, "a");
  EXPECT_EQ(files.at("fifo").mode & S_IFMT, static_cast<unsigned>(S_IFIFO));
  EXPECT_FALSE(files.contains("zeros"));
  for (int i = 0; i < 200; ++i)
    EXPECT_TRUE(files.at("small/" + std::to_string(i)).content == pseudo_random(37 * i, i)) << i;
}

// Their inodes lie far apart, so each few of them take an entry in the root's index: 6000 here.
TEST(SifBuild, HoldsAFolderOfManyFarApart) {
  std::string layer;
  for (int i = 0; i < 12000; ++i) {
    std::string folder = fmt::format("folder{:05}", i);
    layer += testing::tar_entry({folder, '5'});
    layer += testing::pax_header({{"linkpath", std::string(3900, 'x') + folder}});
    layer += testing::tar_entry({folder + "/link", '2', "", "x"});
  }
  TestLayout layout;
  layout.one_image({layer + testing::tar_end()});
  SquashfsContents files = convert(layout, options());
  EXPECT_EQ(files.at("folder11999/link").content, std::string(3900, 'x') + "folder11999");
  EXPECT_EQ(std::count_if(files.begin(), files.end(),
                          [](const auto& file) { return file.first.ends_with("/link"); }),
            12000);
}

TEST(SifBuild, StoresEqualContentsOnce) {
  TestLayout layout;
  layout.one_image(sample_layers());
  SourceImage image = open(layout);
  SifResult result = build_sif(image, layout.folder().path() / "out.sif", options());
  EXPECT_LT(result.size, 2'000'000u);  // twice 1.1 MB would be more
  EXPECT_EQ(result.merge.contents_skipped, 1u);
}

// An image of one layer, compressed.
void gzip_image(const TestLayout& layout, const std::string& tar) {
  ImageConfig config;
  config.diff_ids = {Digest::of(tar)};
  Manifest manifest;
  manifest.config = layout.blob(to_json(config).dump(), media_type::kConfig);
  manifest.layers = {layout.blob(testing::compress(tar, "gzip"), media_type::kLayerGzip)};
  layout.index(Json::array({to_json(layout.blob(to_json(manifest).dump(), media_type::kManifest))}));
}

// As useradd leaves a lastlog with a large uid.
TEST(SifBuild, ZerosTakeNoRoom) {
  TestLayout layout;
  const std::string zeros(96u << 20, '\0');
  gzip_image(layout, testing::tar({{"var/log/lastlog", '0', zeros}, {"a", '0', "1"}}));
  const SquashfsContents files = convert(layout, options());
  EXPECT_TRUE(files.at("var/log/lastlog").content == zeros);
  EXPECT_EQ(files.at("a").content, "1");
  EXPECT_LT(fs::file_size(layout.folder().path() / "out.sif"), 200'000u);
}

TEST(SifBuild, RefusesASifThatItsLayersAreNotGoodFor) {
  TestLayout layout;
  gzip_image(layout, testing::tar(
                         {{"a", '0', pseudo_random(2'000'000, 3)}, {"b", '0', pseudo_random(2'000'000, 4)}}));
  SifOptions settings = options();
  settings.written_from = 1000;
  settings.written_ratio = 1;
  const SourceImage image = open(layout);
  const fs::path output = layout.folder().path() / "out.sif";
  try {
    build_sif(image, output, settings);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_NE(error.message().find("a decompression bomb"), std::string::npos) << error.message();
  }
  EXPECT_FALSE(fs::exists(output));
  settings.written_ratio = 2;
  EXPECT_GT(build_sif(image, output, settings).size, 3'000'000u) << "letters, compressed";
}

TEST(SifBuild, DoesNotDependOnThreadsTimeOrPlace) {
  TestLayout one, two;
  one.one_image(sample_layers());
  two.one_image(sample_layers());
  convert(one, options(1));
  std::string first = testing::read_file(one.folder().path() / "out.sif");
  for (unsigned jobs : {2u, 3u, 8u}) {
    convert(two, options(jobs));
    EXPECT_TRUE(testing::read_file(two.folder().path() / "out.sif") == first) << jobs;
  }
}

TEST(SifBuild, ClampsTimes) {
  TestLayout layout;
  layout.one_image(
      {testing::tar({{"old", '0', "", "", 0644, 0, 0, 5}, {"new", '0', "", "", 0644, 0, 0, 2'000'000'000}})});
  SquashfsContents files = convert(layout, options());
  EXPECT_EQ(files.at("old").mtime, 5u);
  EXPECT_EQ(files.at("new").mtime, 1'000'000'000u);
  EXPECT_EQ(files.at(".singularity.d/runscript").mtime, 1'000'000'000u);
}

TEST(SifBuild, AddsWhatApptainerExpects) {
  TestLayout layout;
  ImageConfig config;
  config.env = {"A=b"};
  config.labels = {{"k", "v"}};
  layout.one_image({short_tar({"d etc", "f etc/hosts=127.0.0.1", "l etc/resolv.conf>/run/x", "l var>data",
                               "d data", "f environment=mine"})},
                   config);
  SquashfsContents files = convert(layout, options());
  EXPECT_EQ(files.at("etc/hosts").content, "");
  EXPECT_EQ(files.at("etc/resolv.conf").mode, 0100644u);
  EXPECT_EQ(files.at("environment").content, "mine");
  EXPECT_EQ(files.at("singularity").content, ".singularity.d/runscript");
  EXPECT_EQ(files.at(".shell").content, ".singularity.d/actions/shell");
  EXPECT_TRUE(files.contains("data/tmp"));  // /var is a link
  for (const char* folder : {"dev", "proc", "sys", "tmp", "home", "root"})
    EXPECT_EQ(files.at(folder).mode, 040755u) << folder;
  EXPECT_EQ(files.at(".singularity.d/env/10-docker2singularity.sh").content, environment_script(config));
  EXPECT_EQ(Json::parse(files.at(".singularity.d/labels.json").content)["k"], "v");
  EXPECT_EQ(files.at(".singularity.d/Singularity").content, "bootstrap: oci\nfrom: image\n\n");
}

TEST(SifBuild, HasApptainersObjects) {
  TestLayout layout;
  ImageConfig config;
  config.cmd = {"x"};
  layout.one_image({short_tar({"f a=1"})}, config);
  convert(layout, options());
  ReadOnlyFile file(layout.folder().path() / "out.sif");
  SifFile sif = read_sif(file);
  ASSERT_EQ(sif.objects.size(), 4u);
  auto text = [&](const SifObject& object) { return file.section(object.offset, object.size, 1u << 20); };
  EXPECT_EQ(text(sif.objects[0]), "bootstrap: oci\nfrom: image\n\n");
  EXPECT_EQ(sif.objects[1].name, "inspect-metadata.json");
  EXPECT_EQ(Json::parse(text(sif.objects[1]))["type"], "container");
  EXPECT_EQ(sif.objects[2].name, "oci-config.json");
  EXPECT_EQ(Json::parse(text(sif.objects[2])), (Json{{"Cmd", {"x"}}}));
  EXPECT_EQ(sif.objects[3].offset % 4096, 0u);
  EXPECT_EQ(sif.objects[3].size % 4096, 0u);
  EXPECT_EQ(sif.header.data_offset + sif.header.data_length, file.size());
}

TEST(SifBuild, WritesEveryCompression) {
  TestLayout layout;
  layout.one_image(sample_layers());
  for (const char* compression : {"zstd", "gzip", "lz4", "xz"}) {
    SifOptions settings = options(2);
    settings.squashfs.compression = compression;
    EXPECT_TRUE(convert(layout, settings).at("d/big").content == pseudo_random(1'500'000, 7)) << compression;
  }
}

TEST(SifBuild, RefusesOptionsOutOfRange) {
  TestLayout layout;
  layout.one_image({short_tar({"f a=1"})});
  SifOptions level = options();
  level.squashfs.level = 23;
  EXPECT_THROW(convert(layout, level), Error);
  SifOptions block = options();
  block.squashfs.block_size = 3000;
  EXPECT_THROW(convert(layout, block), Error);
  SifOptions name = options();
  name.squashfs.compression = "brotli";
  EXPECT_THROW(convert(layout, name), Error);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  return names;
}

TEST(SifBuild, LeavesTheOldFileWhenTheImageIsBad) {
  TestLayout layout;
  layout.one_image({short_tar({"f a=1", "h b>gone"})});
  fs::path folder = layout.folder().write("out/x.sif", "old").parent_path();
  SourceImage image = open(layout);
  EXPECT_THROW(build_sif(image, folder / "x.sif", options()), Error);
  EXPECT_EQ(testing::read_file(folder / "x.sif"), "old");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"x.sif"});
}

// No space, as far as a test without a file system of its own can have it: a limit on the size of files.
TEST(SifBuild, EndsCleanlyWhenTheFileCannotGrow) {
  TestLayout layout;
  layout.one_image(sample_layers());
  fs::path folder = layout.folder().write("out/x.sif", "old").parent_path();
  SourceImage image = open(layout);
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  for (rlim_t limit : {10'000u, 40'000u, 300'000u}) {
    small.rlim_cur = limit;
    ::setrlimit(RLIMIT_FSIZE, &small);
    try {
      build_sif(image, folder / "x.sif", options(2));
      ADD_FAILURE() << "written in spite of the limit " << limit;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store);
      EXPECT_NE(error.message().find("File too large"), std::string::npos) << error.message();
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
  }
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(testing::read_file(folder / "x.sif"), "old");
  EXPECT_EQ(names_in(folder), std::vector<std::string>{"x.sif"});
}

}  // namespace
}  // namespace kiln::sif
