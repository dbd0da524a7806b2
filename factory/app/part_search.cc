#include "factory/app/part_search.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "factory/app/ready_workload.h"
#include "factory/base/text.h"
#include "factory/bench/run.h"
#include "factory/run/bench.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

bool is_of_place(const Measurement& one, const MeasuredWorkload& place) {
  return is_speed_of(one.workload, place.workload, place.ranks, place.with_data) &&
         is_same_machine(one.host, place.host) && one.workload_files == place.files;
}

bool is_searched_axis(const std::string& axis) {
  return axis == "library" || axis == "compiler" || axis == "runtime";
}

}  // namespace

bool is_measured(const std::vector<const Measurements*>& images, const MeasuredWorkload& place) {
  std::map<std::string, std::size_t> sessions;  // how many of the images each has
  for (const Measurements* measurements : images) {
    std::set<std::string> of_image;
    for (const Measurement& one : *measurements)
      if (is_of_place(one, place) && one.rounds >= kProvingRounds) of_image.insert(one.session);
    for (const std::string& session : of_image)
      if (!session.empty() && ++sessions[session] == images.size()) return true;
  }
  return false;
}

SearchTry try_of(const SearchCell& cell, const SearchCell& over, const Measurements& of_cell,
                 const Measurements& of_over, const Measurements& of_stock, const MeasuredWorkload& place) {
  SearchTry tried{&cell, &over};
  std::map<std::string, const Measurement*> last;  // by metric
  for (const Measurement& one : of_cell)
    if (is_of_place(one, place)) last[one.workload] = &one;
  for (const auto& [metric, measured] : last) {
    const auto gain = gain_over(of_cell, of_over, *measured);
    if (!gain || gain->of != measured || (tried.gain && tried.gain->low <= gain->gain.low)) continue;
    tried.gain = gain->gain;
    tried.rounds = measured->rounds;
    tried.over_stock.reset();
    if (const auto stock = gain_over(of_cell, of_stock, *measured)) tried.over_stock = stock->gain;
  }
  return tried;
}

std::string reason_of(const WorkloadSearch& search, const SearchTry& one) {
  std::string text = search.workload + ": " + search_word(one);
  if (one.gain) text += fmt::format(", {}", gain_text(*one.gain, one.over->name));
  if (one.over_stock && one.over != search.start)
    text += fmt::format(", {}", gain_text(*one.over_stock, "stock"));
  return text;
}

SearchVerdicts verdicts_of(const std::vector<WorkloadSearch>& searches) {
  SearchVerdicts verdicts;
  std::set<std::uint32_t> on_the_way;
  for (const WorkloadSearch& search : searches) {
    const SearchTry* result = search_result(search.tries);
    for (const SearchTry& one : search.tries) {
      if (one.is_kept) on_the_way.insert(one.cell->image);
      if (&one == result)
        verdicts.kept[one.cell->image].push_back(reason_of(search, one));
      else if (one.gain)
        verdicts.refuted[one.cell->image].push_back(reason_of(search, one));
    }
  }
  std::erase_if(verdicts.refuted, [&](const auto& one) { return on_the_way.contains(one.first); });
  return verdicts;
}

SearchCell search_cell(const Catalogue& catalogue, std::uint32_t number) {
  const ImageSpec image = catalogue.plan.image(number).spec();
  SearchCell cell;
  cell.image = number;
  cell.name = image.repository + ":" + image.tag;
  cell.is_stock = is_stock(image, catalogue.recipes);
  for (const auto& [axis, value] : image.request.axes)
    if (!is_searched_axis(axis)) cell.base += fmt::format("{}={} ", axis, value);
  for (const ComponentUse& use : image.components)
    if (!use.automatic &&
        (use.kind == Kind::library || use.kind == Kind::compiler || use.kind == Kind::runtime))
      cell.parts.insert(fmt::format("{} {}", name_of(use.kind), use.written));
  return cell;
}

PartSearch::PartSearch(const PartSearchSetup& setup, PartSearchEffects effects)
    : setup_(setup), effects_(std::move(effects)) {
  read_index();
}

std::vector<WorkloadSearch> PartSearch::run(const BenchWork& work, const std::vector<SearchCell>& cells) {
  std::vector<WorkloadSearch> searches;
  for (const SearchCell* start : search_starts(cells)) {
    WorkloadSearch search{work.workload, start};
    for (const SearchCell* over = start; over != nullptr;) over = add_one(work, *start, *over, cells, search);
    if (!search.tries.empty()) searches.push_back(std::move(search));
  }
  return searches;
}

const SearchCell* PartSearch::add_one(const BenchWork& work, const SearchCell& start, const SearchCell& over,
                                      const std::vector<SearchCell>& cells, WorkloadSearch& search) {
  const std::vector<const SearchCell*> additions = ready(additions_to(over, cells));
  if (additions.empty() || ready({&start}).empty()) return nullptr;
  ImageNumbers images = {start.image};
  if (&over != &start) images.push_back(over.image);
  for (const SearchCell* one : additions) images.push_back(one->image);
  effects_.note(
      fmt::format("search  {}: {} to {}", work.workload, counted(additions.size(), "addition"), over.name));
  const MeasuredWorkload place = measure(work, images);
  std::vector<SearchTry> tries;
  for (const SearchCell* one : additions)
    tries.push_back(try_of(*one, over, measurements_of(key_of(*one)), measurements_of(key_of(over)),
                           measurements_of(key_of(start)), place));
  const SearchCell* kept = keep_best(tries);
  for (SearchTry& one : tries) search.tries.push_back(std::move(one));
  return kept;
}

std::string PartSearch::key_of(const SearchCell& cell) const {
  return setup_.catalogue.plan.image(cell.image).key();
}

bool PartSearch::is_ready(const SearchCell& cell) const {
  const std::string step = setup_.catalogue.plan.image(cell.image).spec().last_step().key;
  return entries_.contains(key_of(cell)) && setup_.files.exists(setup_.state.step(step));
}

std::vector<const SearchCell*> PartSearch::ready(std::vector<const SearchCell*> cells) {
  ImageNumbers missing;
  for (const SearchCell* cell : cells)
    if (!is_ready(*cell)) missing.push_back(cell->image);
  if (missing.empty()) return cells;
  if (effects_.build) {
    effects_.build(missing);
    read_index();
  }
  std::erase_if(cells, [this](const SearchCell* cell) {
    if (is_ready(*cell)) return false;
    effects_.note(
        fmt::format("search  {}: passed over, as it is {}", cell->name,
                    effects_.build ? "not built" : "not built and published; --build-if-missing does"));
    return true;
  });
  return cells;
}

MeasuredWorkload PartSearch::measure(const BenchWork& work, const ImageNumbers& images) {
  const std::string files = workload_sum(workload_named(setup_.catalogue.recipes, work.workload)).hex();
  MeasuredWorkload place{work.workload, work.wishes.ranks, !work.wishes.data.empty(), files, effects_.host()};
  std::vector<const Measurements*> known;
  for (std::uint32_t image : images)
    known.push_back(&measurements_of(setup_.catalogue.plan.image(image).key()));
  if (work.again || !is_measured(known, place)) {
    BenchWork now = work;
    now.again = true;  // the cells that are known take their turns, too
    effects_.bench(now, images);
    read_index();
  }
  return place;
}

const Measurements& PartSearch::measurements_of(const std::string& key) const {
  static const Measurements kNone;
  const auto entry = entries_.find(key);
  return entry == entries_.end() ? kNone : entry->second.measurements;
}

void PartSearch::read_index() {
  entries_.clear();
  for (IndexEntry& entry : effects_.entries()) entries_.emplace(entry.image.key, std::move(entry));
}

}  // namespace kiln
