#include "factory/app/index_names.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

IndexEntry built(const std::string& tag, const std::string& bits) {
  IndexEntry entry;
  entry.image.repository = "hello";
  entry.image.tag = tag;
  entry.image.immutable_tag = tag + "-1a2b3c";
  entry.image.key = bits;
  entry.image.manifest = Digest::of(tag);
  return entry;
}

IndexEntry mapping(const std::string& code, const std::string& reference) {
  IndexEntry entry;
  entry.image.code = code;
  entry.image.reference = reference;
  return entry;
}

std::vector<IndexEntry> index_of_names() {
  return {built("1", "a"),
          built("2", "b"),
          built("3", "a"),
          mapping("tf1", "docker://site/tf:1"),
          mapping("tf2", "docker://site/tf:1"),
          mapping("torch", "docker://site/torch:1")};
}

TEST(FindNamed, TakesEveryNameOfAnImage) {
  const std::vector<IndexEntry> entries = index_of_names();
  for (const std::string& name :
       {std::string("hello:2"), std::string("hello:2-1a2b3c"), Digest::of("2").text()})
    EXPECT_EQ(&find_named(entries, name), &entries[1]) << name;
  EXPECT_EQ(&find_named(entries, "tf2"), &entries[4]);
  EXPECT_EQ(&find_named(entries, "docker://site/tf:1"), &entries[3]) << "the first of this reference";
}

TEST(FindNamed, RefusesAnUnknownNameWithANearOne) {
  const std::vector<IndexEntry> entries = index_of_names();
  try {
    find_named(entries, "torhc");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::no_match);
    EXPECT_EQ(error.message(), "the index has no image 'torhc'");
    EXPECT_NE(error.hint().find("torch"), std::string::npos) << error.hint();
  }
}

TEST(CodesOf, NameAllMappingsOfAReferenceThatWasAskedFor) {
  const std::vector<IndexEntry> entries = index_of_names();
  EXPECT_EQ(codes_of(entries, entries[3].image, "docker://site/tf:1"),
            (std::vector<std::string>{"tf1", "tf2"}));
  EXPECT_TRUE(codes_of(entries, entries[3].image, "tf1").empty()) << "one code was asked for";
  EXPECT_TRUE(codes_of(entries, entries[5].image, "docker://site/torch:1").empty()) << "it has one code";
  EXPECT_TRUE(codes_of(entries, entries[0].image, "hello:1").empty()) << "it is no mapping";
}

TEST(SameBitsOf, AnImageAreAllItsNames) {
  const std::vector<IndexEntry> entries = index_of_names();
  const SameBits same = same_bits(entries, entries[0].image);
  EXPECT_EQ(same.names, "hello:1, hello:3");
  EXPECT_EQ(same.identities, (std::vector<Digest>{entries[0].image.identity(), entries[2].image.identity()}));
  EXPECT_EQ(same_bits(entries, entries[4].image).names, "docker://site/tf:1 (tf1), docker://site/tf:1 (tf2)");
}

}  // namespace
}  // namespace kiln
