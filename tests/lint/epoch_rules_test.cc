// Builds that kiln's environment changes, and files that a recipe accepts.
#include "lint_support.h"

namespace kiln::lint {
namespace {

using testing::kShell;

using Files = std::map<std::string, std::string>;

// A recipe in r/library/x with this recipe.json and this script of its method.
std::vector<Finding> findings(const std::string& json, const std::string& script, const std::string& rule) {
  kiln::testing::FakeFileSystem files;
  for (const auto& [path, bytes] :
       Files{{"recipe.json", json}, {"a.sh", kShell + script}, {"t.sh", kShell + "a --version\n"}})
    files.files["r/library/x/" + path] = bytes;
  LintResult result = testing::lint_path("r", files);
  std::erase_if(result.findings, [&](const Finding& finding) { return finding.rule != rule; });
  return result.findings;
}

// A recipe of one method that compiles the source at `url`.
std::string source_recipe(const std::string& url, const std::string& stock) {
  return R"({"licenses": "MIT", "versions": {"1": {"source": {"url": ")" + url +
         R"(", "checksum": "sha256:)" + std::string(64, '0') +
         R"("}}}, "methods": {"source": {"script": "a.sh")" + stock + R"(}}, "test": {"script": "t.sh"}})";
}

const std::string kLlama = "https://example.org/ggml-org/llama.cpp/archive/b6000.tar.gz";
const std::string kOther = "https://example.org/x.tar.gz";
const std::string kStock = R"(, "stock": true)";

// "LINE:COLUMN TEXT" of the one finding; "" for none.
std::string change(const std::string& url, const std::string& stock, const std::string& script) {
  const std::vector<Finding> found = findings(source_recipe(url, stock), script, "KL096");
  EXPECT_LE(found.size(), 1u);
  if (found.empty()) return "";
  return fmt::format("{}:{} {}", found[0].where.line, found[0].where.column, found[0].text);
}

TEST(BuildsChangedByKiln, AreToldWhereTheScriptSaysNothing) {
  const std::string baseline =
      "ggml switches GGML_NATIVE=ON off because kiln sets SOURCE_DATE_EPOCH: this compiles baseline code";
  EXPECT_EQ(change(kLlama, "", "cmake -B build -S .\ncmake --build build\n"), "2:1 " + baseline);
  EXPECT_EQ(change(kLlama, kStock, "cmake -B build\n"),
            "2:1 " + baseline + ", which is not the project's own build");
  EXPECT_EQ(change(kOther, "", "cmake -B build -DGGML_BLAS=ON\n"), "2:1 " + baseline);
  EXPECT_EQ(change(kOther, "", "pip install llama-cpp-python==0.3\n"), "2:1 " + baseline);
  EXPECT_EQ(change(kLlama, "", "# GGML_NATIVE\ncmake -B build\n"), "3:1 " + baseline)
      << "a comment decides nothing";
}

TEST(BuildsChangedByKiln, AreNotThoseThatDecide) {
  EXPECT_EQ(change(kLlama, "", "cmake -B build -DGGML_NATIVE=OFF $KILN_CMAKE_FLAGS\n"), "");
  EXPECT_EQ(change(kLlama, "", "flags=-DGGML_NATIVE=OFF\ncmake -B build $flags\n"), "");
  EXPECT_EQ(change(kLlama, "", "env -u SOURCE_DATE_EPOCH cmake -B build\n"), "");
  EXPECT_EQ(change(kOther, "", "cmake -B build\n"), "") << "another project";
  EXPECT_EQ(change(kLlama, "", "cmake --build build\n"), "") << "nothing is configured";
}

TEST(BuildsChangedByKiln, AStockMethodIsWhatTheProjectBuilds) {
  const std::string variants = "-DGGML_NATIVE=OFF -DGGML_BACKEND_DL=ON -DGGML_CPU_ALL_VARIANTS=ON";
  EXPECT_EQ(change(kLlama, kStock, "cmake -B build -DGGML_NATIVE=OFF\n"),
            "2:1 GGML_NATIVE=OFF is not the project's own build: its default is GGML_NATIVE=ON, or "
            "GGML_CPU_ALL_VARIANTS in its releases");
  EXPECT_EQ(change(kLlama, kStock, "cmake -B build " + variants + "\n"), "");
  EXPECT_EQ(change(kLlama, kStock, "cmake -B build -DGGML_NATIVE=ON\n"), "");
}

TEST(AcceptedFiles, AreNotThoseOfAnOwnBuild) {
  auto found = [](const std::string& more) {
    const std::vector<Finding> all = findings(
        R"({"licenses": "MIT", "versions": {"1": {}}, "methods": {"pip": {"script": "a.sh"}, "source": )"
        R"({"build": {"script": "a.sh", "copy": ["/opt/x"]}}}, "test": {"script": "t.sh"}, )"
        R"("accept": [{"file": "*/libx.so", "reason": "asks")" +
            more + "}]}",
        "ls\n", "KL097");
    return all.empty() ? "" : all[0].text;
  };
  EXPECT_EQ(found(""), "the method 'source' compiles what '*/libx.so' accepts");
  EXPECT_EQ(found(R"(, "method": "pip")"), "");
}

}  // namespace
}  // namespace kiln::lint
