#include "factory/base/field_bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace kiln {

enum class FieldColour : std::uint8_t { red, green = 200 };

struct FieldLeaf {
  std::string text;
  bool flag = false;
  bool operator==(const FieldLeaf&) const = default;
};

struct FieldTree {
  FieldColour colour = FieldColour::red;
  std::uint64_t large = 0;
  std::int64_t negative = 0;
  std::vector<FieldLeaf> leaves;
  std::map<std::string, std::uint64_t> counts;
  std::optional<FieldLeaf> some;
  std::optional<FieldLeaf> none;
  std::vector<std::pair<std::string, std::string>> pairs;
  bool operator==(const FieldTree&) const = default;
};

template <typename Bytes>
static void fields(Bytes& bytes, FieldLeaf& leaf) {
  bytes(leaf.text, leaf.flag);
}

template <typename Bytes>
static void fields(Bytes& bytes, FieldTree& tree) {
  bytes(tree.colour, tree.large, tree.negative, tree.leaves, tree.counts, tree.some, tree.none, tree.pairs);
}

namespace {

FieldTree sample() {
  return {FieldColour::green,
          std::numeric_limits<std::uint64_t>::max(),
          -5,
          {{"a", true}, {std::string("\0\xff\n", 3), false}},
          {{"", 0}, {"x", 128}},
          FieldLeaf{"some", true},
          std::nullopt,
          {{"k", "v"}}};
}

TEST(FieldBytes, GiveBackWhatTheyTook) {
  FieldTree tree = sample();
  ToBytes out;
  out(tree);
  const std::string bytes = out.finish();
  FromBytes in(bytes);
  FieldTree again;
  again.none = FieldLeaf{};
  again.counts["old"] = 1;
  in(again);
  EXPECT_EQ(again, sample());
  EXPECT_TRUE(in.at_end());
}

TEST(FieldBytes, ThatEndTooEarlyAreRefused) {
  FieldTree tree = sample();
  ToBytes out;
  out(tree);
  const std::string bytes = out.finish();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    FromBytes in(std::string_view(bytes).substr(0, size));
    FieldTree again;
    EXPECT_THROW(in(again), Error) << size;
  }
  FromBytes endless(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12));
  EXPECT_THROW(endless.number(), Error);
}

}  // namespace
}  // namespace kiln
