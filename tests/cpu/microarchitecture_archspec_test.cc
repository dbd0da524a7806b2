// Compares every answer with that of the archspec package itself: archspec_answers.py prints what it says.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "factory/base/effects.h"
#include "factory/cpu/microarchitecture.h"

namespace kiln {
namespace {

using Row = std::vector<std::string>;

std::vector<std::string> fields_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string output_of(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string output;
  char buffer[65536];
  while (std::size_t bytes = std::fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, bytes);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

// The sample with one feature switched off, as archspec_answers.py does it.
std::string without(const std::string& cpuinfo, const std::string& feature) {
  std::string result;
  for (const std::string& line : fields_of(cpuinfo, '\n')) {
    if (line.starts_with("flags") || line.starts_with("Features")) {
      std::istringstream words(line);
      for (std::string word; words >> word;) result += word == feature ? "" : word + " ";
    } else {
      result += line;
    }
    result += '\n';
  }
  return result;
}

class ArchspecComparison : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string script = KILN_SOURCE_DIR "/tests/base/archspec_answers.py";
    rows_ = new std::map<std::string, std::vector<Row>>;
    for (const std::string& line :
         fields_of(output_of("'" KILN_ARCHSPEC_PYTHON "' '" + script + "'"), '\n')) {
      Row row = fields_of(line, '\t');
      if (row.size() > 1) (*rows_)[row[0]].push_back(row);
    }
    cpus_ =
        new Microarchitectures(Microarchitectures::parse(read_text(KILN_ARCHSPEC_JSON), KILN_ARCHSPEC_JSON));
  }
  static void TearDownTestSuite() {
    delete rows_;
    delete cpus_;
  }

  // Asks `ours` for each row of this kind; the row's columns from `first` on are archspec's answer.
  template <typename Ours>
  static void compare(const std::string& kind, std::size_t first, std::size_t least_rows, Ours ours) {
    std::size_t differences = 0;
    for (const Row& row : (*rows_)[kind]) {
      const std::vector<std::string> theirs(row.begin() + static_cast<std::ptrdiff_t>(first), row.end());
      const std::vector<std::string> answer = ours(row);
      if (answer == theirs) continue;
      if (++differences > 10) continue;  // enough to see what is wrong
      EXPECT_EQ(answer, theirs) << fmt::format("{}", fmt::join(row, " | "));
    }
    EXPECT_EQ(differences, 0u);
    EXPECT_GT((*rows_)[kind].size(), least_rows);
  }

  static std::map<std::string, std::vector<Row>>* rows_;
  static Microarchitectures* cpus_;
};

std::map<std::string, std::vector<Row>>* ArchspecComparison::rows_ = nullptr;
Microarchitectures* ArchspecComparison::cpus_ = nullptr;

TEST_F(ArchspecComparison, FlagsOrTheMessageAreTheSame) {
  std::map<std::string, int> kinds;
  compare("flags", 4, 30'000, [&](const Row& row) {
    FlagsAnswer answer = cpus_->flags(row[1], row[2], row[3]);
    using Kind = FlagsAnswer::Kind;
    const std::string kind = answer.kind == Kind::flags              ? "flags"
                             : answer.kind == Kind::unknown_compiler ? "unknown_compiler"
                             : answer.kind == Kind::unsupported      ? "unsupported"
                                                                     : "invalid_version";
    ++kinds[kind];
    return Row{kind, answer.kind == Kind::flags ? answer.flags : answer.reason, answer.warning};
  });
  for (const char* kind : {"flags", "unknown_compiler", "unsupported", "invalid_version"})
    EXPECT_GT(kinds[kind], 1000);
}

TEST_F(ArchspecComparison, OrderIsTheSameForEveryPair) {
  compare("runs", 3, 5000, [](const Row& row) { return Row{cpus_->runs(row[1], row[2]) ? "1" : "0"}; });
}

TEST_F(ArchspecComparison, AncestorsAndFamilyAreTheSame) {
  compare("ancestors", 2, 70, [](const Row& row) {
    return Row{fmt::format("{}", fmt::join(cpus_->find(row[1])->ancestors, " "))};
  });
  compare("family", 2, 70, [](const Row& row) { return Row{cpus_->family(row[1])}; });
  EXPECT_EQ(cpus_->names().size(), (*rows_)["family"].size());
}

TEST_F(ArchspecComparison, FeaturesAreTheSame) {
  compare("feature", 3, 10'000,
          [](const Row& row) { return Row{cpus_->has_feature(row[1], row[2]) ? "1" : "0"}; });
}

TEST_F(ArchspecComparison, ProcessorsAreRecognisedAsArchspecDoes) {
  const fs::path folder = fs::path(KILN_ARCHSPEC_JSON).parent_path() / "../tests/targets";
  std::map<std::string, std::string> samples;
  compare("detect", 4, 2000, [&](const Row& row) {
    std::string& cpuinfo = samples[row[1]];
    if (cpuinfo.empty()) cpuinfo = read_text(folder / row[1]);
    return Row{cpus_->detect(row[3].empty() ? cpuinfo : without(cpuinfo, row[3]), row[2])};
  });
}

// archspec's own samples are named <platform>-<system>-<microarchitecture>.
TEST_F(ArchspecComparison, SamplesAreRecognisedAsTheirNamesSay) {
  int samples = 0;
  for (const auto& file :
       fs::directory_iterator(fs::path(KILN_ARCHSPEC_JSON).parent_path() / "../tests/targets")) {
    const std::string name = file.path().filename();
    if (!name.starts_with("linux-") && !name.starts_with("bgq-")) continue;
    const std::string expected = name.substr(name.rfind('-') + 1);
    EXPECT_EQ(cpus_->detect(read_text(file.path()), cpus_->family(expected)), expected) << name;
    ++samples;
  }
  EXPECT_GE(samples, 40);
}

// What archspec has for a compiler and version, best_flags finds unchanged; it says something more only
// elsewhere.
TEST_F(ArchspecComparison, BestFlagsNeverContradictArchspec) {
  int fallbacks = 0;
  int patch_releases = 0;
  for (const Row& row : (*rows_)["flags"]) {
    if (row[4] == "invalid_version") continue;
    // Where archspec stops at an ancestor before it looks at the version, only kiln sees that it is
    // ill-formed.
    std::optional<Microarchitectures::BestFlags> best;
    try {
      best = cpus_->best_flags(row[1], row[2], row[3]);
    } catch (const Error&) {
      EXPECT_EQ(cpus_->flags(cpus_->family(row[1]), row[2], row[3]).kind, FlagsAnswer::Kind::invalid_version);
      continue;
    }
    if (row[4] == "unknown_compiler") {
      EXPECT_FALSE(best) << row[1] << ' ' << row[2];
    } else if (row[4] == "flags") {
      ASSERT_TRUE(best);
      EXPECT_EQ(Row({best->target, best->flags, best->note}), Row({row[1], row[5], row[6]}))
          << row[2] << row[3];
    } else if (best) {
      EXPECT_TRUE(cpus_->runs(row[1], best->target));
      EXPECT_NE(best->note, "") << row[1] << ' ' << row[2] << ' ' << row[3];
      ++(best->target == row[1] ? patch_releases : fallbacks);
    }
  }
  EXPECT_GT(fallbacks, 1000);
  EXPECT_GT(patch_releases, 10);
}

}  // namespace
}  // namespace kiln
