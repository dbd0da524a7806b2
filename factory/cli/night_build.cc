
#include "factory/app/night_agenda.h"
#include "factory/cli/build_images.h"
#include "factory/cli/night_work.h"
#include "factory/run/cell_state.h"
#include "factory/run/forecast.h"
#include "factory/run/suitable_cell.h"
#include "factory/state/step_history.h"
#include "registry/select/demand.h"

namespace kiln {
namespace {

// The cells that would answer what was asked and had no good answer, and how often it was asked.
std::map<std::uint32_t, std::uint64_t> asked_cells(const Catalogue& catalogue, const Index* index,
                                                   Invocation& invocation) {
  std::map<std::uint32_t, std::uint64_t> asked;
  const std::vector<Demand> unmet = unmet_demand(read_demand(invocation.state().root()));
  if (unmet.empty()) return asked;
  const std::vector<IndexEntry> published = index != nullptr ? index->entries() : std::vector<IndexEntry>();
  const auto named = invocation.graph_compilers({});
  const std::set<std::string> compilers(named.begin(), named.end());
  for (const Demand& demand : unmet) {
    const auto query = query_of(demand, compilers);
    if (!query) continue;
    const Host host = host_of(demand);
    const auto fact = [&](const ComponentUse& component, const std::string& name) {
      return fact_of(component, name, catalogue.recipes);
    };
    const CellAnswer answer = suitable_cell(
        {&catalogue.plan}, {*query, host, invocation.cpus(), published, invocation.site().sif, {}, fact});
    if (answer.cell) asked[answer.cell->image] += demand.count;
  }
  return asked;
}

class NightBuilder {
 public:
  NightBuilder(const Catalogue& catalogue, const NightTerms& terms, const Site& site, Invocation& invocation,
               NightBuild& night)
      : catalogue_(catalogue),
        plan_(catalogue.plan),
        terms_(terms),
        site_(site),
        invocation_(invocation),
        state_(invocation.state()),
        names_(state_, invocation.files),
        night_(night) {}

  void run() {
    look();
    if (terms_.budget.count() == 0) return build(all_images(plan_));
    const std::int64_t end = invocation_.clock.unix_seconds() + terms_.budget.count();
    const NightAgenda agenda = make_agenda();
    for (std::uint32_t image : agenda.no_time) night_.no_time.insert(plan_.image(image).id());
    build(whole_);  // nothing of it runs, and it is in the report
    for (const ImageNumbers& round : agenda.rounds) {
      if (night_.report.interrupted || !night_.report.stopped.empty()) break;
      build(round, agenda.has_no_end ? 0 : end);
    }
    if (invocation_.clock.unix_seconds() >= end) night_.no_time.merge(not_reached(night_.report));
  }

 private:
  void look() {
    const StateView view(plan_, site_, state_, invocation_.files, names_, terms_.moved);
    for (std::uint32_t number : all_images(plan_)) {
      const ResolvedImage image = plan_.image(number);
      ExplainedState cell = view.explain(image);
      if (cell.state == CellState::built) {
        whole_.push_back(number);
        continue;
      }
      lacking_.push_back(number);
      night_.why.emplace(image.id(), std::move(cell.why));
    }
    if (!lacking_.empty()) look_for_room(plan_, lacking_, view, site_, invocation_);
  }

  NightAgenda make_agenda() {
    std::optional<Index> index;
    if (invocation_.has_index()) index.emplace(invocation_.index(Index::Mode::read));
    std::set<std::string> published;
    if (index)
      for (const IndexEntry& entry : index->entries()) published.insert(entry.image.name());
    const auto asked = asked_cells(catalogue_, index ? &*index : nullptr, invocation_);
    const std::vector<PastRun> history = read_history(state_.history());
    const int jobs = jobs_of(terms_.jobs, site_, invocation_.environment);
    return agenda_of(agenda_items(plan_, lacking_, asked, published),
                     static_cast<double>(terms_.budget.count()), [&](const ImageNumbers& images) {
                       const auto left = forecast_of(plan_, images, names_, history, jobs).left(0);
                       return left ? left->seconds : 0;
                     });
  }

  void build(const ImageNumbers& images, std::int64_t no_step_after = 0) {
    if (images.empty()) return;
    add_round(night_.report,
              build_images(catalogue_, images, {terms_.jobs, false, no_step_after}, site_, invocation_));
  }

  const Catalogue& catalogue_;
  const BuildPlan& plan_;
  const NightTerms& terms_;
  const Site& site_;
  Invocation& invocation_;
  const StatePaths state_;
  StateNames names_;
  NightBuild& night_;
  ImageNumbers whole_, lacking_;
};

}  // namespace

void build_for_night(const Catalogue& catalogue, const NightTerms& terms, const Site& site,
                     Invocation& invocation, NightBuild& night) {
  NightBuilder(catalogue, terms, site, invocation, night).run();
}

}  // namespace kiln
