#include "factory/base/version.h"

#include <gtest/gtest.h>

#include "factory/base/error.h"

namespace kiln {
namespace {

bool contains(const char* range, const char* version) {
  return VersionRange::parse(range).contains(Version(version));
}

TEST(Version, ComparesAsVersionsNotAsText) {
  EXPECT_LT(Version("2.1"), Version("2.10"));
  EXPECT_LT(Version("2.9.1"), Version("2.10"));
  EXPECT_EQ(Version("2.1"), Version("2.1.0"));
  EXPECT_LT(Version("1.14"), Version("2"));
  EXPECT_EQ(Version("v2.1"), Version("2.1"));
  EXPECT_EQ(Version("2.01"), Version("2.1"));
  EXPECT_LT(Version("99999999999999999998"), Version("99999999999999999999"));
}

TEST(Version, PreReleasesComeBeforeTheReleaseAndPostAfter) {
  const char* order[] = {"2.0.dev1", "2.0a1", "2.0b2", "2.0rc1", "2.0rc2", "2.0", "2.0.post1", "2.0.1"};
  for (std::size_t i = 0; i + 1 < std::size(order); ++i)
    EXPECT_LT(Version(order[i]), Version(order[i + 1])) << order[i];
}

TEST(Version, LocalPartOrdersLast) {
  EXPECT_LT(Version("1.5.1"), Version("1.5.1+cpu"));
  EXPECT_LT(Version("1.5.1+cpu"), Version("1.5.2"));
}

TEST(Version, RefusesWhatIsNoVersion) {
  EXPECT_THROW(Version(""), Error);
  EXPECT_THROW(Version("1.0/../../etc"), Error);
  EXPECT_THROW(Version("1 2"), Error);
  EXPECT_THROW(Version(std::string(200, '1')), Error);
}

TEST(VersionRange, BareVersionMeansItsSeries) {
  EXPECT_TRUE(contains("2.1", "2.1"));
  EXPECT_TRUE(contains("2.1", "2.1.0"));
  EXPECT_TRUE(contains("2.1", "2.1.3"));
  EXPECT_FALSE(contains("2.1", "2.10"));
  EXPECT_FALSE(contains("2.1", "2.10.1"));
  EXPECT_FALSE(contains("2.1", "2"));
  EXPECT_TRUE(contains("2.1.0", "2.1"));
  EXPECT_TRUE(contains("1.5.1", "1.5.1+cpu"));
  EXPECT_FALSE(contains("1.5.1+cpu", "1.5.1"));
  EXPECT_TRUE(contains("trixie", "trixie"));
}

TEST(VersionRange, BoundsCombine) {
  EXPECT_TRUE(contains(">=2.1 <2.10", "2.9"));
  EXPECT_FALSE(contains(">=2.1 <2.10", "2.10"));
  EXPECT_TRUE(contains(">=2.1,<2.10", "2.1"));
  EXPECT_TRUE(contains(">= 2.1, < 2.10", "2.5"));
  EXPECT_FALSE(contains("!=2.16.0", "2.16"));
  EXPECT_TRUE(contains("<=2.1", "2.1.3"));
  EXPECT_FALSE(contains(">2.1", "2.1.3"));
  EXPECT_TRUE(contains(">2.1", "2.2"));
  EXPECT_TRUE(contains("==2.6.0", "2.6"));
  EXPECT_TRUE(contains("*", "1"));
  EXPECT_TRUE(contains("", "1"));
}

TEST(VersionRange, ReadsTheSeriesOfPep440) {
  auto holds = [](const char* range, const char* version) {
    return VersionRange::parse(range).contains(Version(version));
  };
  EXPECT_TRUE(holds("2.1.*", "2.1.3"));
  EXPECT_TRUE(holds("==2.1.*", "2.1.3"));
  EXPECT_FALSE(holds("2.1.*", "2.10"));
  EXPECT_FALSE(holds("!=2.1.*", "2.1.3"));
  EXPECT_TRUE(holds("!=2.1.*", "2.10"));
  EXPECT_TRUE(holds("~=2.1.3", "2.1.9"));
  EXPECT_FALSE(holds("~=2.1.3", "2.1.2"));
  EXPECT_FALSE(holds("~=2.1.3", "2.2"));
  EXPECT_TRUE(holds("~=2.1", "2.9"));
  EXPECT_FALSE(holds("~=2.1", "3.0"));
  EXPECT_FALSE(holds(">2.1", "2.1.3")) << "after the whole series";
  EXPECT_TRUE(holds("<=2.1", "2.1.3"));
  for (const char* bad : {"~=2", "~2.1", "2.*.1", ">2.1.*", "~=2.1.*", "*.*", "~=", "2.1.**"})
    EXPECT_THROW(VersionRange::parse(bad), Error) << bad;
}

TEST(VersionRange, KnowsPreReleases) {
  for (const char* version : {"2.1rc1", "2.1.0a2", "2.1.dev3", "2.1-beta", "2.1.0b1"})
    EXPECT_TRUE(Version(version).is_pre_release()) << version;
  for (const char* version : {"2.1", "2.1.post1", "2.1+cu118", "trixie", "12.9.1-base-ubuntu24.04"})
    EXPECT_FALSE(Version(version).is_pre_release()) << version;
  EXPECT_TRUE(VersionRange::parse(">=2.1rc1 <3").names_pre_release());
  EXPECT_FALSE(VersionRange::parse(">=2.1").names_pre_release());
}

TEST(VersionRange, BadRangesAreRefused) {
  for (const char* bad : {">", ">=", "=>2", "<>2", ">=2.1 <", "2.1<3", "a/b"})
    EXPECT_THROW(VersionRange::parse(bad), Error) << bad;
}

TEST(VersionRange, WordsThatAreNoVersionAreRefused) {
  auto message = [](const char* range) -> std::string {
    try {
      VersionRange::parse(range);
      return "taken";
    } catch (const Error& error) {
      return error.message() + "; " + error.hint();
    }
  };
  EXPECT_EQ(message("2.1 - 2.3"),
            "'-' is not a version range; write a version (2.1 means the 2.1 series) or bounds "
            "such as '>=2.1 <2.10'");
  for (const auto& [range, word] :
       std::vector<std::pair<const char*, std::string>>{{">=2.1 and <2.3", "and"},
                                                        {"2.1 to 2.3", "to"},
                                                        {"2.1 or 2.3", "or"},
                                                        {"1.9..2.3", "1.9..2.3"},
                                                        {">=1.9..2.3", ">=1.9..2.3"},
                                                        {"2.1-2.3", "2.1-2.3"},
                                                        {"2.1 2.3", "2.1 2.3"},
                                                        {"2.1, 2.3", "2.1, 2.3"},
                                                        {"2.1+", "2.1+"},
                                                        {"2.1.", "2.1."},
                                                        {".5", ".5"},
                                                        {"-", "-"},
                                                        {"2.x", "2.x"},
                                                        {">=2.X", ">=2.X"},
                                                        {"newest of 2.1", "newest"},
                                                        {">=2.1 && <2.3", "&&"},
                                                        {"2.1 – 2.3", "–"},
                                                        {"at least 2.1", "at"},
                                                        {"..", ".."},
                                                        {"2.1-", "2.1-"},
                                                        {"^2.1", "^2.1"}})
    EXPECT_NE(message(range), "taken") << range;
  EXPECT_TRUE(message(">=2.1 and <2.3").starts_with("'and' is not a version range"));
  EXPECT_TRUE(message("1.9..2.3").starts_with("'1.9..2.3' is not a version range"));
  EXPECT_TRUE(message("2.1, 2.3").starts_with("'2.1, 2.3' is not a version range"));
}

TEST(VersionRange, VersionsAsTheyAreWrittenAreTaken) {
  for (const char* range :
       {"trixie", ">=trixie", "latest", "12.9.1-base-ubuntu24.04", "1.2.3-1.1", "24.04-py3", "0.3.21+ds-4",
        ">=1.0~", "1:2.3-4", "v2.1", "2.1rc1", "2024a", "5.15.0-91-generic", "2.1 2.1.3", "2.1.*", "*",
        "* <3", ">=2.1-1.0-2", "3.0_beta"})
    EXPECT_NO_THROW(VersionRange::parse(range)) << range;
}

// What one holds the other does not.
TEST(VersionRange, AVersionIsEitherOfASeriesOrNot) {
  for (const char* series : {"2.10", "2.1", "2.10.1", "2", "2.1rc1", "2.10+cpu", "2.10.*"})
    for (const char* version :
         {"2.10.1", "2.10", "2.1", "2.1.0", "2.10.1.2", "2.10rc1", "2.10+cpu", "3", "2"})
      EXPECT_NE(contains(series, version), contains(("!=" + std::string(series)).c_str(), version))
          << series << " " << version;
}

TEST(VersionRange, ExactNamesTheOneVersion) {
  EXPECT_EQ(VersionRange::parse("2.1").exact(), Version("2.1"));
  EXPECT_EQ(VersionRange::parse("==2.1").exact(), Version("2.1"));
  EXPECT_FALSE(VersionRange::parse(">=2.1").exact().has_value());
  EXPECT_FALSE(VersionRange::parse("*").exact().has_value());
}

TEST(Newest, PicksByVersion) {
  EXPECT_EQ(newest({Version("2.1"), Version("2.10"), Version("2.9")})->text(), "2.10");
  EXPECT_EQ(newest({Version("2.1"), Version("2.10")}, VersionRange::parse("<2.5"))->text(), "2.1");
  EXPECT_FALSE(newest({Version("2.1")}, VersionRange::parse(">3")).has_value());
}

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
