#include "plan/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/flags.h"

namespace kiln {
namespace {

TEST(Parameters, AreThoseOfTheFormat) {
  for (const char* name : {"KILN_VERSION",     "KILN_METHOD",
                           "KILN_NAME",        "KILN_PREFIX",
                           "KILN_SOURCE_URL",  "KILN_SOURCE_CHECKSUM",
                           "KILN_FACT_PYTHON", "KILN_FACT_CUDA_12",
                           "KILN_BASE_NAME",   "KILN_WORKLOAD_VERSION",
                           "KILN_CPU_TARGET",  "KILN_CPU_FAMILY",
                           "KILN_GPU_TARGETS", "KILN_CUDA_ARCHS",
                           "KILN_CPU_FLAGS",   "CFLAGS",
                           "CXXFLAGS",         "FFLAGS",
                           "LDFLAGS",          "KILN_BAZEL_COPTS",
                           "KILN_CMAKE_FLAGS", "KILN_NVCC_FLAGS",
                           "CUDAARCHS",        "KILN_OPTIMISE"})
    EXPECT_TRUE(is_known_parameter(name)) << name;
  for (const char* name : {"", "KILN_", "KILN_FACT_", "KILN_FACT_python", "KILN_FACT_<NAME>",
                           "KILN_<KIND>_NAME", "KILN_BASE", "KILN_JOBS", "CPPFLAGS", "cflags"})
    EXPECT_FALSE(is_known_parameter(name)) << name;
}

TEST(Parameters, ListNamesEveryKindAndNoPlaceholder) {
  const std::vector<std::string> names = known_parameters();
  EXPECT_EQ(names.size(), 12u + 2 * 7 + compiler_variables().size() + gpu_variables().size());
  EXPECT_NE(std::find(names.begin(), names.end(), "KILN_COMPILER_VERSION"), names.end());
  for (const std::string& name : names) {
    EXPECT_EQ(name.find('<'), std::string::npos) << name;
    EXPECT_TRUE(is_known_parameter(name)) << name;
    EXPECT_FALSE(is_given_to_every_script(name)) << name;
  }
}

TEST(Parameters, KnowWhatEveryScriptGets) {
  for (const char* name :
       {"KILN_JOBS", "SOURCE_DATE_EPOCH", "KILN_OUTPUT", "HOME", "PATH", "https_proxy", "PIP_INDEX_URL"})
    EXPECT_TRUE(is_given_to_every_script(name)) << name;
  EXPECT_FALSE(is_given_to_every_script("PIPES"));
}

TEST(Parameters, NameFactsInSmallLetters) {
  EXPECT_EQ(fact_of_parameter("KILN_FACT_COMPILER_VERSION"), "compiler_version");
  EXPECT_EQ(fact_of_parameter("KILN_FACT_"), "");
  EXPECT_EQ(fact_of_parameter("KILN_VERSION"), "");
}

}  // namespace
}  // namespace kiln
