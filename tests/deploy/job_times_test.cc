#include <gtest/gtest.h>

#include "registry/deploy/job_values.h"
#include "support/input_errors.h"

namespace kiln {
namespace {

JsonDocument time_value(const std::string& json) { return JsonDocument::parse(json, "t.json"); }
std::int64_t time_of(const std::string& json) { return read_wall_time(time_value(json).root()).count(); }
std::string time_refusal(const std::string& json) {
  return testing::input_error([&] { read_wall_time(time_value(json).root()); });
}

TEST(WallTime, ReadsEachWayOfWritingIt) {
  EXPECT_EQ(time_of("\"12:00:00\""), 43200);
  EXPECT_EQ(time_of("\"12:00:00   \""), 43200);
  EXPECT_EQ(time_of("\"1:00:00\""), 3600);
  EXPECT_EQ(time_of("\"100:00:00\""), 360000);
  EXPECT_EQ(time_of("\"90:30\""), 5430);  // minutes and seconds, for Slurm, Torque and MODAK
  EXPECT_EQ(time_of("\"29\""), 29);
  EXPECT_EQ(time_of("43200"), 43200);
  EXPECT_EQ(time_of("\"1-12\""), 129600);
  EXPECT_EQ(time_of("\"1-12:30\""), 131400);
  EXPECT_EQ(time_of("\"1-12:30:01\""), 131401);
  EXPECT_EQ(time_of("\"PT12H\""), 43200);
  EXPECT_EQ(time_of("\"P1DT2H30M15S\""), 95415);
  EXPECT_EQ(time_of("\"12h\""), 43200);
}

TEST(WallTime, RefusesWhatSchedulersReadOtherwise) {
  EXPECT_EQ(time_refusal("\"25:61:00\""),
            "t.json:1:1: error: '25:61:00' has 61 minutes or seconds; the maximum is 59; for example "
            "\"12:00:00\", \"1-12:00:00\" or "
            "43200 (seconds)");
  for (const char* text : {"\"0:240:0\"",
                           "\"1.5:00:00\"",
                           "\"12:00:60\"",
                           "\"1-24:00:00\"",
                           "\"1:2:3:4\"",
                           "\"-1\"",
                           "\"noon\"",
                           "\"\"",
                           "\"12:00:00\\n\"",
                           "\"PT\"",
                           "\"P12H\"",
                           "\"P1DT\"",
                           "\"0\"",
                           "0",
                           "\"00:00:00\"",
                           "-5",
                           "1.5",
                           "\"99999999:00:00\"",
                           "true",
                           "\"1 day, 0:00:00\""})
    EXPECT_NE(time_refusal(text), "no error") << text;
}

TEST(WallTime, IsWrittenForEachScheduler) {
  EXPECT_EQ(slurm_time(std::chrono::seconds(29)), "0-00:00:29");
  EXPECT_EQ(slurm_time(std::chrono::seconds(131401)), "1-12:30:01");
  EXPECT_EQ(pbs_time(std::chrono::seconds(86400)), "24:00:00");  // not "1 day, 0:00:00"
  EXPECT_EQ(pbs_time(std::chrono::seconds(131401)), "36:30:01");
}

}  // namespace
}  // namespace kiln
