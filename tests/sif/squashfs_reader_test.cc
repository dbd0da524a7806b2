// The totals that a writer tells must be found again by the reader, and nothing else must pass.
#include "factory/sif/squashfs_reader.h"

#include <gtest/gtest.h>

#include "factory/sif/sif_build.h"
#include "factory/sif/sif_reader.h"
#include "support/layout.h"

namespace kiln::sif {
namespace {

using testing::short_tar;
using testing::tar;
using testing::TestLayout;

std::string noise(std::size_t size, std::uint32_t seed) {
  std::string bytes(size, '\0');
  for (char& c : bytes) {
    seed = seed * 1664525 + 1013904223;
    c = static_cast<char>(seed >> 24);
  }
  return bytes;
}

struct Made {
  SifResult result;
  fs::path file;
  SquashfsTotals totals(unsigned jobs = 1) const { return check_sif(ReadOnlyFile(file), jobs); }
};

Made make(const TestLayout& layout, const std::vector<std::string>& tars,
          const std::string& compression = "zstd") {
  layout.one_image(tars);
  SourceImage image = SourceImage::open(parse_image_name("oci:" + layout.path()), "amd64");
  SifOptions options;
  options.reproducible = true;
  options.check = true;
  options.squashfs.compression = compression;
  options.squashfs.block_size = 16 << 10;
  Made made{{}, layout.folder().path() / "out.sif"};
  made.result = build_sif(image, made.file, options);
  return made;
}

std::vector<std::string> files_of_all_kinds() {
  std::string text(100'000, 'x');
  std::vector<testing::TarEntry> entries = {{"d", '5'},
                                            {"d/noise", '0', noise(70'000, 1)},
                                            {"d/twin", '0', noise(70'000, 1)},
                                            {"whole-blocks", '0', noise(32 << 10, 2)},
                                            {"text", '0', text},
                                            {"zeros", '0', std::string(50'000, '\0')},
                                            {"empty", '0'}};
  for (int i = 0; i < 100; ++i) entries.push_back({"small/" + std::to_string(i), '0', noise(i * 11, i)});
  return {tar(entries), short_tar({"h again>text", "l link>text", "p fifo"})};
}

TEST(SquashfsReader, FindsWhatWasWritten) {
  for (const char* compression : {"zstd", "gzip", "lz4", "xz"}) {
    TestLayout layout;
    Made made = make(layout, files_of_all_kinds(), compression);
    SquashfsTotals totals = made.totals();
    EXPECT_EQ(totals, made.result.squashfs) << compression;
    EXPECT_EQ(made.totals(3), totals) << compression << ", three threads";
    EXPECT_GE(totals.files, 106u) << "the hard link is no file of its own";
    EXPECT_GT(totals.inodes, totals.files);
    std::uint64_t small = 11 * (99 * 100 / 2);
    EXPECT_GE(totals.bytes, 2 * 70'000u + (32u << 10) + 100'000 + 50'000 + small);
  }
}

TEST(SquashfsReader, TellsContentsApart) {
  TestLayout one, two, exchanged;
  SquashfsTotals first = make(one, {short_tar({"f a=1", "f b=2"})}).totals();
  EXPECT_EQ(make(one, {short_tar({"f a=1", "f b=2"})}).totals(), first);
  SquashfsTotals other = make(two, {short_tar({"f a=1", "f b=3"})}).totals();
  EXPECT_EQ(std::tuple(other.inodes, other.files, other.bytes),
            std::tuple(first.inodes, first.files, first.bytes));
  EXPECT_NE(other, first);
  EXPECT_NE(make(exchanged, {short_tar({"f a=2", "f b=1"})}).totals(), first);
}

// Each damaged byte of a content is found: the block does not unfold, or unfolds to something else.
TEST(SquashfsReader, FindsADamagedByte) {
  TestLayout layout;
  Made made = make(layout, {tar({{"noise", '0', noise(40'000, 1)}, {"text", '0', std::string(9000, 'y')}})});
  const std::string whole = testing::read_file(made.file);
  SifFile sif = read_sif(ReadOnlyFile(made.file));
  const SifObject& primary = sif.primary();
  SquashfsTotals totals = made.totals();
  std::size_t found = 0;
  std::size_t tried = 0;
  std::uint64_t contents = primary.offset + 104;  // behind superblock and the compressor's options
  for (std::uint64_t at = contents; at < contents + 40'000; at += 97, ++tried) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    fs::path file = layout.folder().write("damaged.sif", damaged);
    try {
      found += check_sif(ReadOnlyFile(file), 1) == totals ? 0 : 1;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::input);
      ++found;
    }
  }
  EXPECT_EQ(found, tried);
  EXPECT_GT(tried, 400u);
}

TEST(SquashfsReader, RefusesATruncatedImage) {
  TestLayout layout;
  Made made = make(layout, files_of_all_kinds());
  SifFile sif = read_sif(ReadOnlyFile(made.file));
  const SifObject& primary = sif.primary();
  ReadOnlyFile file(made.file);
  for (std::uint64_t size : {std::uint64_t{0}, std::uint64_t{95}, primary.size / 2, primary.size - 5000})
    EXPECT_THROW(read_squashfs(file, primary.offset, size, 1), Error) << size;
  EXPECT_NO_THROW(read_squashfs(file, primary.offset, primary.size, 1));
}

// Found by fuzzing: libsquashfs took 67 GB for the fragments that 115 bytes spoke of.
TEST(SquashfsReader, RefusesMoreFragmentsThanFiles) {
  TestLayout layout;
  Made made = make(layout, {short_tar({"f a=1", "f b=2"})});
  std::string bytes = testing::read_file(made.file);
  SifFile sif = read_sif(ReadOnlyFile(made.file));
  std::uint64_t count = sif.primary().offset + 16;  // fragment_entry_count of the superblock
  bytes.replace(count, 4, std::string("\xff\xff\xff\x7f", 4));
  ReadOnlyFile file(layout.folder().write("fragments.sif", bytes));
  try {
    read_squashfs(file, sif.primary().offset, sif.primary().size, 1);
    FAIL() << "it was read";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("2147483647 fragments of "), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace kiln::sif
