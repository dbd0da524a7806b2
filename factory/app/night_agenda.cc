#include "factory/app/night_agenda.h"

#include <algorithm>
#include <iterator>

namespace kiln {

std::vector<Demand> unmet_demand(std::vector<Demand> all) {
  constexpr std::size_t kMostQuestions = 100;
  std::erase_if(all, [](const Demand& one) { return one.outcome == Demand::Outcome::answered; });
  std::stable_sort(all.begin(), all.end(),
                   [](const Demand& a, const Demand& b) { return a.count > b.count; });
  if (all.size() > kMostQuestions) all.resize(kMostQuestions);
  return all;
}

std::vector<AgendaItem> agenda_items(const BuildPlan& plan, const ImageNumbers& images,
                                     const std::map<std::uint32_t, std::uint64_t>& asked,
                                     const std::set<std::string>& published) {
  std::vector<AgendaItem> items;
  for (std::uint32_t image : images) {
    const auto found = asked.find(image);
    const bool is_asked = found != asked.end();
    items.push_back({image, is_asked ? BudgetTurn::asked : BudgetTurn::never, is_asked ? found->second : 0});
    if (published.contains(plan.image(image).reference())) items.back().turn = BudgetTurn::stale;
  }
  return items;
}

void add_round(BuildReport& night, BuildReport round) {
  std::move(round.images.begin(), round.images.end(), std::back_inserter(night.images));
  night.steps_run += round.steps_run;
  night.steps_fetched += round.steps_fetched;
  for (const ForgedStep& step : round.forged) night.add(step);
  night.seconds += round.seconds;
  night.interrupted |= round.interrupted;
  if (!round.stopped.empty()) night.stopped = round.stopped;
}

std::set<std::string> not_reached(const BuildReport& report) {
  std::set<std::string> ids;
  for (const ImageOutcome& image : report.images)
    if (image.outcome == Outcome::not_reached) ids.insert(image.id);
  return ids;
}

}  // namespace kiln
