// matrix/current.json, and what both catalogues owe to whoever builds them.
#include <fmt/format.h>

#include <set>
#include <sstream>

#include "support/catalogue_fixture.h"

namespace kiln {
namespace {

using testing::current_plan;
using testing::excluded_of;
using testing::fact_of;
using testing::paper_plan;
using testing::part_of_kind;
using testing::repository_recipes;
using testing::specs_of;
using testing::steps_of;

std::string family(const ImageSpec& spec) { return testing::archspec().family(spec.target.cpu); }

bool has_gpu_of(const ImageSpec& spec, std::string_view vendor) {
  const auto& all = spec.target.accelerators;
  return std::any_of(all.begin(), all.end(), [&](const std::string& one) { return one.starts_with(vendor); });
}

// The logical lines of a requirements file: a backslash joins, comments and blank lines are nothing.
std::vector<std::string> requirements_in(const std::string& text) {
  std::vector<std::string> lines(1);
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    bool goes_on = !line.empty() && line.back() == '\\';
    if (goes_on) line.pop_back();
    if (lines.back().empty() && line.starts_with("#")) continue;
    lines.back() += line;
    if (!goes_on && !lines.back().empty()) lines.emplace_back();
  }
  lines.pop_back();
  return lines;
}

TEST(CurrentTest, HasAtLeastThreeHundredImages) {
  EXPECT_GE(current_plan().size(), 300u);
  EXPECT_TRUE(current_plan().warnings().empty());
}

TEST(CurrentTest, NoTwoImagesHaveOneName) {
  std::set<std::string> names;
  for (const ImageSpec& image : specs_of(current_plan())) {
    EXPECT_TRUE(names.insert(image.repository + ":" + image.tag).second) << image.tag;
    EXPECT_LE(image.tag.size(), 128u);
  }
}

TEST(CurrentTest, EveryCellThatIsLeftOutSaysWhy) {
  for (const BuildPlan* plan : {&current_plan(), &paper_plan()}) {
    for (const ExcludedCell& cell : excluded_of(*plan)) {
      // An exclude of the paper's matrix says no more than where it is: the table has no mark there.
      EXPECT_FALSE(cell.reason.empty());
      if (plan == &current_plan()) {
        EXPECT_FALSE(cell.reason.starts_with("exclude at")) << cell.reason;
      }
    }
  }
}

TEST(CurrentTest, HasWhatASiteWants) {
  std::map<Kind, std::set<std::string>> used;
  std::set<std::string> targets;
  for (const ImageSpec& image : specs_of(current_plan())) {
    for (const ComponentUse& use : image.components) used[use.kind].insert(use.name);
    targets.insert(image.target.cpu);
    targets.insert(image.target.accelerators.begin(), image.target.accelerators.end());
  }
  for (const char* name : {"pytorch", "tensorflow", "jax", "mxnet", "onnxruntime"})
    EXPECT_TRUE(used[Kind::framework].contains(name)) << name;
  for (const char* name : {"inductor", "xla", "tvm", "openvino", "tensorrt"})
    EXPECT_TRUE(used[Kind::compiler].contains(name)) << name;
  for (const char* name : {"horovod", "openmpi", "mpich", "nccl"})
    EXPECT_TRUE(used[Kind::distributed].contains(name)) << name;
  for (const char* name : {"x86_64_v2",    "x86_64_v3",      "x86_64_v4",     "zen3",         "zen4",
                           "icelake",      "sapphirerapids", "neoverse_v1",   "aarch64",      "power9le",
                           "nvidia:sm_70", "nvidia:sm_75",   "nvidia:sm_80",  "nvidia:sm_86", "nvidia:sm_89",
                           "nvidia:sm_90", "nvidia:sm_100",  "nvidia:sm_120", "amd:gfx90a",   "amd:gfx942"})
    EXPECT_TRUE(targets.contains(name)) << name;
}

TEST(CurrentTest, GpusAndBasesFit) {
  for (const ImageSpec& image : specs_of(current_plan())) {
    SCOPED_TRACE(image.request.id);
    const ComponentUse& base = part_of_kind(image, Kind::base);
    std::string cuda = fact_of(base, "cuda");
    bool with_cuda = !cuda.empty() && cuda != "none";
    EXPECT_EQ(has_gpu_of(image, "nvidia:"), with_cuda);
    EXPECT_EQ(has_gpu_of(image, "amd:"), !fact_of(base, "rocm").empty());
  }
}

// NVIDIA's tables are the facts of the base: which GPUs its compiler makes code for, and the driver that runs
// it.
TEST(CurrentTest, CudaKnowsEachGpuAndNamesItsDriver) {
  const std::map<std::string, std::string> capabilities = {
      {"nvidia:sm_70", "7.0"}, {"nvidia:sm_75", "7.5"}, {"nvidia:sm_80", "8.0"},   {"nvidia:sm_86", "8.6"},
      {"nvidia:sm_89", "8.9"}, {"nvidia:sm_90", "9.0"}, {"nvidia:sm_100", "10.0"}, {"nvidia:sm_120", "12.0"}};
  for (const ImageSpec& image : specs_of(current_plan())) {
    SCOPED_TRACE(image.request.id);
    const ComponentUse& base = part_of_kind(image, Kind::base);
    if (base.name != "cuda") continue;
    EXPECT_FALSE(fact_of(base, "driver").empty());
    for (const std::string& accelerator : image.target.accelerators) {
      Version capability(capabilities.at(accelerator));
      EXPECT_GE(capability, Version(fact_of(base, "min_sm")));
      EXPECT_LE(capability, Version(fact_of(base, "max_sm")));
    }
  }
}

// Where the recipe says which GPUs a wheel has machine code for, sm_120 is a cell of those wheels and of no
// other.
TEST(CurrentTest, WheelsForSm120HaveItsCode) {
  std::set<std::string> versions;
  for (const ImageSpec& image : specs_of(current_plan())) {
    if (!has_gpu_of(image, "nvidia:sm_120")) continue;
    const ComponentUse& framework = part_of_kind(image, Kind::framework);
    const std::string codes = " " + fact_of(framework, "wheel_sm") + " ";
    EXPECT_NE(codes.find(" 12.0 "), std::string::npos) << image.request.id;
    versions.insert(framework.name + " " + framework.version.text());
  }
  EXPECT_EQ(versions,
            (std::set<std::string>{"onnxruntime 1.28.0", "onnxruntime 1.30.0", "onnxruntime 1.31.1",
                                   "pytorch 2.10.0", "pytorch 2.12.1", "pytorch 2.14.1", "pytorch 2.15.0"}));
}

// Most wheels and packages for AArch64 choose their code at run time. Of the others evidence does not see
// how.
TEST(CurrentTest, WheelsForArmAskForNoMoreThanTheirCodeDoes) {
  for (const ImageSpec& image : specs_of(current_plan())) {
    const std::string& method = image.request.axes.at("method");
    if (family(image) != "aarch64" || (method != "pip" && method != "distro")) continue;
    if (!image.target.accelerators.empty()) continue;  // Grace's
    const bool pip = method == "pip";
    std::string wanted = "aarch64";
    if (pip && image.repository == "pytorch") wanted = "neoverse_v1";
    if (pip && image.repository == "onnxruntime")
      wanted = image.request.axes.at("version") == "1.24.4" ? "neoverse_v1" : "neoverse_n1";
    EXPECT_EQ(image.target.cpu, wanted) << image.request.id;
  }
}

TEST(CurrentTest, BasesExistForTheProcessor) {
  const std::map<std::string, std::set<std::string>> bases = {
      {"aarch64", {"debian", "ubuntu", "cuda", "mxnet-hub"}}, {"ppc64le", {"debian"}}};
  for (const ImageSpec& image : specs_of(current_plan())) {
    const ComponentUse& base = part_of_kind(image, Kind::base);
    bool arm_only = base.version.text().find("aarch64") != std::string::npos;
    if (family(image) == "x86_64")
      EXPECT_FALSE(arm_only) << image.request.id;
    else
      EXPECT_TRUE(bases.at(family(image)).contains(base.name)) << image.request.id;
    if (base.name == "mxnet-hub" && family(image) == "aarch64") {
      EXPECT_TRUE(arm_only);
    }
  }
}

TEST(CurrentTest, SourceBuildsAreForTheirProcessor) {
  const std::map<std::string, std::string> flags = {{"x86_64_v2", "-march=x86-64-v2"},
                                                    {"x86_64_v3", "-march=x86-64-v3"},
                                                    {"x86_64_v4", "-march=x86-64-v4"},
                                                    {"zen3", "-march=znver3"},
                                                    {"zen4", "-march=znver4"},
                                                    {"icelake", "-march=icelake-client"},
                                                    {"sapphirerapids", "-march=sapphirerapids"},
                                                    {"neoverse_v1", "-mcpu=neoverse-v1"},
                                                    {"power9le", "-mcpu=power9"}};
  std::set<std::string> seen;
  for (const ImageSpec& image : specs_of(current_plan())) {
    if (image.request.axes.at("method") != "source" || image.repository != "pytorch") continue;
    auto wanted = flags.find(image.target.cpu);
    if (wanted == flags.end()) continue;
    const Step& last = image.stages.front().steps.back();
    EXPECT_NE(last.parameters.at("CXXFLAGS").find(wanted->second), std::string::npos) << image.request.id;
    seen.insert(wanted->first);
  }
  EXPECT_EQ(seen.size(), flags.size());
}

TEST(CataloguesTest, EveryComponentIsTestedInEveryImage) {
  for (const BuildPlan* plan : {&current_plan(), &paper_plan()}) {
    for (const ImageSpec& image : specs_of(*plan)) {
      std::set<std::string> tested;
      for (const Step& test : image.tests) tested.insert(test.component);
      for (const ComponentUse& use : image.components)
        EXPECT_TRUE(tested.contains(fmt::format("{}/{}", name_of(use.kind), use.name)))
            << use.name << " in " << image.request.id;
    }
  }
}

TEST(CataloguesTest, TestsSeeTheTarget) {
  for (const ImageSpec& image : specs_of(current_plan())) {
    for (const Step& test : image.tests) {
      EXPECT_EQ(test.parameters.at("KILN_CPU_TARGET"), image.target.cpu);
      EXPECT_EQ(test.parameters.at("KILN_GPU_TARGETS").empty(), image.target.accelerators.empty());
    }
  }
}

TEST(CataloguesTest, EveryDownloadHasAChecksum) {
  for (const BuildPlan* plan : {&current_plan(), &paper_plan()}) {
    for (const auto& [key, step] : steps_of(*plan)) {
      auto url = step.parameters.find("KILN_SOURCE_URL");
      if (url == step.parameters.end()) continue;
      EXPECT_FALSE(url->second.empty()) << step.title;
      EXPECT_FALSE(step.parameters.at("KILN_SOURCE_CHECKSUM").empty()) << step.title;
    }
  }
}

TEST(CataloguesTest, EveryRequirementHasAHashAndOneVersion) {
  std::size_t read = 0;
  for (const auto& [name, component] : repository_recipes().all()) {
    for (const auto& [path, file] : component.files) {
      if (!path.starts_with("requirements")) continue;
      for (const std::string& requirement : requirements_in(file.bytes)) {
        ++read;
        EXPECT_NE(requirement.find("--hash=sha256:"), std::string::npos) << path << ": " << requirement;
        bool pinned = requirement.find("==") != std::string::npos ||
                      requirement.find(" @ https://") != std::string::npos;
        EXPECT_TRUE(pinned) << path << ": " << requirement;
      }
    }
  }
  EXPECT_GT(read, 1000u);
}

// What several recipes need lies in recipes/shared.
TEST(CataloguesTest, NoFileOfTheRecipesStandsTwice) {
  std::map<std::string, fs::path> sources;  // by contents
  std::size_t shared = 0;
  for (const auto& [name, component] : repository_recipes().all()) {
    for (const auto& [path, file] : component.files) {
      auto first = sources.emplace(file.bytes, file.source).first->second;
      EXPECT_EQ(file.source.string(), first.string());
      if (file.source.string().find("/recipes/shared/") != std::string::npos) ++shared;
    }
  }
  EXPECT_GE(shared, 14u);
}

}  // namespace
}  // namespace kiln
