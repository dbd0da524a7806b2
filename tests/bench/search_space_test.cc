#include "factory/bench/search_space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "support/input_errors.h"

namespace kiln::testing {
namespace {

SearchSpace space_from(const std::string& text) {
  return search_space_from_json(JsonDocument::parse(text, "space.json").root());
}

std::string space_error(const std::string& variables) {
  return input_error([&] { space_from(R"({"variables": )" + variables + "}"); });
}

std::vector<std::string> names_in(const SearchSpace& space) {
  std::vector<std::string> names;
  for (const SearchVariable& variable : space.variables) names.push_back(variable.name);
  return names;
}

bool has_name(const SearchSpace& space, const std::string& name) {
  const auto names = names_in(space);
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(SearchSpace, IsListsAndRanges) {
  const SearchSpace space = space_from(
      R"({"variables": {"OMP_NUM_THREADS": {"from": 1, "to": 9, "step": 4}, "OMP_PROC_BIND": {"values": ["close", "spread"]}}})");
  EXPECT_EQ(names_in(space), (std::vector<std::string>{"OMP_NUM_THREADS", "OMP_PROC_BIND"}));
  EXPECT_EQ(space.points(), 9) << "1, 5, 9 by close, spread and not set";
  EXPECT_EQ(to_json(space).dump(), R"({"variables":[{"from":1,"name":"OMP_NUM_THREADS","step":4,"to":9},)"
                                   R"({"name":"OMP_PROC_BIND","values":["close","spread"]}]})");
}

TEST(SearchSpace, SaysWhatIsWrong) {
  EXPECT_EQ(space_error(R"({"A": {"from": 8, "to": 1}})"),
            "space.json:1:21: error: the range of 'A' is empty: it goes from 8 to 1 (at /variables/A)");
  EXPECT_NE(space_error(R"({"A": {"values": []}})").find("'A' has no values"), std::string::npos);
  EXPECT_NE(space_error("{}").find("the search space has no variables"), std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"values": ["x", ""]}})").find("a value is empty"), std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"values": ["x", "x"]}})").find("the value 'x' twice"), std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"values": ["x\ny"]}})"), "no error");
  EXPECT_NE(space_error(R"({"A": {"values": ["x"], "from": 1}})").find("both values and a range"),
            std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"form": 1, "to": 2}})").find("did you mean 'from'?"), std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"from": 1, "to": 2, "step": 0}})"), "no error");
}

TEST(SearchSpace, HasRealNumbersAndLogarithms) {
  const SearchSpace space = space_from(
      R"({"direction": "maximize", "variables": {"--rate": {"from": 1e-5, "to": 1, "log": true}, "W": {"from": 1, "to": 64, "log": true}}})");
  EXPECT_TRUE(space.maximises);
  ASSERT_TRUE(space.variables[0].real);
  EXPECT_EQ(space.variables[0].real->low, 1e-5);
  EXPECT_EQ(space.variables[0].real->high, 1);
  EXPECT_FALSE(space.variables[1].real) << "whole numbers";
  EXPECT_TRUE(space.variables[1].logarithmic);
  EXPECT_EQ(space.points(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(to_json(space).dump(),
            R"({"direction":"maximize","variables":[{"high":1.0,"log":true,"low":1e-05,"name":"--rate"},)"
            R"({"from":1,"log":true,"name":"W","step":1,"to":64}]})");
  EXPECT_FALSE(space_from(R"({"direction": "minimize", "variables": {"A": {"values": ["x"]}}})").maximises);
}

TEST(SearchSpace, SaysWhatIsWrongInRanges) {
  EXPECT_EQ(space_error(R"({"A": {"from": 0.5, "to": 0.25}})"),
            "space.json:1:21: error: the range of 'A' is empty: it goes from 0.5 to 0.25 (at /variables/A)");
  EXPECT_NE(space_error(R"({"A": {"from": 0.5, "to": 2, "step": 1}})").find("has no step"),
            std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"from": 0, "to": 2, "log": true}})").find("begins above 0"),
            std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"from": -0.5, "to": 2, "log": true}})").find("begins above 0"),
            std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"from": 1, "to": 9, "step": 2, "log": true}})").find("has no step"),
            std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"from": 0.5, "to": 1e200}})").find("expected a number within"),
            std::string::npos);
  EXPECT_NE(space_error(R"({"A": {"from": 0.5}})"), "no error");
  EXPECT_NE(space_error(R"({"A": {"values": ["x"], "log": true}})").find("both values and a range"),
            std::string::npos);
  EXPECT_EQ(space_error(R"({"A": {"from": 0.5, "to": 0.5}})"), "no error");
  EXPECT_NE(input_error([] {
              space_from(R"({"direction": "up", "variables": {"A": {"values": ["x"]}}})");
            }).find("expected minimize or maximize"),
            std::string::npos);
}

TEST(SearchSpace, HasOptionsForScriptsOnly) {
  for (const char* name : {"--rate", "--hidden-layers", "--model.width", "--x1_y"})
    EXPECT_TRUE(is_option(name)) << name;
  for (const char* name : {"", "-r", "--", "---x", "--a=b", "--a b", "--ü", "rate"})
    EXPECT_FALSE(is_option(name)) << name;
  auto refusal = [](const std::string& text) {
    try {
      need_space_of_workload(space_from(text));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_NE(refusal(R"({"variables": {"--rate": {"from": 1, "to": 2}}})").find("'--rate' is an option"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"direction": "maximize", "variables": {"A": {"from": 1, "to": 2}}})"), "no error");
  EXPECT_EQ(refusal(R"({"variables": {"A": {"from": 0.5, "to": 2}}})"), "no error");
}

TEST(SearchSpace, HasABoundOfPoints) {
  const std::string error =
      space_error(R"({"A": {"from": 1, "to": 1000000}, "B": {"from": 1, "to": 1000000}})");
  EXPECT_NE(error.find("the search space has 1e+12 points, and at most 1e+09 make sense"), std::string::npos)
      << error;
  std::string huge = "{";
  for (int i = 0; i < 400; ++i)
    huge += fmt::format("{}\"A{}\": {{\"from\": 0, \"to\": 999999999}}", i == 0 ? "" : ", ", i);
  EXPECT_NE(space_error(huge + "}").find("inf points"), std::string::npos) << "beyond any number";
  EXPECT_EQ(space_error(R"({"A": {"from": 1, "to": 1000000000}})"), "no error");
  EXPECT_NE(space_error(R"({"A": {"from": -1000000000000, "to": 1000000000000}})"), "no error");
  EXPECT_NE(space_error(R"({"A": {"from": 1, "to": 2000000000}, "B": {"from": 0.5, "to": 1}})"), "no error")
      << "a real one makes no other smaller";
}

TEST(SearchSpace, SetsNothingThatKilnSets) {
  for (const char* name : {"KILN_BENCH_STEPS", "KILN_FRAMEWORK_NAME", "PATH"})
    EXPECT_NE(space_error(fmt::format(R"({{"{}": {{"values": ["1"]}}}})", name)).find("kiln sets"),
              std::string::npos);
  for (const char* name : {"", "1A", "A=B", "A B", "ü"})
    EXPECT_NE(space_error(fmt::format(R"({{"{}": {{"values": ["1"]}}}})", name)).find("is not the name of"),
              std::string::npos)
        << name;
}

TEST(SearchSpace, MayVaryBatchAndWorkers) {
  EXPECT_EQ(space_error(R"({"KILN_BENCH_BATCH": {"values": ["16", "64"]}})"), "no error");
  EXPECT_EQ(space_error(R"({"KILN_BENCH_WORKERS": {"from": 0, "to": 4}})"), "no error");
}

TEST(DefaultSpace, IsOfImageAndHost) {
  RunAxes axes;
  axes.framework = "pytorch";
  const SearchSpace plain = default_space({axes, 8});
  EXPECT_EQ(plain.variables.front().name, "OMP_NUM_THREADS");
  EXPECT_EQ(plain.variables.front().to, 8);
  EXPECT_TRUE(has_name(plain, "MALLOC_ARENA_MAX"));
  EXPECT_TRUE(has_name(plain, "GLIBC_TUNABLES"));
  EXPECT_FALSE(has_name(plain, "OMPI_MCA_btl_vader_eager_limit"));
  EXPECT_TRUE(has_name(default_space({axes, 8, {}, "openmpi"}), "OMPI_MCA_btl_vader_eager_limit"));
  EXPECT_FALSE(has_name(default_space({axes, 8, {}, "mpich"}), "OMPI_MCA_btl_vader_eager_limit"));
  for (const char* name : {"KMP_BLOCKTIME", "MALLOC_CONF", "XLA_FLAGS", "TORCHINDUCTOR_MAX_AUTOTUNE"})
    EXPECT_FALSE(has_name(plain, name)) << name;
  axes.runtimes = {"llvm-openmp"};
  axes.compilers = {"inductor"};
  const SearchSpace more = default_space({axes, 8, {{"LD_PRELOAD", "libomp.so.5:libjemalloc.so.2"}}});
  for (const char* name : {"KMP_BLOCKTIME", "MALLOC_CONF", "TORCHINDUCTOR_MAX_AUTOTUNE"})
    EXPECT_TRUE(has_name(more, name)) << name;
  EXPECT_FALSE(has_name(more, "MALLOC_ARENA_MAX")) << "the C library's allocator is not in use";
  EXPECT_FALSE(
      has_name(default_space({axes, 8, {{"LD_PRELOAD", "libtcmalloc_minimal.so.4"}}}), "MALLOC_ARENA_MAX"));
  axes.framework = "tensorflow";
  axes.compilers = {"xla"};
  EXPECT_TRUE(has_name(default_space({axes, 8}), "TF_NUM_INTEROP_THREADS"));
  EXPECT_TRUE(has_name(default_space({axes, 8}), "XLA_FLAGS"));
}

TEST(DefaultSpace, IsOneThatAFileMayHave) {
  RunAxes axes;
  axes.framework = "tensorflow";
  axes.compilers = {"inductor", "xla"};
  axes.runtimes = {"llvm-openmp"};
  for (const int cores : {1, 2, 256}) {
    const SearchSpace space = default_space({axes, cores});
    EXPECT_EQ(has_name(space, "OMP_NUM_THREADS"), cores > 1);
    EXPECT_LE(space.points(), kMostPoints);
    Json variables = Json::object();
    const Json written = to_json(space);
    for (Json variable : written["variables"]) {
      const std::string name = variable["name"];
      variable.erase("name");
      variables[name] = variable;
    }
    EXPECT_EQ(input_error([&] { space_from(Json{{"variables", variables}}.dump()); }), "no error");
  }
}

TEST(DefaultSpace, OfAnImageWithMpiIsOneThatAFileMayHave) {
  RunAxes axes;
  axes.framework = "mxnet";
  EXPECT_LE(default_space({axes, 256, {}, "openmpi"}).points(), kMostPoints);
}

TEST(TuningSetting, IsReadAsAShellHasIt) {
  EXPECT_EQ(text_of(TuningSetting{{"B", "2"}, {"A", "1"}}), "A=1 B=2");
  EXPECT_EQ(text_of(TuningSetting{}), "the default");
}

}  // namespace
}  // namespace kiln::testing
