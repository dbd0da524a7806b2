#include "factory/base/hash_index.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kiln {
namespace {

class Names {
 public:
  explicit Names(std::uint64_t mask) : mask_(mask) {}  // of the hash: few bits make many collisions

  HashIndex::Number find(const std::string& name) const {
    return index_.find(hash_of(name), [&](HashIndex::Number other) { return names_[other] == name; });
  }
  void add(const std::string& name) {
    index_.insert(hash_of(name), static_cast<HashIndex::Number>(names_.size()),
                  [this](HashIndex::Number other) { return hash_of(names_[other]); });
    names_.push_back(name);
  }

 private:
  std::uint64_t hash_of(const std::string& name) const {
    std::uint64_t hash = 0;
    for (char c : name) hash = mixed(hash, static_cast<unsigned char>(c));
    return hash & mask_;
  }
  std::uint64_t mask_;
  std::vector<std::string> names_;
  HashIndex index_;
};

TEST(HashIndex, FindsWhatWasAddedAndNothingElse) {
  for (std::uint64_t mask : {UINT64_MAX, std::uint64_t{7}, std::uint64_t{0}}) {
    Names names(mask);
    EXPECT_EQ(names.find("0"), HashIndex::kNone);
    for (std::uint32_t i = 0; i < 300; ++i) names.add(std::to_string(i));
    for (std::uint32_t i = 0; i < 300; ++i) EXPECT_EQ(names.find(std::to_string(i)), i);
    EXPECT_EQ(names.find("300"), HashIndex::kNone);
    EXPECT_EQ(names.find(""), HashIndex::kNone);
  }
}

}  // namespace
}  // namespace kiln
