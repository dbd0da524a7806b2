#include "factory/run/suitable_cell.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "factory/package/package.h"
#include "factory/run/package_cell.h"
#include "factory/state/record_store.h"
#include "support/fake_effects.h"
#include "support/plan_fixture.h"
#include "support/tar_bytes.h"
#include "support/temporary_folder.h"

namespace kiln {
namespace {

// hello 1 and 2, stock and with a library that makes it fast, for zen3 and for any x86-64 processor; and a
// solver.
BuildPlan hello_plan(const std::vector<std::string>& versions = {"1", "2"}) {
  testing::Resolver resolver(
      {testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
       testing::RecipeDraft(Kind::library, "fast", {"1"}).method("distro", "f").optimised(),
       testing::RecipeDraft(Kind::framework, "solver", {"1"}).method("distro", "s"),
       testing::RecipeDraft(Kind::framework, "hello", {"2", "1"})
           .method("distro", "echo", {"KILN_VERSION"})});
  Matrix matrix =
      testing::matrix({testing::axis("framework", {"hello"}), testing::axis("version", versions),
                       testing::axis("library", {"none", "fast"}), testing::axis("base", {"debian"}),
                       testing::axis("target", {"zen3", "x86_64"})});
  matrix.groups.push_back({"solvers",
                           {testing::axis("framework", {"solver"}), testing::axis("version", {"1"}),
                            testing::axis("base", {"debian"}), testing::axis("target", {"x86_64"})},
                           {},
                           {}});
  return plan_matrix(std::move(matrix), resolver.input());
}

class SuitableCell : public ::testing::Test {
 protected:
  SuitableCell() {
    query.application = "Hello";
    query.opt_build = true;
    query.version = VersionRange::parse("2");
    host.known = true;
    host.description.cpu = "zen4";
  }

  CellQuestion question() const { return {query, host, testing::archspec(), published, with_sif, packaged}; }
  CellAnswer ask() const { return suitable_cell({&plan}, question()); }
  // The tag of the cell that would do, "" for none.
  std::string tag() const {
    const CellAnswer answer = ask();
    return answer.cell ? plan.image(answer.cell->image).tag() : "";
  }
  std::string failed() const {
    const CellAnswer answer = ask();
    EXPECT_FALSE(answer.cell);
    return answer.nearest ? plan.image(answer.nearest->image).tag() + ": " + answer.failed : "no cell";
  }
  // As the index has it.
  IndexEntry entry(const std::string& tag) const {
    for (std::uint32_t number : all_images(plan)) {
      if (plan.image(number).tag() != tag) continue;
      IndexEntry entry;
      entry.image = declared_record(plan.image(number).spec(), "amd64");
      entry.image.manifest = Digest::of(tag);
      return entry;
    }
    ADD_FAILURE() << "no cell " << tag;
    return {};
  }

  BuildPlan plan = hello_plan();
  ImageQuery query;
  Host host;
  std::vector<IndexEntry> published;
  bool with_sif = true;
  std::function<std::optional<ImageRecord>(const ResolvedImage&)> packaged;
};

constexpr const char* kBest = "2-distro-fast-zen3-trixie";

TEST_F(SuitableCell, IsTheOneThatSelectionWouldRankFirst) {
  EXPECT_EQ(tag(), kBest);
  EXPECT_EQ(ask().reasons.at(0), "built for zen3; host zen4 runs it");
  host.description.cpu = "haswell";
  EXPECT_EQ(tag(), "2-distro-fast-x86_64-trixie");
  host = {};
  EXPECT_EQ(tag(), "2-distro-fast-x86_64-trixie") << "the widest reach";
  query.opt_build = false;
  EXPECT_EQ(tag(), "2-distro-x86_64-trixie");
}

TEST_F(SuitableCell, WhereNoneWouldDoTheNearestSaysWhy) {
  query.version = VersionRange::parse("3");
  EXPECT_EQ(failed(), "1-distro-fast-x86_64-trixie: asks for 3; this is 1");
  query.version = {};
  host.description.cpu = "power9le";
  EXPECT_EQ(failed(), "1-distro-fast-x86_64-trixie: built for x86_64; host is ppc64le");
  query.application = "goodbye";
  EXPECT_EQ(failed(), "no cell");
}

TEST_F(SuitableCell, BitsThatAreRetiredOrFailingStaySo) {
  published = {entry(kBest)};
  published[0].retired = "wrong results";
  EXPECT_EQ(tag(), "2-distro-zen3-trixie") << "fast has the same bits for both targets";
  published.push_back(entry("2-distro-zen3-trixie"));
  published[1].failing = true;
  EXPECT_EQ(failed(), "2-distro-fast-x86_64-trixie: retired: wrong results");
  query.allow_failing = true;
  EXPECT_EQ(tag(), "2-distro-zen3-trixie");
}

TEST_F(SuitableCell, WhatIsPackagedCountsAsItWasFound) {
  packaged = [&](const ResolvedImage& cell) -> std::optional<ImageRecord> {
    if (cell.tag() != kBest) return std::nullopt;
    ImageRecord record = entry(kBest).image;
    record.evidence.verdict = "conforms";
    record.evidence.missing = {"libm.so.6"};
    return record;
  };
  EXPECT_EQ(tag(), "2-distro-fast-x86_64-trixie");
}

TEST_F(SuitableCell, HasASifWhereTheSiteWantsOne) {
  query.format = "sif";
  EXPECT_EQ(tag(), kBest);
  with_sif = false;
  EXPECT_EQ(failed(), "2-distro-fast-x86_64-trixie: asks for a SIF; this image was packaged without");
}

TEST_F(SuitableCell, AnImageOfTwoPlansIsThatOfTheFirst) {
  const BuildPlan other = hello_plan({"2"});
  const CellAnswer answer = suitable_cell({&plan, &other}, question());
  ASSERT_TRUE(answer.cell);
  EXPECT_EQ(answer.cell->plan, 0u);
  const BuildPlan ones = hello_plan({"1"});
  const CellAnswer second = suitable_cell({&ones, &other}, question());
  ASSERT_TRUE(second.cell);
  EXPECT_EQ(second.cell->plan, 1u);
  EXPECT_EQ(other.image(second.cell->image).tag(), kBest);
}

TEST_F(SuitableCell, WhatIsPackagedIsJudgedOnceMore) {
  ImageRecord record = entry(kBest).image;
  EXPECT_EQ(unfit(record, question()), "");
  record.evidence.verdict = "conforms";
  record.evidence.missing = {"libm.so.6"};
  EXPECT_NE(unfit(record, question()), "");
}

// Wheels of others, and a build of ours, for a GPU.
class GpuCells : public SuitableCell {
 protected:
  void make(const std::string& method) {
    testing::Resolver resolver({testing::RecipeDraft(Kind::base, "debian", {"trixie"}).rootfs(),
                                testing::RecipeDraft(Kind::framework, "hello", {"2"})
                                    .method(method, "echo")
                                    .fact("2", "wheel_sm", "7.5 9.0 12.0")});
    plan = plan_matrix(testing::matrix({testing::axis("framework", {"hello"}),
                                        testing::axis("version", {"2"}), testing::axis("base", {"debian"}),
                                        testing::axis("target", {"x86_64,nvidia:sm_90"})}),
                       resolver.input());
    query.acc_type = "nvidia";
  }
  std::string on(const std::string& gpu, const std::map<std::string, std::string>& facts) {
    host.description.accelerators = {"nvidia:" + gpu};
    CellQuestion asked = question();
    asked.fact = [&](const ComponentUse& component, const std::string& name) {
      const auto found = facts.find(name);
      return component.name != "hello" || found == facts.end() ? "" : found->second;
    };
    const CellAnswer answer = suitable_cell({&plan}, asked);
    return answer.cell ? "" : answer.failed;
  }
};

TEST_F(GpuCells, AWheelHasTheCodeThatItsFactsName) {
  make("pip");
  const std::map<std::string, std::string> facts{{"wheel_sm", "7.5 9.0 12.0"}};
  EXPECT_EQ(on("sm_90", facts), "");
  EXPECT_EQ(on("sm_100", facts), "has no code for nvidia:sm_100; found sm_75, sm_90, sm_120")
      << "no fact promises PTX";
  EXPECT_EQ(on("sm_100", {{"wheel_sm", "9.0"}, {"wheel_ptx", "9.0"}}), "");
  EXPECT_EQ(on("sm_100", {{"wheel_ptx", "9.0"}}), "");
  EXPECT_EQ(on("sm_90", {}), "") << "what is declared";
  EXPECT_EQ(on("sm_100", {}), "has no code for nvidia:sm_100; found sm_90");
}

TEST_F(GpuCells, WhatIsBuiltHereHasPtx) {
  make("source");
  EXPECT_EQ(on("sm_100", {{"wheel_sm", "7.5"}}), "") << "the wheel's code is not its own";
}

TEST_F(GpuCells, AnImageOfOthersHasNoWheel) {
  make("hub");
  EXPECT_EQ(on("sm_90", {{"wheel_sm", "7.5"}}), "");
  EXPECT_NE(on("sm_100", {{"wheel_sm", "7.5"}, {"wheel_ptx", "7.5"}}), "");
}

TEST(FactOf, IsThatOfTheVersion) {
  const testing::Resolver resolver({testing::RecipeDraft(Kind::framework, "hello", {"2", "1"})
                                        .method("pip")
                                        .fact("2", "wheel_ptx", "9.0")});
  const RecipeBook& recipes = resolver.input().recipes;
  ComponentUse use;
  use.kind = Kind::framework;
  use.name = "hello";
  use.version = Version("2");
  EXPECT_EQ(fact_of(use, "wheel_ptx", recipes), "9.0");
  EXPECT_EQ(fact_of(use, "wheel_sm", recipes), "");
  use.version = Version("1");
  EXPECT_EQ(fact_of(use, "wheel_ptx", recipes), "");
  use.name = "goodbye";
  EXPECT_EQ(fact_of(use, "wheel_ptx", recipes), "");
}

// The tiny catalogue's cells, each packaged for real from layers of two files.
class PackagedCells : public ::testing::Test {
 protected:
  PackagedCells() {
    const std::string tar = testing::short_tar({"d etc/", "f etc/os-release=ID=debian\n"});
    layer = {store.put(tar, std::string(media_type::kLayerTar)), Digest::of(tar), "", "a layer"};
  }

  BuildPlan tiny() const {
    const fs::path source = fs::path(KILN_TEST_DATA) / "tiny";
    const RecipeBook recipes = RecipeBook::read(files, {source / "recipes"});
    const TargetBook targets = TargetBook::read(files, source / "targets", testing::archspec());
    return plan_matrix(read_matrix(files, source / "tiny.json"), {recipes, targets, testing::archspec()});
  }
  ImageRecord package(const ImageSpec& spec) {
    StepRecord record;
    record.key = spec.last_step().key;
    record.chain.layers = {layer};
    record.chain.base.emplace().architecture = "amd64";
    RecordWriter(state, files).write(record);
    const auto failure =
        package_cell({spec, "tiny", site, state, files, clock, testing::archspec(), {}, "0.1", "0.2.7"});
    EXPECT_FALSE(failure) << failure->what;
    return RecordReader(state, files).image(record_name(spec)).value();
  }

  testing::TemporaryFolder folder;
  StatePaths state{folder / "state"};
  BlobStore store{state.store()};
  RealFileSystem files;
  testing::FakeClock clock;
  Site site;
  BuiltLayer layer;
};

// What was found, not declared: taken out.
Json declared_part(ImageRecord record) {
  record.manifest = {};
  record.size = 0;
  record.layout.clear();
  record.created.clear();
  record.evidence = {};
  record.attachments.clear();
  std::erase_if(record.labels,
                [](const auto& label) { return label.first.starts_with("io.kiln.evidence."); });
  return to_json(record);
}

TEST_F(PackagedCells, AreWhatTheyDeclaredBefore) {
  const BuildPlan plan = tiny();
  ASSERT_EQ(plan.size(), 7u);
  for (std::uint32_t number : all_images(plan)) {
    const ResolvedImage cell = plan.image(number);
    const ImageRecord declared = declared_record(cell.spec(), cell.architecture());
    EXPECT_EQ(to_json(declared), declared_part(package(cell.spec()))) << cell.id();
    EXPECT_EQ(declared.application, "hello");
  }
}

}  // namespace
}  // namespace kiln
