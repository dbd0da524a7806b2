#include "factory/sif/tail_packer.h"

#include <gtest/gtest.h>

#include <vector>

namespace kiln::sif {
namespace {

struct Packed {
  std::vector<std::string> blocks;
  TailPacker packer{10, [this](std::string_view block) { blocks.emplace_back(block); }};
  std::pair<unsigned, unsigned> add(std::string_view tail) {
    TailPacker::Place place = packer.add(tail);
    return {place.block, place.offset};
  }
};
using Place = std::pair<unsigned, unsigned>;

TEST(TailPacker, FillsBlocksInTheOrderOfTheCalls) {
  Packed packed;
  EXPECT_EQ(packed.add("aaaa"), Place(0, 0));
  EXPECT_EQ(packed.add("bbbbbb"), Place(0, 4));
  EXPECT_TRUE(packed.blocks.empty()) << "a full block waits for the next end";
  EXPECT_EQ(packed.add("ccccccccc"), Place(1, 0));
  EXPECT_EQ(packed.add("dd"), Place(2, 0)) << "no end is cut";
  packed.packer.finish();
  EXPECT_EQ(packed.blocks, (std::vector<std::string>{"aaaabbbbbb", "ccccccccc", "dd"}));
  packed.packer.finish();
  EXPECT_EQ(packed.blocks.size(), 3u) << "there is no empty block";
}

TEST(TailPacker, StoresEqualEndsOnce) {
  Packed packed;
  EXPECT_EQ(packed.add("one"), Place(0, 0));
  EXPECT_EQ(packed.add("two"), Place(0, 3));
  EXPECT_EQ(packed.add("one"), Place(0, 0));
  EXPECT_EQ(packed.add("filling"), Place(1, 0));
  EXPECT_EQ(packed.add("two"), Place(0, 3)) << "also when its block is gone";
  EXPECT_EQ(packed.add(std::string_view("\0\0", 2)), Place(1, 7));
  EXPECT_EQ(packed.add(std::string_view("\0", 1)), Place(1, 9)) << "another length is another end";
  packed.packer.finish();
  EXPECT_EQ(packed.blocks, (std::vector<std::string>{"onetwo", std::string("filling\0\0\0", 10)}));
}

}  // namespace
}  // namespace kiln::sif
