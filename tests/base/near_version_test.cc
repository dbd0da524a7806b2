#include "factory/base/near_version.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

const std::vector<std::string> kKnown = {"2.9.1", "2.6.0", "2.6", "2.5.1", "2.1.0", "1.14.0"};

TEST(NearVersion, SharesTheMostLeadingParts) {
  EXPECT_EQ(did_you_mean_version("2.6.1", {"2.9.1", "2.6.0", "2.1.0"}), "did you mean '2.6.0'?");
  EXPECT_EQ(did_you_mean_version("1.15.2", kKnown), "did you mean '1.14.0'?");
  EXPECT_EQ(did_you_mean_version("0.10.2", {"0.1.2", "0.10.0"}), "did you mean '0.10.0'?");
  EXPECT_EQ(did_you_mean_version("2.10", {"2.1.0", "2.9.1"}), "did you mean '2.9.1'?");
}

TEST(NearVersion, ThenTheNearestPartThatDiffers) {
  EXPECT_EQ(did_you_mean_version("2.8.0", {"2.5.1", "2.9.1"}), "did you mean '2.9.1'?");
  EXPECT_EQ(did_you_mean_version("2.7.0", {"2.5.1", "2.9.1"}), "did you mean '2.9.1'?");  // the newer
  EXPECT_EQ(did_you_mean_version("2.7.0", {"2.9.1", "2.5.1"}), "did you mean '2.9.1'?");
}

TEST(NearVersion, AWordIsASpelling) {
  EXPECT_EQ(did_you_mean_version("trxie", {"bookworm", "trixie"}), "did you mean 'trixie'?");
  EXPECT_EQ(did_you_mean_version("26.0", {"2.6.0"}), "did you mean '2.6.0'?");
}

TEST(NearVersion, FarOnesGetNone) {
  EXPECT_EQ(did_you_mean_version("2.6.1", {}), "");
  EXPECT_EQ(did_you_mean_version("noble", {"12", "2.6.0"}), "");
}

}  // namespace
}  // namespace kiln
