// The GitLab child pipeline:
//
//   {"stages": ["build", "publish"],
//    ".cell": {"stage": "build", "needs": [{"pipeline": "$PARENT_PIPELINE_ID", "job": "plan"}],
//              "artifacts": {"when": "always", "paths": […]}},
//    "cell ID": {"extends": ".cell", "script": ["kiln build … ID"]}, …,
//    "tools": {"stage": "build", "needs": …, "artifacts": {"paths": ["kiln/"]}},
//    "publish": {"stage": "publish", "when": "always", "script": ["kiln publish …"], …}}
//
// `publish` has no `needs`: a stage waits for the one before it and gets all its artifacts, where `needs` is
// limited to 50 jobs and ends the waiting (docs.gitlab.com/ci/yaml/#needs). Hence `tools`, which hands on the
// parent pipeline's kiln/.
#include "factory/report/pipelines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "factory/base/quote.h"
#include "factory/render/render.h"

namespace kiln {
namespace {

// Relative to the checkout: GitLab takes no artifacts from elsewhere.
constexpr const char* kState = ".kiln";

Json github_cell(const ResolvedImage& image) {
  ImageRequest request = image.request();
  return {{"id", std::move(request.id)},
          {"image", image.reference()},
          {"axes", std::move(request.axes)},
          {"platform", "linux/" + image.architecture()}};
}

// It has no tag: its id is its name.
Json github_cell(const BrokenCell& cell) {
  Json json{{"id", cell.request.id}, {"image", cell.request.id}, {"axes", cell.request.axes}};
  json["platform"] = "linux/" + (cell.architecture.empty() ? "amd64" : cell.architecture);
  return json;
}

// What `kiln publish` needs of a job, the tests that passed and failed among it, and its logs.
Json artifact_paths() {
  Json paths = Json::array();
  for (const char* folder : {"built", "tests", "failed", "images", "store", "logs"})
    paths.push_back(std::string(kState) + "/" + folder + "/");
  return paths;
}

Json plan_job_artifacts() { return Json::array({{{"pipeline", "$PARENT_PIPELINE_ID"}, {"job", "plan"}}}); }

}  // namespace

std::vector<Json> github_matrices(const BuildPlan& plan, const JobCells& cells, std::size_t most) {
  std::vector<Json> all;
  for (std::uint32_t image : cells.images) all.push_back(github_cell(plan.image(image)));
  for (std::uint32_t cell : cells.broken) all.push_back(github_cell(plan.broken(cell)));
  std::vector<Json> chunks;
  for (std::size_t start = 0; start == 0 || start < all.size(); start += most) {
    Json include = Json::array();
    for (std::size_t i = start; i < std::min(all.size(), start + most); ++i)
      include.push_back(std::move(all[i]));
    chunks.push_back({{"include", std::move(include)}});
  }
  return chunks;
}

Json gitlab_pipeline(const BuildPlan& plan, const JobCells& cells, const GitlabOptions& options) {
  const std::string kiln = quote_shell(options.kiln);
  const std::string which = " -f " + quote_shell(options.matrix) + " --state " + kState;
  if (cells.size() == 0)
    return {{"nothing to build",
             {{"script", Json::array({"echo 'every cell is built'"})}, {"needs", Json::array()}}}};
  Json pipeline{{"stages", {"build", "publish"}}};
  pipeline[".cell"] = {
      {"stage", "build"},
      {"needs", plan_job_artifacts()},
      {"artifacts", {{"when", "always"}, {"expire_in", "1 week"}, {"paths", artifact_paths()}}}};
  auto add = [&](const std::string& id) {
    pipeline["cell " + id] = {
        {"extends", ".cell"},
        {"script", Json::array({kiln + " build" + which + " --progress plain " + quote_shell(id)})}};
  };
  for (std::uint32_t image : cells.images) add(plan.image(image).id());
  for (std::uint32_t cell : cells.broken) add(plan.broken(cell).request.id);
  pipeline["tools"] = {{"stage", "build"},
                       {"needs", plan_job_artifacts()},
                       {"script", Json::array({"true"})},
                       {"artifacts", {{"expire_in", "1 week"}, {"paths", Json::array({"kiln/"})}}}};
  pipeline["publish"] = {{"stage", "publish"},
                         {"when", "always"},
                         {"script", Json::array({kiln + " publish" + which})},
                         {"artifacts", {{"paths", Json::array({std::string(kState) + "/"})}}}};
  return pipeline;
}

}  // namespace kiln
