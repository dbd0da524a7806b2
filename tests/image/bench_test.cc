#include "image/build/bench.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

std::string error_of(const std::string& output) {
  try {
    read_workload_output(output, "mnist-cnn");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    return error.message();
  }
  return "";
}

TEST(Workload, TheLastLineCounts) {
  auto output =
      read_workload_output("noise {\n{\"unit\": \"ms/step\", \"samples\": [3, 1.5, 2]}\n\n", "mnist-cnn");
  EXPECT_EQ(output.unit, "ms/step");
  EXPECT_EQ(output.samples, (std::vector<double>{3, 1.5, 2}));
}

TEST(Workload, AnythingElseIsAnError) {
  EXPECT_NE(error_of("done").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(error_of("").find("is not a JSON object"), std::string::npos);
  EXPECT_NE(error_of(R"({"samples": [1]})").find("has no unit"), std::string::npos);
  EXPECT_NE(error_of(R"({"unit": "ms/step", "samples": []})").find("has no samples"), std::string::npos);
  EXPECT_NE(error_of(R"({"unit": "ms/step", "samples": [1, -2]})").find("not a positive number"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"unit": "ms/step", "samples": [1, "2"]})").find("not a positive number"),
            std::string::npos);
}

TEST(BusyProcessors, AreThoseThatDidNotWait) {
  const std::string before =
      "cpu  100 0 100 1000 50 0 0 0 0 0\ncpu0 50 0 50 500 25 0 0 0 0 0\ncpu1 50 0 50 500 25 0 0 0 0 0\nintr "
      "1\n";
  const std::string idle =
      "cpu  100 0 100 1090 60 0 0 0 0 0\ncpu0 50 0 50 545 30 0 0 0 0 0\ncpu1 50 0 50 545 30 0 0 0 0 0\nintr "
      "1\n";
  const std::string one = "cpu  150 0 100 1045 55 0 0 0 50 0\ncpu0 x\ncpu1 x\n";
  EXPECT_DOUBLE_EQ(busy_processors(before, idle), 0);
  EXPECT_DOUBLE_EQ(busy_processors(before, one), 1);
  EXPECT_DOUBLE_EQ(busy_processors(before, before), 0);
  EXPECT_DOUBLE_EQ(busy_processors("", ""), 0);
}

TEST(Summary, QuartilesInterpolate) {
  Summary odd = summarise({5, 1, 3, 2, 4});
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.low, 2);
  EXPECT_DOUBLE_EQ(odd.high, 4);
  Summary even = summarise({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.low, 1.75);
  EXPECT_DOUBLE_EQ(even.high, 3.25);
  Summary one = summarise({7});
  EXPECT_DOUBLE_EQ(one.low, 7);
  EXPECT_DOUBLE_EQ(one.high, 7);
}

}  // namespace
}  // namespace kiln
