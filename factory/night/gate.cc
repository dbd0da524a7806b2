#include "factory/night/gate.h"

#include <map>

#include "factory/plan/cell_patterns.h"

namespace kiln {

std::vector<GateCells> find_gates(const std::vector<GateRule>& rules, const BuildPlan& plan) {
  std::vector<GateCells> gates;
  for (const GateRule& rule : rules) {
    ChosenCells chosen;
    try {
      chosen = match_cells(plan, {rule.cells, {}});
    } catch (Error& error) {
      error.while_doing("looking for the cells of the gate '" + rule.name + "'");
      throw;
    }
    GateCells gate{rule.name, {}};
    for (std::uint32_t image : chosen.images) gate.cells.push_back(plan.image(image).id());
    for (std::uint32_t cell : chosen.broken) gate.cells.push_back(plan.broken(cell).request.id);
    gates.push_back(std::move(gate));
  }
  return gates;
}

std::vector<GateJob> look_at_gates(const std::vector<GateCells>& gates,
                                   const std::vector<NightImage>& images) {
  std::map<std::string_view, const NightImage*> by_cell;
  for (const NightImage& image : images) by_cell.emplace(image.cell, &image);
  std::vector<GateJob> jobs;
  for (const GateCells& gate : gates) {
    GateJob job{gate.name, gate.cells.size(), {}};
    for (const std::string& cell : gate.cells) {
      auto found = by_cell.find(cell);
      if (found == by_cell.end())
        job.missing.push_back(cell);
      else if (!is_good(found->second->verdict) && found->second->verdict != Verdict::no_machine)
        job.missing.push_back(found->second->name);
    }
    jobs.push_back(std::move(job));
  }
  return jobs;
}

bool is_open(const std::vector<GateJob>& jobs) {
  for (const GateJob& job : jobs)
    if (!job.missing.empty()) return false;
  return true;
}

}  // namespace kiln
