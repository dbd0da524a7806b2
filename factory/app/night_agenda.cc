#include "factory/app/night_agenda.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "factory/base/text.h"
#include "factory/bench/conditions.h"
#include "factory/bench/run.h"
#include "factory/night/night_gains.h"

namespace kiln {

std::vector<Demand> unmet_demand(std::vector<Demand> all) {
  constexpr std::size_t kMostQuestions = 100;
  std::erase_if(all, [](const Demand& one) { return one.outcome == Demand::Outcome::answered; });
  std::ranges::stable_sort(all, [](const Demand& a, const Demand& b) { return a.count > b.count; });
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

std::string text_of(const PlannedSession& planned) {
  return fmt::format("{} in {} of {} ({})", planned.workload->name,
                     counted(planned.session.images.size(), "image"), planned.session.group,
                     name_of(planned.session.need));
}

void sort_by_need(std::vector<PlannedSession>& agenda) {
  std::ranges::stable_sort(agenda, {}, [](const PlannedSession& one) { return one.session.need; });
}

void remember(const NightImage& before, const MeasuredWorkload& place, MeasureCandidate& one) {
  const std::string machine = gain_place("", place.host);
  for (const auto& [where, gain] : before.gains) {
    if (!where.ends_with(machine)) continue;
    const std::string speed = where.substr(0, where.size() - machine.size());
    if (!is_speed_of(speed, place.workload, place.ranks, place.with_data)) continue;
    one.was_known = true;
    one.fell_back = one.fell_back || gain.fell != 0;
  }
}

double busy_at_every_look(const std::function<double()>& look, int processors) {
  constexpr int kLooks = 3;
  double busy = 0;
  for (int number = 0; number < kLooks; ++number) {
    busy = look();
    if (!is_under_load(busy, processors)) return 0;
  }
  return busy;
}

std::vector<std::string> left_remarks(const std::vector<PlannedSession>& agenda, std::size_t from,
                                      const std::string& why) {
  std::map<std::string, std::size_t> images;  // by workload
  for (std::size_t i = from; i < agenda.size(); ++i)
    images[agenda[i].workload->name] += agenda[i].session.images.size();
  std::vector<std::string> remarks;
  for (const auto& [workload, count] : images)
    remarks.push_back(fmt::format("not measured: {} in {}: {}; the next night goes on", workload,
                                  counted(count, "image"), why));
  return remarks;
}

std::string rounds_remark(int least, const std::string& what) {
  if (least >= kProvingRounds) return "";
  return fmt::format("{}: {} of {} rounds count: the next night goes on", what, least, kProvingRounds);
}

}  // namespace kiln
