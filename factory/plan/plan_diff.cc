#include "plan/plan_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

namespace kiln {
namespace {

constexpr std::array kChanges = {CellChange::added, CellChange::removed, CellChange::changed,
                                 CellChange::retest, CellChange::retag};

std::string image_of(const PlannedImage& image) { return image.spec.repository + ":" + image.spec.tag; }

using ById = std::unordered_map<std::string, const PlannedImage*>;

ById by_id(const BuildPlan& plan) {
  ById images;
  for (const PlannedImage& image : plan.images) images.emplace(image.spec.request.id, &image);
  return images;
}

// Why a plan has no such cell.
class Exclusions {
 public:
  Exclusions(const BuildPlan& plan, const char* when) : when_(when) {
    for (const ExcludedCell& cell : plan.excluded) reasons_.try_emplace(cell_id(cell.axes), cell.reason);
  }
  // Nothing when it was not even asked for.
  std::vector<std::string> of(const std::string& id) const {
    auto found = reasons_.find(id);
    if (found == reasons_.end()) return {};
    return {fmt::format("{} excluded: {}", when_, found->second)};
  }

 private:
  const char* when_;
  std::unordered_map<std::string, std::string> reasons_;
};

std::vector<std::string> new_labels(const ImageSpec& before, const ImageSpec& now) {
  std::vector<std::string> lines;
  if (before.repository != now.repository || before.tag != now.tag)
    lines.push_back(
        fmt::format("name {}:{} → {}:{}", before.repository, before.tag, now.repository, now.tag));
  std::set<std::string> names;
  for (const auto* labels : {&before.labels, &now.labels})
    for (const auto& [name, value] : *labels) names.insert(name);
  auto value_of = [](const ImageSpec& spec, const std::string& name) {
    auto found = spec.labels.find(name);
    return found == spec.labels.end() ? "none" : fmt::format("'{}'", found->second);
  };
  for (const std::string& name : names)
    if (value_of(before, name) != value_of(now, name))
      lines.push_back(fmt::format("label {} {} → {}", name, value_of(before, name), value_of(now, name)));
  return lines;
}

// False when nothing differs.
bool compare_cells(const PlannedImage& before, const PlannedImage& now, CellDifference& difference) {
  difference.id = now.spec.request.id;
  difference.image = image_of(now);
  if (before.spec.key != now.spec.key || before.tests != now.tests) {
    difference.change = before.spec.key != now.spec.key ? CellChange::changed : CellChange::retest;
    difference.why = explain_image(now.spec, before.spec);
    return true;
  }
  difference.change = CellChange::retag;
  difference.why = new_labels(before.spec, now.spec);
  return !difference.why.empty();
}

}  // namespace

std::string_view name_of(CellChange change) {
  switch (change) {
    case CellChange::added:
      return "added";
    case CellChange::removed:
      return "removed";
    case CellChange::changed:
      return "changed";
    case CellChange::retest:
      return "re-test";
    case CellChange::retag:
      return "re-tag";
  }
  return "";
}

std::size_t PlanDifference::count(CellChange change) const {
  return static_cast<std::size_t>(std::count_if(
      cells.begin(), cells.end(), [&](const CellDifference& cell) { return cell.change == change; }));
}

PlanDifference compare_plans(const BuildPlan& before, const BuildPlan& now) {
  PlanDifference difference;
  ById old_images = by_id(before);
  ById images = by_id(now);
  Exclusions was(before, "was");
  Exclusions is(now, "now");
  for (const PlannedImage& image : now.images) {
    const std::string& id = image.spec.request.id;
    auto old_image = old_images.find(id);
    CellDifference cell{id, image_of(image), CellChange::added, {}};
    if (old_image == old_images.end())
      cell.why = was.of(id);
    else if (!compare_cells(*old_image->second, image, cell)) {
      ++difference.unchanged;
      continue;
    }
    difference.cells.push_back(std::move(cell));
  }
  for (const PlannedImage& image : before.images) {
    const std::string& id = image.spec.request.id;
    if (!images.contains(id))
      difference.cells.push_back({id, image_of(image), CellChange::removed, is.of(id)});
  }
  return difference;
}

Json to_json(const PlanDifference& difference) {
  Json cells = Json::array();
  for (const CellDifference& cell : difference.cells)
    cells.push_back(
        {{"id", cell.id}, {"image", cell.image}, {"change", name_of(cell.change)}, {"why", cell.why}});
  Json summary = {{"unchanged", difference.unchanged}};
  for (CellChange change : kChanges) summary[std::string(name_of(change))] = difference.count(change);
  return {{"cells", std::move(cells)}, {"summary", std::move(summary)}};
}

}  // namespace kiln
