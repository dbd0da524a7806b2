// What a script installs, fetches and sets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "factory/import/legacy_image.h"

namespace kiln {
namespace {

struct Read {
  LegacyImage image;
  std::string notes;  // "line rule: text", a line each
};

Read read(const std::vector<std::string>& scripts, const std::map<std::string, std::string>& variables = {}) {
  Read out;
  FactReader reader(out.image);
  reader.variables = variables;
  for (const std::string& script : scripts)
    reader.script(script, [&](std::size_t offset) {
      return 1 + static_cast<int>(
                     std::count(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
    });
  reader.finish();
  for (const ImportNote& note : out.image.notes)
    out.notes += fmt::format("{}{} {}: {}", out.notes.empty() ? "" : "\n", note.line, note.rule, note.text);
  return out;
}

// "key=value@line", by key.
std::string text_of(const SaidMap& said) {
  std::string out;
  for (const auto& [key, value] : said)
    out += fmt::format("{}{}{}@{}", out.empty() ? "" : ", ", key,
                       value.value.empty() ? "" : " " + value.value, value.line);
  return out;
}

std::string pip(const std::string& script) { return text_of(read({script}).image.facts.pip); }
std::string packages(const std::string& script) { return text_of(read({script}).image.facts.packages); }

TEST(PipFacts, AreNamesAndVersions) {
  EXPECT_EQ(pip("pip install A_b==1.0\npip3 install 'c>=2' d"), "a-b ==1.0@1, c >=2@2, d@2");
  EXPECT_EQ(pip("pip install a[x,y]==1"), "a ==1@1");
  EXPECT_EQ(pip("python3 -m pip install a && /opt/bin/pip3.6 install b"), "a@1, b@1");
  EXPECT_EQ(pip("pip --no-cache-dir install -r r.txt -c c.txt --prefix /x a >log 2>&1"), "a@1");
  EXPECT_EQ(pip("pip install ./a /b/c . dist/*.whl $X \"$Y\" https://x.org/a.zip"), "");
  EXPECT_EQ(pip("\"$PREFIX/bin/pip\" install a"), "a@1");
  EXPECT_EQ(pip("pip freeze\npipenv install a\npip uninstall b"), "");
  EXPECT_EQ(pip("if true; then sudo -E env A=b pip install a; fi"), "a@1");
}

TEST(PipFacts, AreNotedWithoutVersions) {
  EXPECT_EQ(read({"pip install --upgrade pip setuptools wheel six virtualenv\npip install a==1"}).notes, "");
  EXPECT_EQ(read({"ls\npip install a"}).notes, "2 unpinned: 'a' has no version: pip installs the newest one");
  EXPECT_EQ(read({"pip install dist/a-1-cp36.whl dist/*.whl"}).notes,
            "1 wheel-name: the wheel's name is written by hand: a-1-cp36.whl");
  EXPECT_EQ(read({"pip install a.whl"}).notes,
            "1 unpinned: 'a-whl' has no version: pip installs the newest one");
}

TEST(PackageFacts, AreThoseOfTheSystem) {
  EXPECT_EQ(packages("apt-get update && apt-get install -y gcc g++=4:9 \\\n  make"),
            "g++ =4:9@1, gcc@1, make@2");
  EXPECT_EQ(packages("apt-get -o a=b install -y gcc >/dev/null 2>&1"), "gcc@1");
  for (const char* tool : {"apt", "yum", "dnf", "microdnf"})
    EXPECT_EQ(packages(fmt::format("{} install -y gcc", tool)), "gcc@1") << tool;
  EXPECT_EQ(packages("apt-get remove gcc\naptitude install a"), "");
  EXPECT_EQ(packages("apt-get install ./a.deb $P"), "");
}

TEST(CondaFacts, AreNamesAndVersions) {
  auto conda = [](const std::string& script) { return text_of(read({script}).image.facts.conda); };
  EXPECT_EQ(conda("conda install -y -n env -c forge numpy=1.2 Py_x==3 'b>=1' c"),
            "b >=1@1, c@1, numpy 1.2@1, py-x 3@1");
  EXPECT_EQ(conda("mamba install a\nmicromamba install b\nconda list c"), "a@1, b@2");
}

TEST(CloneFacts, HaveTheirBranchTagOrCommit) {
  auto clones = [](const std::string& script) { return text_of(read({script}).image.facts.clones); };
  EXPECT_EQ(clones("git clone https://x.org/a"), "https://x.org/a@1");
  EXPECT_EQ(clones("git clone --depth 1 -b v1 https://x.org/a b"), "https://x.org/a v1@1");
  EXPECT_EQ(clones("git clone --branch v1 https://x.org/a"), "https://x.org/a v1@1");
  EXPECT_EQ(clones("git clone https://x.org/a\ncd a && git checkout v2"), "https://x.org/a v2@2");
  EXPECT_EQ(clones("git checkout v2\ngit clone https://x.org/a"), "https://x.org/a@2")
      << "of another repository";
  EXPECT_EQ(clones("git fetch https://x.org/a"), "");
}

TEST(CloneFacts, AreNotedUnlessTheyAreCommits) {
  const std::string commit(40, 'a');
  EXPECT_EQ(read({"git clone https://x.org/a && git checkout " + commit}).notes, "");
  EXPECT_EQ(
      read({"git clone https://x.org/a && git checkout " + commit + "a"}).notes,
      "1 unpinned-clone: https://x.org/a is cloned at '" + commit + "a', which can move: name the commit");
  EXPECT_EQ(read({"git clone https://x.org/a && git checkout " + std::string(40, 'A')}).notes.substr(0, 16),
            "1 unpinned-clone");
  EXPECT_EQ(read({"git clone https://x.org/a"}).notes,
            "1 unpinned-clone: https://x.org/a is cloned as it is that day");
}

TEST(DownloadFacts, NeedAChecksum) {
  EXPECT_EQ(read({"wget https://x.org/a"}).notes,
            "1 no-checksum: https://x.org/a is downloaded without a checksum");
  EXPECT_EQ(read({"curl -O ftp://x.org/a\n", "sha256sum -c a.sum"}).notes, "");
  EXPECT_EQ(read({"curl -O http://x.org/a\nmd5sum a"}).notes, "");
  EXPECT_EQ(read({"curl -O http://x.org/a\ncksum a"}).notes,
            "1 no-checksum: http://x.org/a is downloaded without a checksum");
  EXPECT_EQ(text_of(read({"curl a.org\naxel https://x.org/a"}).image.facts.downloads), "");
  EXPECT_EQ(text_of(read({"bash <(curl https://x.org/a)"}).image.facts.downloads), "https://x.org/a@1");
  EXPECT_EQ(text_of(read({"pip install https://x.org/a.zip"}).image.facts.downloads),
            "https://x.org/a.zip@1");
}

TEST(SettingFacts, AreExportedAndAssigned) {
  auto settings = [](const std::string& script) {
    return text_of(read({script}, {{"V", "7"}}).image.facts.settings);
  };
  EXPECT_EQ(settings("export A=b C='d e'\nF=g"), "A b@1, C d e@1, F g@2");
  EXPECT_EQ(settings("A=$(date)\nexport B=$UNKNOWN\nexport D"), "") << "known only when the script runs";
  EXPECT_EQ(settings("A=1\nexport B=$A.$V"), "A 1@1, B 1.7@2");
  EXPECT_EQ(settings("echo A=b\n=c"), "");
}

TEST(SettingFacts, FillInLaterWords) {
  EXPECT_EQ(pip("V=1.2\npip install \"a==$V\""), "a ==1.2@2");
  EXPECT_EQ(text_of(read({"U=https://x.org\nwget $U/a"}).image.facts.downloads), "https://x.org/a@2");
  EXPECT_EQ(text_of(read({"A=b", "wget https://x.org/$A"}).image.facts.downloads), "https://x.org/b@1");
}

TEST(OptionFacts, AreThoseOfBuildTools) {
  auto options = [](const std::string& script) { return text_of(read({script}).image.facts.options); };
  EXPECT_EQ(options("cmake -DA=b -DC .\nbazel build --copt=-O2 --config=opt"),
            "--config=opt@2, --copt=-O2@2, -DA b@1, -DC@1");
  EXPECT_EQ(options("gcc -march=skylake -O2 -DX=$Y"), "-march=skylake@1");
  EXPECT_EQ(read({"make CFLAGS=-mcpu=native\ngcc -march=native"}).notes,
            "1 march-native: 'CFLAGS=-mcpu=native' builds for the machine that builds\n"
            "2 march-native: '-march=native' builds for the machine that builds");
}

TEST(LegacyFacts, UvIsPipAndWheelsHaveVersions) {
  Read all =
      read({"uv pip install av==1.2 && pip3 install pkg/tensorflow-2.4.0-cp36-cp36m-linux_x86_64.whl\n"
            "pip install https://x/torch-1.4.0+cu101-cp36.whl dist/other*.whl"});
  EXPECT_EQ(text_of(all.image.facts.pip), "av ==1.2@1");
  EXPECT_EQ(text_of(all.image.facts.wheels), "tensorflow 2.4.0@1, torch 1.4.0+cu101@2");
}

}  // namespace
}  // namespace kiln
