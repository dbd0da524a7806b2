// The course of a night's measuring: what an earlier night knew, and what the night remarks. Pure. What is
// measured is decided in night/measuring.h.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "factory/bench/suite.h"
#include "factory/night/measuring.h"
#include "factory/night/night.h"

namespace kiln {

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
