#include "factory/recipe/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

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
  EXPECT_EQ(names.size(), 12u + 2 * 9 + compiler_variables().size() + gpu_variables().size());
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

TEST(Parameters, TellTheScriptsThatKilnItselfRunsMore) {
  EXPECT_EQ(find_parameter("KILN_OUTPUT")->given_to, GivenTo::rootfs_script);
  EXPECT_EQ(find_parameter("KILN_ARCHITECTURE")->given_to, GivenTo::archive_script);
  EXPECT_FALSE(is_given_to_every_script("KILN_ARCHITECTURE"));
  EXPECT_FALSE(is_known_parameter("KILN_ARCHITECTURE"));
  EXPECT_EQ(find_parameter("PIP_INDEX_URL")->kind, ParameterKind::build);
  EXPECT_EQ(find_parameter("PIP"), nullptr);
  EXPECT_EQ(parameters_of_tests(),
            (std::vector<std::string>{"KILN_VERSION", "KILN_METHOD", "KILN_NAME", "KILN_CPU_TARGET",
                                      "KILN_CPU_FAMILY", "KILN_GPU_TARGETS"}));
}

TEST(Parameters, KnowWhatTheirValuesComeFrom) {
  EXPECT_EQ(find_parameter("KILN_FACT_PYTHON")->name, "KILN_FACT_<NAME>");
  EXPECT_EQ(find_parameter("KILN_BASE_VERSION")->name, "KILN_<KIND>_VERSION");
  EXPECT_EQ(find_parameter("KILN_BASE_NAME")->name, "KILN_<KIND>_NAME");
  EXPECT_EQ(find_parameter("KILN_VERSION")->kind, ParameterKind::own);
  EXPECT_TRUE(is_compiler_variable("NVCC_APPEND_FLAGS"));
  EXPECT_FALSE(depends_on_optimise("NVCC_APPEND_FLAGS")) << "the processor's alone";
  EXPECT_TRUE(depends_on_optimise("CFLAGS"));
  EXPECT_FALSE(depends_on_optimise("CUDAARCHS"));
  EXPECT_TRUE(is_gpu_variable("CUDAARCHS"));
  EXPECT_FALSE(is_compiler_variable("CUDAARCHS"));
}

TEST(Parameters, StandInTheTableOnce) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : parameters())
    EXPECT_TRUE(names.insert(parameter.name).second) << parameter.name;
}

std::string text_of(const std::string& document) {
  std::ifstream in(std::string(KILN_SOURCE_DIR) + "/docs/" + document);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The rows of the kinds as a document has them; neighbours with one meaning share a row.
std::string rows(const std::set<ParameterKind>& kinds, bool with_readers) {
  std::string text;
  const Parameter* last = nullptr;
  auto end_row = [&] {
    if (last == nullptr) return;
    text += " | " + std::string(last->meaning) + " |";
    if (with_readers) text += last->read_by.empty() ? " |" : " " + std::string(last->read_by) + " |";
    text += "\n";
  };
  for (const Parameter& parameter : parameters()) {
    if (!kinds.contains(parameter.kind)) continue;
    bool shares = last != nullptr && last->meaning == parameter.meaning;
    if (!shares) end_row();
    text += (shares ? ", `" : "| `") + std::string(parameter.name) + "`";
    last = &parameter;
  }
  end_row();
  return text;
}

void expect_table(const std::string& document, const std::string& table) {
  EXPECT_NE(text_of(document).find("\n" + table + "\n"), std::string::npos)
      << "docs/" << document << " lacks the table that factory/recipe/parameters.cc gives:\n"
      << table;
}

TEST(Parameters, AreDocumentedAsTheTableHasThem) {
  using enum ParameterKind;
  expect_table("formats/recipe.md", "| parameter | value |\n|---|---|\n" +
                                        rows({own, archive, fact, others, target, optimise}, false));
  expect_table("formats/recipe.md",
               "| never listed, in no key | value |\n|---|---|\n" + rows({build}, false));
  expect_table("formats/targets.md", "| variable | value | read by |\n|---|---|---|\n" +
                                         rows({cpu_flags, compiler_flags, gpu_flags, optimise}, true));
}

TEST(Parameters, NameFactsInSmallLetters) {
  EXPECT_EQ(fact_of_parameter("KILN_FACT_COMPILER_VERSION"), "compiler_version");
  EXPECT_EQ(fact_of_parameter("KILN_FACT_"), "");
  EXPECT_EQ(fact_of_parameter("KILN_VERSION"), "");
}

}  // namespace
}  // namespace kiln
