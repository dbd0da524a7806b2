#include "factory/run/bench.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/base/effects.h"
#include "factory/run/kept_runs.h"
#include "support/fake_effects.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

BenchRun run_of(int round, const std::string& key, std::vector<double> samples) {
  BenchRun run;
  run.workload = "mnist-cnn";
  run.unit = "ms/step";
  run.samples = std::move(samples);
  run.image = Digest::of(key);
  run.key = key;
  run.round = round;
  run.taken = "2026-11-24T12:00:00Z";
  return run;
}

TEST(Disturbed, ByWhatOthersDidAndNotByTheWorkload) {
  BenchRun run = run_of(0, "a", {1});
  run.conditions.marks = {"did not settle"};
  EXPECT_FALSE(was_disturbed(run));
  run.conditions.marks.emplace_back("under load");
  EXPECT_TRUE(was_disturbed(run));
}

RecipeBook stock_recipes() {
  testing::FakeFileSystem files;
  files.files["recipes/framework/torch/pip.sh"] = "true\n";
  files.files["recipes/base/torch-hub/x"] = "";
  auto recipe = [&](const std::string& place, const std::string& methods) {
    return read_recipe(
        R"({"description": "d", "licenses": "MIT", "homepage": "https://example.org/", "versions": {"1.0": {}}, "methods": )" +
            methods + "}",
        "recipes/" + place + "/recipe.json", files);
  };
  RecipeBook book;
  book.add(
      recipe("framework/torch",
             R"({"pip": {"stock": true, "script": "pip.sh"}, "distro": {"script": "pip.sh"}, "hub": {}})"));
  book.add(
      recipe("base/torch-hub", R"({"hub": {"stock": true, "image": "docker.io/torch/torch:{version}"}})"));
  book.add(
      read_recipe(R"({"versions": {"1.0": {"facts": {"stock_of": "jax torch"}}}, "methods": {"pip": {}}})",
                  "recipes/compiler/own/recipe.json", files));
  book.add(recipe("base/vendor", R"({"hub": {"image": "docker.io/vendor/torch:{version}"}})"));
  return book;
}

ImageSpec image_of(const std::string& base, const std::string& method) {
  ImageSpec image;
  image.repository = "torch";
  image.components = {{Kind::base, base, Version("1.0"), "hub"},
                      {Kind::framework, "torch", Version("1.0"), method}};
  return image;
}

TEST(Stock, IsWhatTheProjectPublishes) {
  const RecipeBook recipes = stock_recipes();
  EXPECT_TRUE(is_stock(image_of("vendor", "pip"), recipes));
  EXPECT_FALSE(is_stock(image_of("vendor", "distro"), recipes)) << "a distribution's build";
  EXPECT_TRUE(is_stock(image_of("torch-hub", "hub"), recipes)) << "the project's own image";
  EXPECT_FALSE(is_stock(image_of("vendor", "hub"), recipes)) << "somebody else's";
  ImageSpec compiled = image_of("vendor", "pip");
  compiled.components.push_back({Kind::compiler, "xla", Version("1.0"), "pip"});
  EXPECT_FALSE(is_stock(compiled, recipes)) << "with a graph compiler";
  compiled.components.back() = {Kind::compiler, "own", Version("1.0"), "pip"};
  EXPECT_TRUE(is_stock(compiled, recipes)) << "with one that every build has";
  ImageSpec faster = image_of("vendor", "pip");
  faster.components.push_back({Kind::runtime, "tcmalloc", Version("1.0"), "distro"});
  EXPECT_FALSE(is_stock(faster, recipes)) << "with another allocator";
}

class Kept : public ::testing::Test {
 protected:
  testing::FakeFileSystem files;
  StatePaths state{"/state"};
  KeptRuns runs{state, files};
};

TEST_F(Kept, ARunThatComesTwiceIsThereOnce) {
  const std::string sum = runs.add(run_of(0, "a", {1, 2}));
  EXPECT_EQ(runs.add(run_of(0, "a", {1, 2})), sum);
  runs.add(run_of(1, "a", {1, 2}));
  EXPECT_EQ(runs.all().size(), 2u);
  EXPECT_EQ(runs.find(sum)->samples, (std::vector<double>{1, 2}));
  runs.remove(sum);
  EXPECT_FALSE(runs.find(sum));
}

TEST_F(Kept, ARunStaysWhenTheClockIsPutBack) {
  BenchRun run = run_of(0, "a", {1, 2});
  run.taken = "2999-01-01T00:00:00Z";
  runs.add(run);
  EXPECT_EQ(runs.all().size(), 1u);
}

TEST_F(Kept, ADiscardedRunIsPutAsideAndCanComeBack) {
  const std::string sum = runs.add(run_of(0, "a", {1, 2}));
  runs.discard(sum);
  EXPECT_TRUE(runs.all().empty());
  ASSERT_EQ(runs.discarded().size(), 1u);
  EXPECT_EQ(KeptRuns::sum_of(runs.discarded().front()), sum);
  runs.restore(sum);
  EXPECT_EQ(runs.all().size(), 1u);
  EXPECT_TRUE(runs.discarded().empty());
}

TEST_F(Kept, ADamagedRunIsSaidAndNotPassedOver) {
  const std::string sum = runs.add(run_of(0, "a", {1, 2}));
  std::string other_digit = files.read(state.bench_run(sum)).value();
  other_digit.replace(other_digit.find("[1.0,2.0]"), 9, "[9.0,2.0]");
  for (const std::string& damaged : {std::string("{\"samples\": ["), other_digit}) {
    files.write(state.bench_run(sum), damaged);
    try {
      runs.all();
      FAIL() << "it was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::store);
      EXPECT_NE(error.format().find(sum), std::string::npos);
    }
  }
}

TEST_F(Kept, ABegunComparisonGoesOn) {
  const Json what = {{"images", {"a", "b"}}};
  {
    BegunComparison begun(what, runs, state, files);
    EXPECT_EQ(begun.session(), "");
    BenchRun first = run_of(0, "a", {1});
    first.session = "s";
    begun.add({first});
    BenchRun second = run_of(0, "b", {2});
    second.session = "s";
    begun.add({second});
  }
  BegunComparison again(what, runs, state, files);
  EXPECT_EQ(again.done(), 2u);
  EXPECT_EQ(again.runs().size(), 2u);
  EXPECT_EQ(again.session(), "s") << "it is the same session";
  EXPECT_EQ(unfinished_sessions(runs, state, files), std::set<std::string>{"s"});
  ASSERT_EQ(again.find(0, "b").size(), 1u);
  EXPECT_EQ(again.find(0, "b").front().samples.front(), 2);
  EXPECT_TRUE(again.find(1, "b").empty());
  EXPECT_EQ(BegunComparison({{"images", {"a"}}}, runs, state, files).done(), 0u) << "another comparison";
  again.end();
  EXPECT_EQ(BegunComparison(what, runs, state, files).done(), 0u);
  EXPECT_EQ(runs.all().size(), 2u) << "the runs stay";
  EXPECT_TRUE(unfinished_sessions(runs, state, files).empty());
}

TEST_F(Kept, WhatCannotBeBelievedIsForgotten) {
  const Json what = {{"images", {"a", "b"}}};
  BegunComparison begun(what, runs, state, files);
  begun.add({run_of(0, "a", {1})});
  begun.add({run_of(0, "b", {2})});
  EXPECT_EQ(begun.forget("a").size(), 1u);
  EXPECT_TRUE(begun.find(0, "a").empty());
  ASSERT_EQ(runs.all().size(), 1u);
  EXPECT_EQ(runs.all().front().key, "b");
}

TEST_F(Kept, TheMetricsOfAStartAreOneTurn) {
  const Json what = {{"images", {"a"}}};
  BenchRun decode = run_of(0, "a", {1});
  decode.workload = metric_name(decode.workload, "decode");
  BenchRun prefill = run_of(0, "a", {2});
  prefill.workload = metric_name(prefill.workload, "prefill");
  BegunComparison(what, runs, state, files).add({decode, prefill});
  BegunComparison again(what, runs, state, files);
  EXPECT_EQ(again.done(), 1u);
  EXPECT_EQ(again.runs().size(), 2u);
  ASSERT_EQ(again.find(0, "a").size(), 2u);
  EXPECT_EQ(again.find(0, "a").back().workload, prefill.workload);
  runs.remove(KeptRuns::sum_of(prefill));
  EXPECT_EQ(BegunComparison(what, runs, state, files).done(), 0u) << "a turn without one of them is not done";
  again.forget("a");
  EXPECT_TRUE(runs.all().empty());
}

TEST_F(Kept, ATurnOfAnEarlierKilnNamesOneRun) {
  const Json what = {{"images", {"a"}}};
  const std::string sum = runs.add(run_of(0, "a", {1}));
  files.write(state.bench_begun(Digest::of(what.dump()).hex()), Json({{"0/a", sum}}).dump());
  EXPECT_EQ(BegunComparison(what, runs, state, files).find(0, "a").size(), 1u);
}

TEST(SpeedName, OfAWorkloadUnderEachMetric) {
  EXPECT_EQ(speed_name(metric_name("llm", "decode"), 2, true), "llm.decode+2ranks+data");
  EXPECT_TRUE(is_speed_of("llm", "llm", 1, false));
  EXPECT_TRUE(is_speed_of("llm.decode", "llm", 1, false));
  EXPECT_TRUE(is_speed_of("llm.decode+2ranks+data", "llm", 2, true));
  EXPECT_FALSE(is_speed_of("llm.decode+2ranks", "llm", 1, false));
  EXPECT_FALSE(is_speed_of("llm.decode", "llm", 2, false));
  EXPECT_FALSE(is_speed_of("llm2", "llm", 1, false));
  EXPECT_FALSE(is_speed_of("llm", "llm.decode", 1, false));
}

TEST_F(Kept, AComparisonWhoseFileIsDamagedBeginsAnew) {
  const Json what = {{"images", {"a"}}};
  BegunComparison begun(what, runs, state, files);
  begun.add({run_of(0, "a", {1})});
  files.write(state.bench_begun(Digest::of(what.dump()).hex()), "half");
  EXPECT_EQ(BegunComparison(what, runs, state, files).done(), 0u);
}

std::string error_of(const std::string& rates) {
  try {
    host_rates_of(Json{{"rates", Json::parse(rates)}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::images_failed);
    return error.message();
  }
  return "";
}

TEST(HostRates, TheBestOfEachCounts) {
  const Json output = Json::parse(
      R"({"rates": {"triad": {"unit": "GB/s", "samples": [1, 3.5, 2]}, "sgemm": {"unit": "GFLOP/s", "samples": [5]}}})");
  EXPECT_EQ(host_rates_of(output), (std::map<std::string, double>{{"triad", 3.5}, {"sgemm", 5}}));
}

TEST(HostRates, NonsenseIsRefused) {
  EXPECT_THROW(host_rates_of(Json()), Error);
  EXPECT_THROW(host_rates_of(Json::object()), Error);
  EXPECT_NE(error_of("{}").find("has no rates"), std::string::npos);
  EXPECT_NE(error_of("[1]").find("has no rates"), std::string::npos);
  EXPECT_NE(error_of(R"({"warp": [1]})").find("has an unknown rate 'warp'"), std::string::npos);
  EXPECT_NE(error_of(R"({"sgemm": [1]})").find("has 'sgemm' not in GFLOP/s"), std::string::npos);
  EXPECT_NE(error_of(R"({"sgemm": {"unit": "GB/s", "samples": [1]}})").find("has 'sgemm' not in GFLOP/s"),
            std::string::npos);
  EXPECT_NE(error_of(R"({"sgemm": {"unit": "GFLOP/s", "samples": []}})").find("has no samples of 'sgemm'"),
            std::string::npos);
  for (const char* bad : {"0", "-1", "\"2\"", "null", "[3]"})
    EXPECT_NE(error_of(R"({"sgemm": {"unit": "GFLOP/s", "samples": [3, )" + std::string(bad) + "]}}"), "")
        << bad;
}

TEST(HostRates, AreKeptForThisMachine) {
  RealFileSystem files;
  const testing::TemporaryFolder folder;
  const StatePaths state(folder.path());
  HostRecord record;
  record.host.cpu = "zen3";
  record.host.model = "EPYC";
  record.host.cores = 2;
  record.host.rates = {{"dgemm", 8.5e10}};
  record.image = "pytorch:2.6.0";
  record.key = std::string(64, 'a');
  record.file_system = "ext4";
  record.threads = 2;
  record.marks = {"under load"};
  record.taken = "2026-11-24T03:00:00Z";
  EXPECT_FALSE(known_host(state, files, record.host));
  keep_host(state, files, record);
  const auto known = known_host(state, files, record.host);
  ASSERT_TRUE(known);
  EXPECT_EQ(to_json(*known), to_json(record));

  HostDescription other = record.host;
  other.cores = 4;
  EXPECT_FALSE(known_host(state, files, other)) << "a machine of the same name";
  files.write(state.host(host_name()), "{\"host\": ");
  EXPECT_FALSE(known_host(state, files, record.host)) << "cut";
}

}  // namespace
}  // namespace kiln
