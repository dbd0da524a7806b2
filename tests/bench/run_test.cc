#include "factory/bench/run.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "factory/base/effects.h"

namespace kiln {
namespace {

const std::int64_t kNow = *unix_seconds_of("2026-11-24T12:00:00Z");

BenchRun example() {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = {9.5, 4, 4.25};
  run.warm = 1;
  run.first = 812.5;
  run.peak_memory = 1u << 30;
  run.image = Digest::of("an image");
  run.key = "5eed";
  run.name = "pytorch:2.5.1";
  run.axes = {"pytorch", "2.5.1", "pip", "haswell", {"inductor"}, "cpu", {"openblas"}, {"tcmalloc"}};
  run.stock = true;
  run.threads = 2;
  run.affinity = "0-1";
  run.cleared = {{"OPENBLAS_CORETYPE", "ZEN"}};
  run.conditions = {0.25, 1.5, 0.01, "performance", {"under load"}};
  run.host.cpu = "zen3";
  run.host.model = "AMD EPYC";
  run.host.cores = 2;
  run.taken = "2026-11-24T11:58:00Z";
  run.kiln = "0.1.0";
  run.round = 3;
  run.place = "B";
  run.output = {{"unit", "ms/step"}, {"batch", 128}, {"result", {{"what", "loss falls"}, {"ok", true}}}};
  run.session = "2026-11-24T11:50:00Z-5a2bf2d4";
  run.workload_files = Digest::of("files").hex();
  return run;
}

std::string error_of(const Json& run) {
  try {
    read_runs(Json{{"format", 1}, {"runs", Json::array({run})}}.dump(), "runs.json", kNow);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::input);
    return error.format();
  }
  return "";
}

// The example with one member changed.
std::string error_with(const char* key, const Json& value) {
  Json json = to_json(example());
  json[key] = value;
  return error_of(json);
}

TEST(Run, GoesThereAndBack) {
  const Json json = runs_to_json({example(), example()});
  const std::vector<BenchRun> runs = read_runs(json.dump(2), "runs.json", kNow);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs_to_json(runs), json);
  EXPECT_EQ(runs[0].axes.compilers, std::vector<std::string>{"inductor"});
  EXPECT_EQ(runs[0].conditions.marks, std::vector<std::string>{"under load"});
  EXPECT_EQ(runs[0].steady().size(), 2u);
  EXPECT_DOUBLE_EQ(runs[0].steady().front(), 4);
}

// The schema has the keys that are written, and those alone.
TEST(Run, IsAsItsSchemaSays) {
  const Json schema = Json::parse(std::ifstream(KILN_SOURCE_DIR "/schema/runs.schema.json"));
  auto keys_of_schema = [&](const char* definition) {
    std::set<std::string> keys;
    for (const auto& [key, value] : schema["$defs"][definition]["properties"].items())
      if (key != "$schema") keys.insert(key);
    return keys;
  };
  auto keys_of_json = [](const Json& json) {
    std::set<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.insert(key);
    return keys;
  };
  const Json json = to_json(example());
  EXPECT_EQ(keys_of_schema("run"), keys_of_json(json));
  EXPECT_EQ(keys_of_schema("axes"), keys_of_json(json["axes"]));
  EXPECT_EQ(keys_of_schema("conditions"), keys_of_json(json["conditions"]));
}

TEST(Run, WhatIsNotKnownIsLeftOut) {
  BenchRun run;
  run.workload = "osu";
  run.unit = "us";
  run.samples = {3};
  run.taken = "2026-11-24T11:58:00Z";
  const Json json = to_json(run);
  for (const char* key : {"first", "peak_memory", "image", "threads", "cleared", "kiln", "place", "output"})
    EXPECT_FALSE(json.contains(key)) << key;
  EXPECT_EQ(error_of(json), "");
}

TEST(Run, SamplesArePositive) {
  EXPECT_NE(error_with("samples", Json::array()).find("at least one sample"), std::string::npos);
  EXPECT_NE(error_with("samples", {1, 0}).find("a sample is greater than 0"), std::string::npos);
  EXPECT_NE(error_with("samples", {1, -2}).find("(at /runs/0/samples/1)"), std::string::npos);
  EXPECT_NE(error_with("samples", {1, "2"}), "");
  EXPECT_NE(error_with("samples", {1, nullptr}), "") << "what JSON makes of NaN";
  EXPECT_NE(error_with("first", 0).find("the first step is greater than 0"), std::string::npos);
  EXPECT_NE(error_with("warm", 3), "") << "no steady sample";
}

TEST(Run, NotANumberIsNoJson) {
  std::string text = runs_to_json({example()}).dump();
  text.replace(text.find("4.25"), 4, "NaN");
  EXPECT_THROW(read_runs(text, "runs.json", kNow), Error);
}

TEST(Run, TheFutureIsRefused) {
  EXPECT_NE(error_with("taken", "2026-11-24T13:00:00Z").find("from the future"), std::string::npos);
  EXPECT_EQ(error_with("taken", "2026-11-24T12:05:00Z"), "") << "clocks differ by minutes";
  EXPECT_NE(error_with("taken", "yesterday").find("is not a date"), std::string::npos);
}

TEST(Run, AWrongResultHasNoSpeed) {
  const std::string error = error_with("output", {{"result", {{"what", "loss falls"}, {"ok", false}}}});
  EXPECT_NE(error.find("a wrong result has no speed"), std::string::npos);
}

TEST(Run, IsReadStrictly) {
  EXPECT_NE(error_with("sampels", 1).find("samples"), std::string::npos) << "the nearest key";
  EXPECT_NE(error_with("unit", ""), "");
  EXPECT_NE(error_with("workload", "../x"), "");
  EXPECT_NE(error_with("image", "latest"), "");
  EXPECT_NE(error_with("conditions", {{"steal", 1.5}}), "");
  EXPECT_NE(error_with("conditions", {{"busy", -1}}), "");
  EXPECT_NE(error_with("output", {1}), "");
  EXPECT_NE(error_with("axes", {{"colour", "red"}}), "");
  for (const char* key : {"workload", "unit", "samples", "host", "taken"}) {
    Json json = to_json(example());
    json.erase(key);
    EXPECT_NE(error_of(json), "") << key;
  }
  EXPECT_THROW(read_runs(R"({"format": 2, "runs": []})", "runs.json", kNow), Error);
  EXPECT_THROW(read_runs("nonsense", "runs.json", kNow), Error);
}

TEST(SpeedName, TellsWhatDoesNotCompare) {
  BenchRun run = example();
  EXPECT_EQ(speed_name(run), "mnist-cnn");
  run.output["ranks"] = 1;
  run.output["input"] = {{"kind", "synthetic"}};
  EXPECT_EQ(speed_name(run), "mnist-cnn");
  run.output["ranks"] = 2;
  run.output["input"] = {{"kind", "path"}};
  EXPECT_EQ(speed_name(run), "mnist-cnn+2ranks+data");
  EXPECT_EQ(speed_name(run), speed_name("mnist-cnn", 2, true));
  run.output["ranks"] = -3;
  run.output["input"] = "files";
  EXPECT_EQ(speed_name(run), "mnist-cnn") << "of another kind than expected";
}

TEST(Unit, RatesAreBetterWhenMore) {
  EXPECT_TRUE(more_is_better("images/s"));
  EXPECT_TRUE(more_is_better("GB/s"));
  EXPECT_FALSE(more_is_better("ms/step"));
  EXPECT_FALSE(more_is_better("s"));
}

}  // namespace
}  // namespace kiln
