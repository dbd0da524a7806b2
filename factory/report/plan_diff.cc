#include "factory/report/plan_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "factory/base/enum_names.h"
#include "factory/report/explain.h"

namespace kiln {
namespace {

constexpr auto kChanges = enum_names<CellChange>({{CellChange::added, "added"},
                                                  {CellChange::removed, "removed"},
                                                  {CellChange::changed, "changed"},
                                                  {CellChange::retest, "re-test"},
                                                  {CellChange::retag, "re-tag"}});

std::string image_of(const ImageSpec& spec) { return spec.repository + ":" + spec.tag; }

// Numbers by id.
std::unordered_map<std::string, std::size_t> by_id(const PlanImages& plan) {
  std::unordered_map<std::string, std::size_t> numbers;
  for (std::size_t number = 0; number < plan.size; ++number)
    numbers.emplace(plan.image(number).request.id, number);
  return numbers;
}

std::vector<std::string> keys_of(const std::vector<Step>& steps) {
  std::vector<std::string> keys;
  for (const Step& step : steps) keys.push_back(step.key);
  return keys;
}

// Why a plan has no such cell.
class Exclusions {
 public:
  Exclusions(const PlanImages& plan, const char* when) : when_(when) {
    for (const auto& [id, error] : plan.broken) reasons_.try_emplace(id, "broken: " + error);
    for (const ExcludedCell& cell : plan.excluded)
      reasons_.try_emplace(cell_id(cell.axes), "excluded: " + cell.reason);
  }
  // Nothing when it was not even asked for.
  std::vector<std::string> of(const std::string& id) const {
    auto found = reasons_.find(id);
    if (found == reasons_.end()) return {};
    return {fmt::format("{} {}", when_, found->second)};
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
bool compare_cells(const ImageSpec& before, const ImageSpec& now, const std::vector<LockChange>& moved,
                   CellDifference& difference) {
  if (before.key != now.key || keys_of(before.tests) != keys_of(now.tests)) {
    difference.change = before.key != now.key ? CellChange::changed : CellChange::retest;
    difference.why = explain_image(now, before, moved);
    return true;
  }
  difference.change = CellChange::retag;
  difference.why = new_labels(before, now);
  return !difference.why.empty();
}

}  // namespace

std::string_view name_of(CellChange change) { return kChanges.of(change); }

std::size_t PlanDifference::count(CellChange change) const {
  return static_cast<std::size_t>(std::ranges::count(cells, change, &CellDifference::change));
}

PlanImages images_of(const BuildPlan& plan) {
  PlanImages images{plan.size(), [&plan](std::size_t number) { return plan.image(number).spec(); }, {}, {}};
  for (std::size_t number = 0; number < plan.excluded(); ++number)
    images.excluded.push_back(plan.excluded(number));
  for (std::size_t number = 0; number < plan.broken(); ++number) {
    const BrokenCell cell = plan.broken(number);
    images.broken.emplace(cell.request.id, cell.why.format(""));
  }
  return images;
}

PlanImages images_of(const PlanDocument& plan) {
  return {plan.images.size(), [&plan](std::size_t number) { return plan.images[number]; }, plan.excluded,
          plan.broken};
}

PlanDifference compare_plans(const PlanImages& before, const PlanImages& now,
                             const std::vector<LockChange>& moved) {
  PlanDifference difference;
  const auto old_numbers = by_id(before);
  std::unordered_set<std::string> ids;
  const Exclusions was(before, "was");
  const Exclusions is(now, "now");
  for (std::size_t number = 0; number < now.size; ++number) {
    const ImageSpec image = now.image(number);
    const std::string& id = *ids.insert(image.request.id).first;
    CellDifference cell{id, image_of(image), CellChange::added, {}};
    const auto old_number = old_numbers.find(id);
    if (old_number == old_numbers.end())
      cell.why = was.of(id);
    else if (!compare_cells(before.image(old_number->second), image, moved, cell)) {
      ++difference.unchanged;
      continue;
    }
    difference.cells.push_back(std::move(cell));
  }
  for (std::size_t number = 0; number < before.size; ++number) {
    const ImageSpec image = before.image(number);
    const std::string& id = image.request.id;
    if (!ids.contains(id)) difference.cells.push_back({id, image_of(image), CellChange::removed, is.of(id)});
  }
  return difference;
}

Json to_json(const PlanDifference& difference) {
  Json cells = Json::array();
  for (const CellDifference& cell : difference.cells)
    cells.push_back(
        {{"id", cell.id}, {"image", cell.image}, {"change", name_of(cell.change)}, {"why", cell.why}});
  Json summary = {{"unchanged", difference.unchanged}};
  for (const auto& [change, name] : kChanges.rows) summary[std::string(name)] = difference.count(change);
  return {{"cells", std::move(cells)}, {"summary", std::move(summary)}};
}

}  // namespace kiln
