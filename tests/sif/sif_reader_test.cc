// The strict reader: a good file, then every field of header and descriptors set to what it must refuse.
#include "factory/sif/sif_reader.h"

#include <gtest/gtest.h>

#include <functional>

#include "support/merged.h"

namespace kiln::sif {
namespace {

using testing::TestFolder;

struct Parts {
  SifHeader header;
  std::vector<SifObject> objects;
  std::string data;
};

Parts good() {
  Parts parts;
  SifObject definition;
  definition.type = SifType::definition_file;
  definition.id = 1;
  definition.offset = kSifDataOffset;
  definition.size = definition.stored = 100;
  SifObject partition;
  partition.type = SifType::partition;
  partition.id = 2;
  partition.offset = 32768;
  partition.size = 4096;
  partition.stored = 4096 + 32768 - kSifDataOffset - 100;
  partition.extra = partition_extra(SifFileSystem::squashfs, SifPartition::primary_system, "02");
  parts.objects = {definition, partition};
  parts.data.assign(32768 + 4096 - kSifDataOffset, 'x');
  parts.header = {std::string(kSifLaunch),
                  "02",
                  {1, 2, 3},
                  5,
                  6,
                  kSifDescriptors - 2,
                  kSifDescriptors,
                  kSifDescriptorOffset,
                  kSifDescriptors * kSifDescriptorSize,
                  kSifDataOffset,
                  parts.data.size()};
  return parts;
}

std::string bytes_of(const Parts& parts) {
  std::string table;
  for (const SifObject& object : parts.objects) table += encode(object);
  table.resize(kSifDescriptors * kSifDescriptorSize, '\0');
  std::string bytes = encode(parts.header);
  bytes.resize(kSifDescriptorOffset, '\0');
  return bytes + table + parts.data;
}

std::string verdict(const std::string& bytes) {
  TestFolder folder;
  ReadOnlyFile file(folder.write("x.sif", bytes));
  try {
    read_sif(file);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    EXPECT_EQ(error.where().file, file.path().string());
    return error.message();
  }
  return "good";
}

TEST(SifReader, ReadsWhatWasWritten) {
  TestFolder folder;
  Parts parts = good();
  parts.objects[0].name = "name";
  parts.objects[0].link = 2;
  ReadOnlyFile file(folder.write("x.sif", bytes_of(parts)));
  SifFile sif = read_sif(file);
  EXPECT_EQ(sif.header.launch, kSifLaunch);
  EXPECT_EQ(uuid_text(sif.header.uuid), "01020300-0000-0000-0000-000000000000");
  ASSERT_EQ(sif.objects.size(), 2u);
  EXPECT_EQ(sif.objects[0].name, "name");
  EXPECT_EQ(sif.object(2).arch(), "02");
  EXPECT_EQ(sif.primary().id, 2u);
  EXPECT_THROW(sif.object(3), Error);
}

TEST(SifReader, KnowsTheFormatsSizes) {
  EXPECT_EQ(encode(SifHeader{}).size(), kSifHeaderSize);
  EXPECT_EQ(encode(SifObject{}).size(), kSifDescriptorSize);
  EXPECT_EQ(kSifDataOffset, 32176u);
  std::string start(kSifLaunch);
  start.append("\0SIF_MAGIC\00001\00002\0", 17);
  EXPECT_EQ(encode(good().header).substr(0, 48), start);
}

struct Mutation {
  const char* name;
  std::function<void(Parts&)> apply;
  const char* message;
};

class SifMutations : public ::testing::TestWithParam<Mutation> {};
TEST_P(SifMutations, AreRefused) {
  Parts parts = good();
  GetParam().apply(parts);
  EXPECT_EQ(verdict(bytes_of(parts)), GetParam().message);
}

constexpr std::uint64_t kHuge = ~std::uint64_t{0};
constexpr const char* kOutsideDescriptors = "header: the descriptors lie outside the file or over the header";
constexpr const char* kOutsideData = "header: the data lie outside the file or over the descriptors";

INSTANTIATE_TEST_SUITE_P(
    Header, SifMutations,
    ::testing::Values(
        Mutation{"launch", [](Parts& p) { p.header.launch = "rm -rf /"; },
                 "header: the launch script does not start with '#!'"},
        Mutation{"arch", [](Parts& p) { p.header.arch = "77"; }, "header: unknown architecture code '77'"},
        Mutation{"other_arch", [](Parts& p) { p.header.arch = "04"; },
                 "header: architecture '04', but '02' in the primary partition"},
        Mutation{"created", [](Parts& p) { p.header.created = -1; }, "header: a time before 1970"},
        Mutation{"modified", [](Parts& p) { p.header.modified = INT64_MIN; }, "header: a time before 1970"},
        Mutation{"total_none", [](Parts& p) { p.header.total = 0; },
                 "header: 0 descriptors, expected 1 to 10000"},
        Mutation{"total_many", [](Parts& p) { p.header.total = 10'001; },
                 "header: 10001 descriptors, expected 1 to 10000"},
        Mutation{"total_huge", [](Parts& p) { p.header.total = kHuge; },
                 "header: 18446744073709551615 descriptors, expected 1 to 10000"},
        Mutation{"total_other", [](Parts& p) { p.header.total = 49; },
                 "header: 49 descriptors do not fill 28080 bytes"},
        Mutation{"free_many", [](Parts& p) { p.header.free = 49; }, "header: 49 of 48 descriptors free"},
        Mutation{"free_wrong", [](Parts& p) { p.header.free = 45; },
                 "header: 45 of 48 descriptors free, but 2 are in use"},
        Mutation{"descriptors_over_header", [](Parts& p) { p.header.descriptor_offset = 0; },
                 kOutsideDescriptors},
        Mutation{"descriptors_past_end", [](Parts& p) { p.header.descriptor_offset = kHuge; },
                 kOutsideDescriptors},
        Mutation{"descriptor_length_huge", [](Parts& p) { p.header.descriptor_length = kHuge; },
                 kOutsideDescriptors},
        Mutation{"data_over_descriptors", [](Parts& p) { p.header.data_offset = 4096; }, kOutsideData},
        Mutation{"data_past_end", [](Parts& p) { p.header.data_offset = kHuge; }, kOutsideData},
        Mutation{"data_length_huge", [](Parts& p) { p.header.data_length = kHuge; }, kOutsideData},
        Mutation{"data_length_one_more", [](Parts& p) { ++p.header.data_length; }, kOutsideData}),
    [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Objects, SifMutations,
    ::testing::Values(
        Mutation{"type", [](Parts& p) { p.objects[0].type = SifType(0x4000); },
                 "object 1: unknown type 0x4000"},
        Mutation{"id_none", [](Parts& p) { p.objects[0].id = 0; }, "object with id 0, expected 1 to 48"},
        Mutation{"id_huge", [](Parts& p) { p.objects[0].id = UINT32_MAX; },
                 "object with id 4294967295, expected 1 to 48"},
        Mutation{"id_twice", [](Parts& p) { p.objects[0].id = 2; }, "two objects have the id 2"},
        Mutation{"group", [](Parts& p) { p.objects[0].group = 1; }, "object 1: group 0x1 is no group number"},
        Mutation{"link", [](Parts& p) { p.objects[0].link = 9; },
                 "object 1: linked to 0x9, which is missing"},
        Mutation{"link_itself", [](Parts& p) { p.objects[0].link = 1; },
                 "object 1: linked to 0x1, which is missing"},
        Mutation{"offset_low", [](Parts& p) { p.objects[0].offset = 0; },
                 "object 1: 100 bytes at 0 lie outside the data section"},
        Mutation{"offset_huge", [](Parts& p) { p.objects[0].offset = kHuge; },
                 "object 1: 100 bytes at 18446744073709551615 lie outside the data section"},
        Mutation{"size_huge", [](Parts& p) { p.objects[1].size = kHuge; },
                 "object 2: 18446744073709551615 bytes at 32768 lie outside the data section"},
        Mutation{"size_one_more", [](Parts& p) { ++p.objects[1].size; },
                 "object 2: 4097 bytes at 32768 lie outside the data section"},
        Mutation{"stored_less", [](Parts& p) { p.objects[0].stored = 99; },
                 "object 1: 99 bytes stored for 100"},
        Mutation{"overlap", [](Parts& p) { p.objects[0].offset = 32700; }, "objects 1 and 2 overlap"},
        Mutation{"created", [](Parts& p) { p.objects[0].created = -5; }, "object 1: a time before 1970"},
        Mutation{"name", [](Parts& p) { p.objects[0].name = "a\033[2J"; },
                 "object 1: control characters in its name"},
        Mutation{"file_system",
                 [](Parts& p) {
                   p.objects[1].extra = partition_extra(SifFileSystem(9), SifPartition::primary_system, "02");
                 },
                 "object 2: unknown file system 9"},
        Mutation{"partition",
                 [](Parts& p) {
                   p.objects[1].extra = partition_extra(SifFileSystem::squashfs, SifPartition(7), "02");
                 },
                 "object 2: unknown kind of partition 7"},
        Mutation{"partition_arch",
                 [](Parts& p) {
                   p.objects[1].extra = partition_extra(SifFileSystem::squashfs, SifPartition::system, "zz");
                 },
                 "object 2: unknown architecture code"},
        Mutation{"two_primaries",
                 [](Parts& p) {
                   p.objects[0].type = SifType::partition;
                   p.objects[0].extra = p.objects[1].extra;
                 },
                 "2 primary partitions, expected one"}),
    [](const auto& one) { return std::string(one.param.name); });

TEST(SifReader, RefusesOtherFiles) {
  EXPECT_EQ(verdict(""), "not a SIF file: 0 bytes, the header alone has 128");
  EXPECT_EQ(verdict(std::string(200, 'x')), "not a SIF file: the magic 'SIF_MAGIC' is not at byte 32");
  std::string bytes = bytes_of(good());
  std::string version = bytes;
  version[43] = '2';
  EXPECT_EQ(verdict(version), "SIF version '02' is not known");
  std::string used = bytes;
  used[4096 + 4] = 7;
  EXPECT_EQ(verdict(used), "descriptor 0: the 'used' byte is 7, neither 0 nor 1");
}

TEST(SifReader, RefusesEveryTruncation) {
  std::string bytes = bytes_of(good());
  for (std::size_t cut = 0; cut < bytes.size(); cut += 331)
    EXPECT_NE(verdict(bytes.substr(0, cut)), "good") << cut;
  EXPECT_NE(verdict(bytes.substr(0, bytes.size() - 1)), "good");
}

TEST(SifReader, ChecksThePrimaryPartition) {
  TestFolder folder;
  auto check = [&folder](const std::string& super) -> std::string {
    Parts parts = good();
    parts.data.replace(32768 - kSifDataOffset, super.size(), super);
    ReadOnlyFile file(folder.write("x.sif", bytes_of(parts)));
    try {
      check_primary_partition(file, read_sif(file));
      return "good";
    } catch (const Error& error) {
      return error.message();
    }
  };
  std::string super("hsqs", 4);
  super.resize(96, '\0');
  super.replace(12, 4, std::string("\0\0\2\0", 4));  // blocks of 128 KiB
  super[22] = 17;
  super[28] = 4;
  super[41] = 1;  // 256 bytes
  EXPECT_EQ(check(super), "good");
  EXPECT_EQ(check("hsqt" + super.substr(4)), "the primary partition does not hold a SquashFS image");
  std::string version = super, block = super, used = super, table = super;
  version[28] = 3;
  EXPECT_EQ(check(version), "the primary partition's SquashFS is not of version 4.0");
  block[22] = 16;
  EXPECT_EQ(check(block), "the primary partition's SquashFS has the block size 131072");
  block[22] = 64;  // found by fuzzing: shifted by it, 1 is anything
  EXPECT_EQ(check(block), "the primary partition's SquashFS has the block size 131072");
  used[41] = 17;
  EXPECT_EQ(check(used), "the primary partition's SquashFS has 4352 bytes, of which 4096 are there");
  table[64 + 1] = 1;
  EXPECT_EQ(check(table), "the primary partition's SquashFS has a table at 256, after its end");
}

}  // namespace
}  // namespace kiln::sif
