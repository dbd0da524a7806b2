// What a framework's part and opt_build choose by.
#include <fmt/format.h>

#include "index/samples.h"
#include "registry/select/dsl.h"

namespace kiln {
namespace {

using testing::error_of;

// A document with the inside of the framework's part, and with an opt_build.
DslReading read_choices(const std::string& framework, const std::string& opt_build = "{}") {
  const std::string text = fmt::format(
      R"({{"optimisation": {{"enable_opt_build": true, "opt_build": {},
"app_type-ai_training": {{"config": {{"ai_framework": "tensorflow"}}, "ai_framework-tensorflow": {{{}}}}}}}}})",
      opt_build, framework);
  return read_dsl(JsonDocument::parse(text, "job.json"), {});
}

TEST(Dsl, TheCompilersOfModaksDocumentationAreKnownWithoutRecipes) {
  ImageQuery query = read_choices(R"("xla": true, "glow": "false", "OpenVINO": "True")").query;
  EXPECT_EQ(query.compilers,
            (std::map<std::string, bool>{{"glow", false}, {"openvino", true}, {"xla", true}}));
  EXPECT_TRUE(query.selectors.empty());
}

TEST(Dsl, AutotuningIsAskedForOrNot) {
  auto autotuning = [](const std::string& key) {
    const std::string text = R"({"optimisation": {"enable_opt_build": true, )" + key + R"("app_type": "hpc",
      "app_type-hpc": {"config": {"parallelisation": "mpi"}, "parallelisation-mpi": {"library": "mpich"}}}})";
    return read_dsl(JsonDocument::parse(text, "job.json"), {}).query.autotuning;
  };
  EXPECT_EQ(autotuning(""), std::nullopt);
  EXPECT_EQ(autotuning(R"("enable_autotuning": true, )"), true);
  EXPECT_EQ(autotuning(R"("enable_autotuning": "False", )"), false);
  EXPECT_NE(error_of([&] { autotuning(R"("enable_autotuning": 7, )"); })
                .format()
                .find("/optimisation/enable_autotuning"),
            std::string::npos);
}

TEST(Dsl, AChoiceIsNoYesOrNo) {
  auto message = [](const std::string& choice) { return error_of([&] { read_choices(choice); }).format(); };
  EXPECT_EQ(message(R"("xla": "yes")"),
            "job.json:2:103: error: expected true or false, found 'yes' (at "
            "/optimisation/app_type-ai_training/ai_framework-tensorflow/xla)");
  for (const char* choice : {R"("mkldnn": "yes")", R"("mkldnn": "ON")"})
    EXPECT_NE(message(choice).find("found '"), std::string::npos) << choice;
  EXPECT_TRUE(message(R"("mkldnn": "no")").ends_with("; write false"));
  EXPECT_TRUE(message(R"("xla": 1)").find("expected true or false, found a number") != std::string::npos);
}

TEST(Dsl, AChoiceMayBeAListOfComponents) {
  using Choices = std::map<std::string, std::string>;
  auto choices = [](const std::string& text) { return read_choices(text).query.selectors; };
  EXPECT_EQ(choices(R"("runtime": ["tcmalloc", "oneDNN"], "allocator": "Tcmalloc")"),
            (Choices{{"allocator", "tcmalloc"}, {"runtime", "tcmalloc+onednn"}}));
  EXPECT_EQ(choices(R"("runtime": ["tcmalloc"])"), (Choices{{"runtime", "tcmalloc"}}));
  EXPECT_EQ(choices(R"("runtime": false)"), (Choices{{"runtime", "false"}}));
  EXPECT_EQ(choices(R"("runtime": null)"), Choices{});
  auto message = [](const std::string& choice) { return error_of([&] { read_choices(choice); }).format(); };
  EXPECT_TRUE(message(R"("runtime": [])")
                  .ends_with("expected at least one component, found an empty list (at "
                             "/optimisation/app_type-ai_training/ai_framework-tensorflow/runtime); write "
                             "false for none; without the key, any will do"));
  EXPECT_TRUE(message(R"("runtime": ["True"])").ends_with("runtime/0); write true or false without a list"));
  EXPECT_NE(message(R"("runtime": [["tcmalloc"]])").find("expected a string"), std::string::npos);
  EXPECT_NE(message(R"("runtime": ["a b"])").find("/runtime/0"), std::string::npos);
}

TEST(Dsl, AGpuIsAnAcceleratorOfItsVendor) {
  auto query = [](const std::string& build) { return read_choices("", build).query; };
  EXPECT_EQ(query(R"({"gpu": "sm_90"})").acc_type, "nvidia");
  EXPECT_EQ(query(R"({"gpu": "gfx90a", "acc_type": ""})").acc_type, "amd");
  EXPECT_EQ(query(R"({"gpu": "nvidia:SM_80"})").gpu, "sm_80");
  EXPECT_EQ(query(R"({"gpu": "gfx90a:xnack-", "acc_type": null})").gpu, "gfx90a:xnack-");
  EXPECT_EQ(query(R"({"gpu": "amd:gfx942", "acc_type": "amd"})").gpu, "gfx942");
  EXPECT_EQ(query(R"({"gpu": "", "acc_type": "none"})").acc_type, "");
  auto message = [](const std::string& build) { return error_of([&] { read_choices("", build); }).format(); };
  EXPECT_TRUE(message(R"({"acc_type": "amd", "gpu": "sm_90"})")
                  .ends_with("error: sm_90 is a GPU of nvidia, and acc_type is amd (at "
                             "/optimisation/opt_build/gpu); remove one of them"));
  EXPECT_NE(message(R"({"acc_type": "none", "gpu": "sm_90"})").find("and acc_type is none"),
            std::string::npos);
  EXPECT_TRUE(
      message(R"({"gpu": "a100"})")
          .ends_with("error: expected a GPU, found 'a100' (at /optimisation/opt_build/gpu); for example "
                     "sm_90 or gfx90a"));
  for (const char* gpu : {"nvidia", "sm90", "compute_90", "nvidia:gfx90a", "fpga:x", "amd:sm_80"})
    EXPECT_NE(message(fmt::format(R"({{"gpu": "{}"}})", gpu)).find("expected a GPU"), std::string::npos)
        << gpu;
}

TEST(Dsl, VersionsMayBeRangesOrTheLatest) {
  VersionRange range = read_choices(R"("version": ">=2.1 <2.10")").query.version;
  EXPECT_TRUE(range.contains(Version("2.9.1")));
  EXPECT_FALSE(range.contains(Version("2.10")));
  EXPECT_TRUE(read_choices(R"("version": "latest")").query.version.is_any());
  EXPECT_TRUE(read_choices(R"("version": null)").query.version.is_any());
}

TEST(Dsl, NoAcceleratorCanBeSaidInFourWays) {
  for (const char* build :
       {"{}", R"({"acc_type": ""})", R"({"acc_type": "none"})", R"({"acc_type": null})"}) {
    EXPECT_EQ(read_choices("", build).query.acc_type, "") << build;
  }
  EXPECT_EQ(read_choices("", R"({"cpu_type": "X86", "acc_type": "NVIDIA"})").query.acc_type, "nvidia");
}

TEST(Dsl, ABadVersionIsNamedWithItsPlace) {
  for (const char* version : {R"(">=")", R"("2.1 beta/7")", "[]", "{}"}) {
    Error error = error_of([&] { read_choices(fmt::format("\"version\": {}", version)); });
    EXPECT_EQ(error.code(), ExitCode::input) << version;
    EXPECT_EQ(error.where().pointer, "/optimisation/app_type-ai_training/ai_framework-tensorflow/version");
    EXPECT_EQ(error.where().line, 2);
  }
}

}  // namespace
}  // namespace kiln
