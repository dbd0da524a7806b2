#include "factory/app/night_metrics.h"

#include <gtest/gtest.h>

#include <set>

#include "factory/base/text.h"
#include "night/night_values.h"
#include "support/fake_effects.h"

namespace kiln {
namespace {

using testing::failed_image;
using testing::night_image;
using testing::night_report;

NightReport report_of(const std::string& matrix) {
  NightImage failed = failed_image("b", "it failed");
  failed.actor = Actor::recipe;
  NightImage good = night_image("a", Verdict::built);
  good.bytes = 5000;
  NightReport report = night_report(2, {good, failed}, NightState::red);
  report.matrix = matrix;
  report.last_green = 1'699'000'000;
  report.phases = {{"build", 12.5}};
  return report;
}

// Each sample of a family stands below its one TYPE line, as node-exporter's parser wants it.
void expect_valid(const std::string& document) {
  std::set<std::string> seen;
  std::string family;
  for (const std::string_view line : split(document, '\n')) {
    if (line.empty()) continue;
    if (line.starts_with("# TYPE ")) {
      family = std::string(line.substr(7, line.find(' ', 7) - 7));
      EXPECT_TRUE(seen.insert(family).second) << family;
    } else if (!line.starts_with('#')) {
      EXPECT_TRUE(line.starts_with(family + "{")) << line;
    }
  }
}

TEST(NightMetrics, SayHowANightEnded) {
  const std::string text = merged_metrics({night_metrics(report_of("demo"))});
  expect_valid(text);
  for (const char* line : {"kiln_night_last_success_timestamp_seconds{matrix=\"demo\"} 1699000000\n",
                           "kiln_night_state{matrix=\"demo\",state=\"red\"} 1\n",
                           "kiln_night_state{matrix=\"demo\",state=\"green\"} 0\n",
                           "kiln_night_images{matrix=\"demo\",verdict=\"failed\",actor=\"recipe\"} 1\n",
                           "kiln_night_images{matrix=\"demo\",verdict=\"not reached\",actor=\"nobody\"} 0\n",
                           "kiln_night_image_bytes{matrix=\"demo\"} 5000\n",
                           "kiln_night_phase_seconds{matrix=\"demo\",phase=\"build\"} 12.500\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

TEST(NightMetrics, EscapeWhatALabelCannotHold) {
  EXPECT_NE(night_metrics(report_of("a\"b\\c")).find("{matrix=\"a\\\"b\\\\c\"}"), std::string::npos);
}

TEST(NightMetrics, ANightThatHasBegunKeepsWhatTheLastOneSaid) {
  const std::string before = night_metrics(report_of("demo"));
  NightReport next = night_report(3, {});
  const std::string text = begin_metrics(before, next);
  EXPECT_NE(text.find("kiln_night_started_timestamp_seconds{matrix=\"demo\"} 1700259200\n"),
            std::string::npos);
  EXPECT_EQ(text.find("kiln_night_started_timestamp_seconds{matrix=\"demo\"} 1700172800\n"),
            std::string::npos);
  EXPECT_NE(text.find("kiln_night_ended_timestamp_seconds{matrix=\"demo\"} 1700176400\n"), std::string::npos);
}

TEST(NightMetrics, OfSeveralMatricesAreOneDocument) {
  testing::FakeFileSystem files;
  const StatePaths state("/state");
  write_night_metrics(state, report_of("demo"), "", files);
  write_begin_metrics(state, report_of("site"), "/textfile", files);
  const std::string text = read_metrics(state, files);
  expect_valid(text);
  EXPECT_NE(text.find("kiln_night_started_timestamp_seconds{matrix=\"demo\"}"), std::string::npos);
  EXPECT_NE(text.find("kiln_night_started_timestamp_seconds{matrix=\"site\"}"), std::string::npos);
  EXPECT_EQ(files.read("/textfile/kiln.prom"), text);
  EXPECT_EQ(files.read(metrics_file(state)), text);
}

TEST(NightMetrics, AreEmptyWhereThereAreNone) {
  testing::FakeFileSystem files;
  EXPECT_EQ(read_metrics(StatePaths("/state"), files), "");
  files.files["/state/kiln.prom"] = std::string(5u << 20, 'x');
  EXPECT_NO_THROW(read_metrics(StatePaths("/state"), files));
}

}  // namespace
}  // namespace kiln
