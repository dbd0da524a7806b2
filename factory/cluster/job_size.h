// What a job asks for: processors, memory and time, from what the step and those like it took. Pure.
//
// Memory is what step_need.h expects (a quarter more than the most that was seen, twice as much after a run
// that had too little), and what kiln and its engine need beside it. Time is the mean with three deviations
// and half as much again: a job that is killed has lost all of it, one that asks for too much waits a little
// longer. Processors are those that were kept busy and a quarter more, so that a step which could use more
// gets them the next time.
#pragma once

#include <vector>

#include "factory/site/slurm_site.h"
#include "factory/state/step_history.h"

namespace kiln {

// `least`: what a job before it in this run did not have enough of (grown()); zero: there was none. What
// nothing is known of is as the place says. Whole MiB and minutes; never more than the place's most.
JobSize job_size(const SlurmPlace& place, const PastRun& step, const std::vector<PastRun>& history,
                 const JobSize& least);

// After a job that had `had` and needed more: twice as much. Zero stays zero.
std::uint64_t grown_memory(std::uint64_t had);
std::chrono::seconds grown_time(std::chrono::seconds had);

// --cpus-per-task=4 --mem=2048M --time=90.
std::vector<std::string> size_words(const JobSize& size);

}  // namespace kiln
