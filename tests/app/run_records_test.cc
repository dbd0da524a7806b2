#include "factory/app/run_records.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/run/kept_runs.h"

namespace kiln {
namespace {

using Names = std::vector<std::string>;

BenchRun kept_run(const std::string& key, const std::string& unit = "ms/step",
                  const std::string& workload = "mnist-cnn") {
  BenchRun run;
  run.workload = workload;
  run.unit = unit;
  run.samples = {1};
  run.key = key;
  run.name = "hello:" + key;
  run.taken = "2026-11-24T12:00:00Z";
  return run;
}

Names keys_of(const std::vector<BenchRun>& runs) {
  Names keys;
  for (const BenchRun& run : runs) keys.push_back(run.key);
  return keys;
}

ComparedPair compared(std::vector<std::string> values, const std::string& a = "x:1",
                      const std::string& b = "y:1") {
  ComparedPair pair;
  pair.values = std::move(values);
  pair.image_a = a;
  pair.image_b = b;
  return pair;
}

template <typename Action>
Error records_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error";
  return {ExitCode::ok, ""};
}

TEST(ChosenRuns, AreThoseOfTheChoice) {
  const std::vector<BenchRun> runs = {kept_run("a"), kept_run("b", "ms/step", "mlp")};
  EXPECT_EQ(keys_of(chosen_runs(runs, parse_run_choice("workload=mlp"), {})), Names{"b"});
  EXPECT_EQ(keys_of(chosen_runs(runs, parse_run_choice("workload=*"), {"a"})), (Names{"a", "b"}))
      << "no snapshot is asked for";
}

TEST(ChosenRuns, AreOfTheImagesOfTheirSnapshot) {
  const std::vector<BenchRun> runs = {kept_run("a"), kept_run("b"), kept_run("c", "ms/step", "mlp")};
  EXPECT_EQ(keys_of(chosen_runs(runs, parse_run_choice("snapshot=3,workload=mnist-cnn"), {"b", "c"})),
            Names{"b"});
}

TEST(ComparisonColumns, AreAskedForWithTheWorkloadFirst) {
  const RunChoice none;
  EXPECT_EQ(comparison_columns({"version", "workload", "framework"}, none, none),
            (Names{"workload", "version", "framework"}));
  const Error error = records_error([&] { comparison_columns({"colour"}, none, none); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_EQ(error.message(), "--by: there is no column 'colour'");
}

TEST(ComparisonColumns, AreElseThoseThatNoChoiceFixes) {
  const RunChoice a = parse_run_choice("method=pip"), b = parse_run_choice("method=distro");
  EXPECT_EQ(comparison_columns({}, a, b), common_columns(a, b));
}

TEST(NeedPairs, NamesImagesThatWereNeverMeasuredInTurns) {
  GroupComparison found;
  found.columns = {"workload", "framework"};
  Error error = records_error([&] { need_pairs(found); });
  EXPECT_EQ(error.code(), ExitCode::no_match);
  EXPECT_EQ(error.message(), "A and B have nothing in common by workload, framework");
  found.apart = {compared({"mnist-cnn", "pytorch"})};
  error = records_error([&] { need_pairs(found); });
  EXPECT_NE(error.message().find("never measured in turns"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("x:1 and y:1"), std::string::npos) << error.message();
  found.pairs = {compared({"mnist-cnn", "pytorch"})};
  EXPECT_NO_THROW(need_pairs(found)) << "one pair is enough";
}

TEST(PairName, HasTheWorkloadAndWhatDiffers) {
  GroupComparison found;
  found.columns = {"workload", "framework", "target"};
  found.pairs = {compared({"mlp", "jax", "zen3"}), compared({"mlp", "jax", "zen4"})};
  EXPECT_EQ(pair_name(found, found.pairs[0]), "mlp zen3");
  found.apart = {compared({"mlp", "pytorch", "zen3"})};
  EXPECT_EQ(pair_name(found, found.pairs[0]), "mlp jax zen3") << "those that are apart count as well";
  EXPECT_EQ(pair_name(found, found.apart[0]), "mlp pytorch zen3");
}

TEST(PairName, HasTheImagesOfASideThatHasSeveral) {
  GroupComparison found;
  found.columns = {"workload"};
  found.pairs = {compared({"mlp"}, "x:1"), compared({"mlp"}, "x:2"), compared({"cnn"}, "x:3", "y:9")};
  EXPECT_EQ(pair_name(found, found.pairs[0]), "mlp, A x:1");
  EXPECT_EQ(pair_name(found, found.pairs[2]), "cnn");
  found.apart = {compared({"mlp"}, "x:1", "y:2")};
  EXPECT_EQ(pair_name(found, found.pairs[1]), "mlp, A x:2, B y:1");
}

TEST(NeedKnownUnits, RefusesASecondUnitOfAWorkload) {
  EXPECT_NO_THROW(need_known_units({kept_run("a"), kept_run("b", "images/s", "mlp")}, {kept_run("c")}, "f"));
  const Error error =
      records_error([] { need_known_units({kept_run("a", "images/s")}, {kept_run("c")}, "there.json"); });
  EXPECT_EQ(error.code(), ExitCode::input);
  EXPECT_TRUE(
      error.format().starts_with("there.json: error: 'mnist-cnn' is measured in ms/step here, not in "
                                 "images/s"))
      << error.format();
  EXPECT_THROW(need_known_units({kept_run("a"), kept_run("b", "images/s")}, {}, "f"), Error)
      << "within the file as well";
}

TEST(WithoutRuns, LeavesOutTheSameRuns) {
  const std::vector<BenchRun> all = {kept_run("a"), kept_run("b"), kept_run("c")};
  EXPECT_EQ(keys_of(without_runs(all, {kept_run("b"), kept_run("d")})), (Names{"a", "c"}));
  EXPECT_EQ(keys_of(joined_runs(all, {kept_run("b"), kept_run("d")})), (Names{"a", "c", "b", "d"}))
      << "each once";
}

}  // namespace
}  // namespace kiln
