// Cells as jobs of a CI system: one job a cell. Pure and byte-stable.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "factory/base/json.h"
#include "factory/plan/build_plan.h"

namespace kiln {

// GitHub refuses a matrix of more jobs than this (docs.github.com: "a matrix will generate a maximum of 256
// jobs per workflow run").
inline constexpr std::size_t kGithubJobs = 256;

// The cells that become jobs. A broken cell becomes a separate job that fails, so that it is visible in the
// pipeline and stops no other job.
struct JobCells {
  ImageNumbers images;
  std::vector<std::uint32_t> broken;
  std::size_t size() const { return images.size() + broken.size(); }
};

// `strategy.matrix` objects for fromJSON, each {"include": [{"id", "image", "axes", "platform"}, …]} of at
// most `most` cells. Without cells: one object with an empty list, which GitHub refuses to run: ask before.
// REQUIRES: most > 0.
std::vector<Json> github_matrices(const BuildPlan& plan, const JobCells& cells,
                                  std::size_t most = kGithubJobs);

struct GitlabOptions {
  std::string matrix;  // file, as the jobs see it
  std::string kiln = "kiln";
};

// A child pipeline (docs.gitlab.com/ci/pipelines/downstream_pipelines): a job for each cell, and one that
// publishes what they built. Jobs need the job `plan` of the pipeline that $PARENT_PIPELINE_ID names, so
// none waits for another. JSON is YAML: GitLab reads it as it is. Without cells: one job that says so, as
// GitLab refuses an empty pipeline.
Json gitlab_pipeline(const BuildPlan& plan, const JobCells& cells, const GitlabOptions& options);

}  // namespace kiln
