#include "factory/app/part_search.h"

#include <fmt/format.h>

#include <set>

#include "factory/bench/run.h"
#include "registry/select/gain.h"

namespace kiln {
namespace {

bool is_of_place(const Measurement& one, const MeasuredWorkload& place) {
  return is_speed_of(one.workload, place.workload, place.ranks, place.with_data) &&
         is_same_machine(one.host, place.host) && one.workload_files == place.files;
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

}  // namespace kiln
