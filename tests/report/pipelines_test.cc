#include "factory/report/pipelines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "support/plan_fixture.h"

namespace kiln {
namespace {

using testing::axis;
using testing::Resolver;

const BuildPlan& demo_plan() {
  static const BuildPlan plan = plan_matrix(
      testing::matrix({axis("framework", {"pytorch", "jax"}), axis("library", {"none", "openblas"}),
                       axis("base", {"debian@trixie"}), axis("target", {"x86_64_v3", "neoverse_v1"}, 9)}),
      Resolver().input());
  return plan;
}

ImageNumbers cells() { return all_images(demo_plan()); }

TEST(GithubMatrices, HaveOneEntryACell) {
  auto chunks = github_matrices(demo_plan(), {cells(), {}});
  ASSERT_EQ(chunks.size(), 1u);
  const Json& include = chunks[0].at("include");
  ASSERT_EQ(include.size(), demo_plan().size());
  const ImageSpec spec = demo_plan().image(0).spec();
  EXPECT_EQ(include[0], (Json{{"id", spec.request.id},
                              {"image", spec.repository + ":" + spec.tag},
                              {"axes", spec.request.axes},
                              {"platform", "linux/amd64"}}));
  EXPECT_EQ(include[1].at("platform"), "linux/arm64") << "what the runner is chosen by";
}

TEST(GithubMatrices, AreNeverLargerThanGithubTakes) {
  ImageNumbers many;
  for (std::uint32_t i = 0; i < 600; ++i) many.push_back(i % static_cast<std::uint32_t>(demo_plan().size()));
  auto chunks = github_matrices(demo_plan(), {many, {}});
  ASSERT_EQ(chunks.size(), 3u);
  EXPECT_EQ(chunks[0].at("include").size(), 256u);
  EXPECT_EQ(chunks[1].at("include").size(), 256u);
  EXPECT_EQ(chunks[2].at("include").size(), 88u);
  many.resize(512);
  EXPECT_EQ(github_matrices(demo_plan(), {many, {}}).size(), 2u) << "no empty chunk at the end";
}

TEST(GithubMatrices, LoseNoCellAndKeepTheOrder) {
  std::vector<std::string> ids;
  for (const Json& chunk : github_matrices(demo_plan(), {cells(), {}}, 3))
    for (const Json& entry : chunk.at("include")) ids.push_back(entry.at("id"));
  std::vector<std::string> wanted;
  for (std::uint32_t cell : cells()) wanted.push_back(demo_plan().image(cell).id());
  EXPECT_EQ(ids, wanted);
}

TEST(GithubMatrices, AreThereWithoutCells) {
  EXPECT_EQ(github_matrices(demo_plan(), {}), std::vector<Json>{Json::parse(R"({"include": []})")});
}

TEST(GitlabPipeline, HasAJobACellThatNeedsOnlyThePlan) {
  Json pipeline = gitlab_pipeline(demo_plan(), {cells(), {}}, {"matrix/it's.json"});
  EXPECT_EQ(pipeline.at(".cell").at("needs"),
            Json::parse(R"([{"pipeline": "$PARENT_PIPELINE_ID", "job": "plan"}])"));
  EXPECT_EQ(pipeline.at(".cell").at("artifacts").at("when"), "always")
      << "the log of a failed job is wanted most";
  for (std::uint32_t cell : cells()) {
    const std::string id = demo_plan().image(cell).id();
    const Json& job = pipeline.at("cell " + id);
    EXPECT_EQ(job.at("extends"), ".cell");
    EXPECT_EQ(job.at("script"),
              Json::array(
                  {"'kiln' build -f 'matrix/it'\"'\"'s.json' --state .kiln --progress plain '" + id + "'"}));
  }
  EXPECT_EQ(pipeline.size(), cells().size() + 4) << "and: stages, .cell, tools, publish";
}

TEST(GitlabPipeline, PublishesWhatWasBuiltEvenWhenACellFailed) {
  const Json publish = gitlab_pipeline(demo_plan(), {cells(), {}}, {"m.json"}).at("publish");
  EXPECT_EQ(publish.at("stage"), "publish");
  EXPECT_EQ(publish.at("when"), "always");
  EXPECT_FALSE(publish.contains("needs")) << "GitLab takes at most 50; a stage waits for all jobs before it";
}

TEST(GitlabPipeline, IsNeverEmpty) {
  Json pipeline = gitlab_pipeline(demo_plan(), {}, {"m.json"});
  ASSERT_EQ(pipeline.size(), 1u);
  EXPECT_TRUE(pipeline.begin().value().contains("script"));
}

}  // namespace
}  // namespace kiln
