// plan: ImageSpec… → BuildPlan. A graph of steps in which equal steps are one. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "plan/expand.h"
#include "plan/resolve.h"

namespace kiln {

// What a step is and what it is for.
struct PlannedImage {
  ImageSpec spec;
  std::vector<std::string> steps;  // keys it needs, in order of execution, build stages included
  std::vector<std::string> tests;  // keys
};

struct BuildPlan {
  std::string name;                   // of the matrix
  std::map<std::string, Step> steps;  // by key; tests included
  std::vector<PlannedImage> images;   // in cell order
  std::vector<ExcludedCell> excluded;
  std::vector<std::string> warnings;
  std::size_t steps_before_sharing = 0;
};

PlannedImage planned(ImageSpec spec);

// Throws Error(input) when two cells get one tag, naming both.
BuildPlan make_plan(const std::string& name, std::vector<ImageSpec> specs, std::vector<ExcludedCell> excluded,
                    std::vector<std::string> warnings);

// expand → resolve → plan in one go. Planner (planner.h) gives the same image by image.
BuildPlan plan_matrix(const Matrix& matrix, const ResolveInput& input);

// JSON of each stage, for `kiln show` and for plan.json in the state folder (read back by `kiln step`).
Json to_json(const ImageRequest& request);
Json to_json(const ImageSpec& spec);
Json to_json(const Step& step);
Json to_json(const ExcludedCell& cell);
Json to_json(const BuildPlan& plan);
// The same as text, appended to `out`; plan_text puts each cell and each step on a line of its own.
void append_json(std::string& out, const Step& step);
void append_json(std::string& out, const PlannedImage& image);
std::string plan_text(const BuildPlan& plan);
BuildPlan plan_from_json(const JsonDocument& document);

// Why an image has to be built, one line a changed input: "library/openblas: distro.sh changed (1a2b… →
// 3c4d…)". `before`: the same cell in the plan of the last build. Empty when nothing changed.
std::vector<std::string> explain_image(const ImageSpec& now, const ImageSpec& before);
// The same where the last plan does not have the cell, or there is no last plan.
std::vector<std::string> explain_new_image(bool last_plan);

}  // namespace kiln
