// What a night builds and measures in which turn, and what it remarks of what is left. Pure. The budget is in
// night/budget.h, and what needs to be measured in night/measuring.h.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "factory/bench/suite.h"
#include "factory/night/budget.h"
#include "factory/night/measuring.h"
#include "factory/night/night.h"
#include "factory/run/build.h"
#include "registry/select/demand.h"

namespace kiln {

// Questions without a good answer, those that were asked most first; at most 100.
std::vector<Demand> unmet_demand(std::vector<Demand> all);

// Each image with its turn: stale if an image of its name is published, else asked if it would answer a
// question, else never. `asked`: how often, by image. `published`: names in the index.
std::vector<AgendaItem> agenda_items(const BuildPlan& plan, const ImageNumbers& images,
                                     const std::map<std::uint32_t, std::uint64_t>& asked,
                                     const std::set<std::string>& published);

// Adds a round to the report of the rounds before it.
void add_round(BuildReport& night, BuildReport round);

// Ids of the images that were not reached.
std::set<std::string> not_reached(const BuildReport& report);

// A session, and the workload that its images run.
struct PlannedSession {
  const SuiteWorkload* workload;
  MeasureSession session;
};
std::string text_of(const PlannedSession& planned);  // "mnist-cnn in 3 images of pytorch 2.6.0 (new)"
void sort_by_need(std::vector<PlannedSession>& agenda);

// Sets was_known and fell_back by what the last night knew of the image in this place, perhaps of other bits.
void remember(const NightImage& before, const MeasuredWorkload& place, MeasureCandidate& one);

// How many processors other processes keep busy at every one of three looks; 0: the machine is quiet. `look`:
// what they keep busy at one look. `processors`: of the machine.
double busy_at_every_look(const std::function<double()>& look, int processors);

// One for each workload of the sessions from `from` on, which are left for the next night.
std::vector<std::string> left_remarks(const std::vector<PlannedSession>& agenda, std::size_t from,
                                      const std::string& why);

// What to remark of a session of which `least` rounds count in some image: rounds may be cut off by the end
// of the budget, or left out because other processes disturbed them. "" = they are enough.
std::string rounds_remark(int least, const std::string& what);

}  // namespace kiln
