#include "registry/select/gain.h"

#include "select/select_samples.h"

namespace kiln {
namespace {

Measurement speed(const std::string& key, const std::string& session, const std::string& taken) {
  Measurement measurement = testing::measurement_of(Digest::of(key), 100);
  measurement.key = key;
  measurement.session = session;
  measurement.taken = taken;
  return measurement;
}

TEST(GainOverAnother, IsOfTheLastSessionOfBoth) {
  std::vector<Measurement> a = {speed("a", "monday", "2026-11-23"), speed("a", "tuesday", "2026-11-24"),
                                speed("a", "alone", "2026-11-25")};
  std::vector<Measurement> b = {speed("b", "monday", "2026-11-23"), speed("b", "tuesday", "2026-11-24")};
  b[0].gains = {{"a", 30.6, 20, 40}};
  b[1].gains = {{"a", 2, 1.6, 2.5}};
  const auto gain = gain_over(b, a, b[1]);
  ASSERT_TRUE(gain);
  EXPECT_EQ(gain->of, &b[1]);
  EXPECT_EQ(gain->over, &a[1]);
  EXPECT_EQ(gain_text(gain->gain, "it"), "2.00 times as fast as it (1.60 to 2.50)");
  const auto back = gain_over(a, b, a[2]);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->gain.key, "b");
  EXPECT_EQ(gain_text(back->gain), "0.50 times as fast (0.40 to 0.62)");
}

TEST(GainOverAnother, IsNoneOfOtherSessionsWorkloadsUnitsAndHosts) {
  const std::vector<Measurement> a = {speed("a", "monday", "2026-11-23")};
  for (void (*change)(Measurement & one) : {
           +[](Measurement& one) { one.session = "tuesday"; },
           +[](Measurement& one) { one.session = ""; },
           +[](Measurement& one) { one.workload = "resnet50"; },
           +[](Measurement& one) { one.unit = "images/s"; },
           +[](Measurement& one) { one.host.model = "another"; },
           +[](Measurement& one) { one.host.cores = 64; },
       }) {
    std::vector<Measurement> b = {speed("b", "monday", "2026-11-23")};
    b[0].gains = {{"a", 2, 1.6, 2.5}};
    EXPECT_TRUE(gain_over(b, a, a[0]));
    change(b[0]);
    EXPECT_FALSE(gain_over(b, a, a[0])) << to_json(b[0]).dump();
  }
}

}  // namespace
}  // namespace kiln
