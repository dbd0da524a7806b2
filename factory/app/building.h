// Decisions around a build: how many steps at a time, whether the disk has room, what is reported. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "factory/collect/disk_need.h"
#include "factory/plan/cell_patterns.h"
#include "factory/run/build.h"
#include "factory/run/cell_state.h"

namespace kiln {

inline constexpr int kMostJobs = 1024;

// How many steps at a time: `asked` unless that is 0, else $KILN_JOBS, else the site file's number, else 32
// for Slurm, which decides how many of them run, else half the processors + 1: the compiler or pip of one
// image fills the other half. Throws Error(usage) for a bad $KILN_JOBS.
int jobs_of(int asked, const Site& site, const std::map<std::string, std::string>& environment,
            int processors);

// What these images lack, by what the nearest kind of step and image wrote before.
DiskNeed need_of(const BuildPlan& plan, const ImageNumbers& images, const StateView& view, bool with_sif,
                 const KnownSizes& sizes);

// Why a build may not fit on the disk of `folder`, in words; "" if it fits as far as is known. Throws
// Error(store) if not even the smallest of its images would fit.
std::string room_warning(const DiskNeed& need, std::uint64_t available, const std::string& folder);

// The report if every image is whole; else nothing.
std::optional<BuildReport> nothing_to_do(const BuildPlan& plan, const ImageNumbers& images,
                                         const StateView& view);

// Adds the cells that cannot be planned as failed images, so that the others go on.
void add_broken(const BuildPlan& plan, const ChosenCells& chosen, BuildReport& report);

// Error of a build that was to make one image: its exit code is that of the report. nullopt: it is built.
std::optional<Error> why_unbuilt(const BuildReport& report);

}  // namespace kiln
