#include "factory/source/requirements_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kiln {
namespace {

// "name[extras]version@url!exact"
std::string package_text(const std::string& text) {
  const PipPackage one = read_pip_package(text, {});
  return one.name + (one.extras.empty() ? "" : "[" + one.extras + "]") +
         (one.version.empty() ? "" : " " + one.version) + (one.url.empty() ? "" : " @" + one.url) +
         (one.exact ? " exact" : "");
}

TEST(PipPackages, HaveNormalNames) {
  EXPECT_EQ(normal_package_name("Flask_Login"), "flask-login");
  EXPECT_EQ(normal_package_name("a.-_b"), "a-b");
  EXPECT_EQ(normal_package_name("ruamel.yaml"), "ruamel-yaml");
  EXPECT_EQ(package_text("Flask_Login"), "flask-login");
}

TEST(PipPackages, HaveVersions) {
  EXPECT_EQ(package_text("torch==2.6.0"), "torch 2.6.0 exact");
  EXPECT_EQ(package_text("torch===2.6.0"), "torch 2.6.0 exact");
  EXPECT_EQ(package_text("torch == 2.6.0+cpu ; python_version > '3'"), "torch 2.6.0+cpu exact");
  EXPECT_EQ(package_text("a==1.*"), "a 1.*");
  EXPECT_EQ(package_text("a=="), "a");
  for (const char* text : {"a>=1", "a<1", "a~=1", "a!=1", "a>1,==2"})
    EXPECT_EQ(package_text(text), "a") << text;
  EXPECT_EQ(package_text("a==1,<2"), "a 1 exact");
  EXPECT_EQ(package_text("a==1 --hash=x"), "a 1 exact");
}

TEST(PipPackages, HaveExtras) {
  EXPECT_EQ(package_text("jax[cuda12]==0.4"), "jax[cuda12] 0.4 exact");
  EXPECT_EQ(package_text("jax[a,b] >= 1"), "jax[a,b]");
  EXPECT_EQ(package_text("jax[]==1"), "jax 1 exact");
  EXPECT_EQ(package_text("jax[open==1"), "jax[open==1]") << "nothing closes it";
}

TEST(PipPackages, MayBeUrls) {
  EXPECT_EQ(package_text("a @ https://x.org/a.whl"), "a @https://x.org/a.whl exact");
  EXPECT_EQ(package_text("A_b[c]@https://x.org/a.whl --hash=x"), "a-b[c] @https://x.org/a.whl exact");
  EXPECT_EQ(package_text("git+https://x.org/a.git@v1 b"), " @git+https://x.org/a.git@v1 exact");
  EXPECT_EQ(package_text("https://x.org/a.whl"), " @https://x.org/a.whl exact");
}

TEST(PipPackages, AreNotOptionsPathsOrVariables) {
  for (const char* text : {"./a", "/a", "$X", "a$X", "a*", "dist/a", "dist/*.whl", "a-1.whl", "-r",
                           "--index-url=a", "requirements.txt", "", "  ", "# a"})
    EXPECT_EQ(package_text(text), "") << text;
}

TEST(PipPackages, KeepTheirPlace) {
  const PipPackage one = read_pip_package("a", {3, 4});
  EXPECT_EQ(one.span.begin, 3u);
  EXPECT_EQ(one.span.end, 4u);
}

std::string lines(const std::string& text) {
  const RequirementsFile file = read_requirements_file(SourceFile("r.txt", text));
  std::string out = file.index;
  for (const PipPackage& one : file.packages)
    out += fmt::format(" {}{}:{}-{}", one.name, one.hashed ? "#" : "", one.span.begin, one.span.end);
  return out;
}

TEST(RequirementsFiles, AreReadByLine) {
  EXPECT_EQ(lines("a\n\n# b\nc==1 # d\n-r e.txt\n-c f.txt\n"), " a:0-1 c:7-15");
  EXPECT_EQ(lines("a#b\n"), "") << "a comment needs a blank in front";
  EXPECT_EQ(lines(""), "");
}

TEST(RequirementsFiles, HashesMayStandOnFurtherLines) {
  EXPECT_EQ(lines("a==1 --hash=sha256:b\n"), " a#:0-20");
  EXPECT_EQ(lines("a==1 --hash sha256:b\n"), " a#:0-20");
  EXPECT_EQ(lines("a==1 \\\n  --hash=sha256:b \\\n  --hash=sha256:c\nd\n"), " a#:0-6 d:45-46");
  EXPECT_EQ(lines("a==1 \\"), " a:0-6") << "the file ends in a continued line";
  EXPECT_EQ(lines("a==1\n--hash=x\n"), " a:0-4");
}

TEST(RequirementsFiles, TheLastIndexCounts) {
  EXPECT_EQ(lines("--index-url https://x.org\na\n"), "https://x.org a:26-27");
  EXPECT_EQ(lines("--index-url=https://x.org\n"), "https://x.org");
  EXPECT_EQ(lines("-i https://x.org\n--extra-index-url  https://y.org\n"), "https://y.org");
  EXPECT_EQ(lines("--index-urls https://x.org\n-i\n"), "");
}

}  // namespace
}  // namespace kiln
