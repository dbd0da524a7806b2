#include "factory/bench/exchange.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "factory/base/effects.h"
#include "factory/base/error.h"

namespace kiln {
namespace {

const std::int64_t kExchangeNow = *unix_seconds_of("2026-11-24T12:00:00Z");

BenchRun full_run(int round) {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = {9.5, 4, 4.25, 1.0 / 3};
  run.warm = 1;
  run.first = 812.5;
  run.peak_memory = 1u << 30;
  run.image = Digest::of("an image");
  run.key = "5eed";
  run.name = "pytorch:2.5.1, \"the\" one";
  run.axes = {"pytorch", "2.10", "pip", "haswell", {"inductor", "xla"}, "cpu", {"openblas"}, {"tcmalloc"}};
  run.stock = true;
  run.threads = 2;
  run.affinity = "0-1,4";
  run.cleared = {{"OPENBLAS_CORETYPE", "ZEN"}};
  run.conditions = {0.25, 1.5, 0.01, "performance", {"under load", "did not settle"}};
  run.host.cpu = "zen3";
  run.host.model = "AMD EPYC, with a comma";
  run.host.cores = 2;
  run.taken = "2026-11-24T11:58:00Z";
  run.kiln = "0.1.0";
  run.round = round;
  run.place = "B";
  run.output = {{"unit", "ms/step"}, {"batch", 128}, {"note", "two\nlines, \"quoted\""}};
  return run;
}

BenchRun bare_run() {
  BenchRun run;
  run.workload = "osu";
  run.unit = "us";
  run.samples = {3};
  run.taken = "2026-11-23T10:00:00Z";
  return run;
}

std::string exchange_error(const std::string& text, RunFormat format) {
  try {
    read_runs(text, "file", format, kExchangeNow);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.format();
  }
  return "";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(Exchange, EveryFormatKeepsEverything) {
  const std::vector<BenchRun> runs = {full_run(0), full_run(1), bare_run()};
  for (RunFormat format : {RunFormat::json, RunFormat::csv, RunFormat::reframe}) {
    const std::string text = write_runs(runs, format);
    EXPECT_EQ(runs_to_json(read_runs(text, "file", format, kExchangeNow)), runs_to_json(runs))
        << kRunFormats.of(format);
    EXPECT_TRUE(read_runs(write_runs({}, format), "file", format, kExchangeNow).empty());
  }
}

TEST(Exchange, TheNameSaysTheFormat) {
  EXPECT_EQ(format_of_file("a/runs.json"), RunFormat::json);
  EXPECT_EQ(format_of_file("runs.csv"), RunFormat::csv);
  EXPECT_EQ(format_of_file("runs.reframe.json"), RunFormat::reframe);
  EXPECT_FALSE(format_of_file("runs.txt"));
}

TEST(Csv, WhatIsWrongIsSaidWithItsLine) {
  const std::string csv = runs_to_csv({bare_run(), bare_run()});
  EXPECT_NE(exchange_error(replaced(csv, "samples", "sampels"), RunFormat::csv)
                .find("file:1:1: error: there is no column 'sampels'; did you mean 'samples'?"),
            std::string::npos);
  EXPECT_NE(
      exchange_error(replaced(csv, "osu,us,3.0", "osu,us,-3.0"), RunFormat::csv).find("file:2:1: error"),
      std::string::npos);
  EXPECT_NE(exchange_error(replaced(csv, "osu,us,3.0", "osu,us,NaN"), RunFormat::csv), "");
  EXPECT_NE(exchange_error(replaced(csv, "osu,us,3.0", "osu,us,"), RunFormat::csv), "") << "no samples";
  EXPECT_NE(exchange_error(replaced(csv, "osu,us,3.0", "osu,us"), RunFormat::csv).find("fields, found"),
            std::string::npos);
  EXPECT_NE(exchange_error(replaced(csv, "osu", "\"osu"), RunFormat::csv).find("quote"), std::string::npos);
  EXPECT_NE(exchange_error(replaced(csv, "2026-11-23", "2027-11-23"), RunFormat::csv).find("from the future"),
            std::string::npos);
  EXPECT_NE(exchange_error("", RunFormat::csv).find("no header"), std::string::npos);
}

TEST(Csv, FewColumnsAreEnough) {
  const std::vector<BenchRun> runs =
      runs_from_csv("workload,unit,samples,taken\nosu,us,3;4;5,2026-11-23T10:00:00Z\n", "file", kExchangeNow);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].samples, (std::vector<double>{3, 4, 5}));
}

// A report of ReFrame 4.10.4, without what it says of the machine: two tests that print numbers, one that
// fails.
TEST(Reframe, ItsOwnReportIsRead) {
  std::ifstream file(KILN_TEST_DATA "/reframe/run-report.json");
  std::ostringstream text;
  text << file.rdbuf();
  const std::vector<BenchRun> runs = runs_from_reframe(text.str(), "run-report.json", kExchangeNow);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].workload, "Triad.triad");
  EXPECT_EQ(runs[0].unit, "GB/s");
  EXPECT_EQ(runs[0].samples, std::vector<double>{12.5});
  EXPECT_EQ(runs[0].host.model, "generic:default");
  EXPECT_EQ(runs[0].name, "builtin");
  EXPECT_EQ(runs[1].workload, "Steps__size_1.step");
  EXPECT_EQ(runs[2].unit, "ms/step");
  EXPECT_LE(*unix_seconds_of(runs[0].taken), kExchangeNow);
}

TEST(Reframe, OlderReportsHaveLists) {
  const std::vector<BenchRun> runs = runs_from_reframe(
      R"({"session_info": {"data_version": "3.1", "time_start_unix": 1700000000.5}, "restored_cases": [], "runs": [{"testcases": [
           {"name": "Triad", "system": "daint", "environment": "gnu", "result": "success",
            "perfvars": [{"name": "triad", "reference": 0, "thres_lower": null, "thres_upper": null, "unit": "GB/s", "value": 9.5}]},
           {"name": "Bad", "system": "daint", "environment": "gnu", "result": "failure", "perfvars": []}]}]})",
      "old.json", kExchangeNow);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].workload, "Triad.triad");
  EXPECT_EQ(runs[0].taken, "2023-11-14T22:13:20Z");
}

TEST(Reframe, WhatIsWrongIsSaid) {
  const std::string report = runs_to_reframe({bare_run()});
  EXPECT_NE(exchange_error("{}", RunFormat::reframe), "");
  EXPECT_NE(exchange_error(replaced(report, "\"taken\": \"2026", "\"taken\": \"2027"), RunFormat::reframe)
                .find("from the future"),
            std::string::npos);
  const std::string head = R"({"session_info": {"data_version": "4.2"}, "runs": [{"testcases": [)";
  const std::string tail = R"(]}]})";
  EXPECT_NE(
      exchange_error(
          head + R"({"name": "a", "result": "pass", "perfvalues": {"s:p:v": [1, 0, null, null, "s"]}})" +
              tail,
          RunFormat::reframe)
          .find("has a date"),
      std::string::npos);
  const std::string dated =
      R"({"name": "a", "result": "pass", "job_completion_time_unix": 1700000000, "perfvalues": {"s:p:v": )";
  EXPECT_NE(exchange_error(head + dated + R"([-1, 0, null, null, "s"]}})" + tail, RunFormat::reframe)
                .find("greater than 0"),
            std::string::npos);
  EXPECT_NE(exchange_error(head + dated + R"([1, 0, null, null, null]}})" + tail, RunFormat::reframe)
                .find("without a unit"),
            std::string::npos);
  EXPECT_NE(exchange_error(head + dated + R"([1]}})" + tail, RunFormat::reframe), "");
}

}  // namespace
}  // namespace kiln
