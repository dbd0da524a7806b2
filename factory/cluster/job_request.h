// The request of a step's job: machines, processors, memory and time; and the names that a site file uses.
// Pure.
#pragma once

#include <array>
#include <chrono>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/cpu/microarchitecture.h"
#include "factory/resolve/resolve.h"
#include "factory/site/launcher.h"
#include "factory/state/step_history.h"

namespace kiln {

struct PartitionNeed {
  std::string cpu;                        // archspec's name; "": any
  std::vector<std::string> accelerators;  // any of these: "nvidia:sm_90"; none: it needs none
};

// A step whose script gets the name of a processor is of an image for it. Accelerators are for tests alone:
// what compiles for one does without.
PartitionNeed partition_need(const Step& step);

// Throws Error(input) for a partition under a name that is neither a microarchitecture of archspec nor an
// accelerator. `file`: the site file, for the message.
void check_partitions(const SlurmSite& site, const Microarchitectures& cpus, const std::string& file);

// The partition of the accelerator, with its architecture or of its vendor alone; else the one of the nearest
// microarchitecture that runs code for the wanted one; else, and wherever the machines of "default" run it,
// "default".
SlurmPartition choose_partition(const SlurmSite& site, const PartitionNeed& need,
                                const Microarchitectures& cpus);

// The partitions and accounts that a site file names, and those that Slurm has. Pure.
struct SlurmNames {
  std::set<std::string> partitions, accounts;
};

// All that a job of this site may ask for, also in the words for sbatch: "--partition=a,b", "-A", "project".
SlurmNames names_of(const SlurmSite& site);

// Of `scontrol --oneliner show partition`.
std::set<std::string> partitions_in(std::string_view text);

// Of `sacctmgr --noheader --parsable2 show associations format=account`: one a line.
std::set<std::string> accounts_in(std::string_view text);

// Computes the request of a job: processors, memory and time, from earlier runs of the step and of similar
// ones. Pure.
//
// Memory is what step_need.h expects (a quarter more than the most that was seen, twice as much after a run
// that had too little), and the needs of kiln and its engine in addition. Time is the mean with three
// deviations and half as much again: a job that is killed has lost all of it, one that asks for too much
// waits a little longer. Processors are those that were kept busy and a quarter more, so that a step which
// could use more gets them the next time.

// `least`: what a job before it in this run did not have enough of (grown()); zero: there was none. Unknown
// values are those of the partition. Whole MiB and minutes; never more than the partition's most.
JobSize job_size(const SlurmPartition& partition, const PastRun& step, const std::vector<PastRun>& history,
                 const JobSize& least);

// Of a job that has a node to itself: no more is asked for than its time, at most the partition's.
JobSize whole_node_size(const SlurmPartition& partition, std::chrono::seconds time);
inline constexpr std::array kWholeNode = {"--exclusive", "--mem=0"};  // sbatch(1): all memory of the node

// After a job that had `had` and needed more: twice as much. Zero stays zero.
std::uint64_t grown_memory(std::uint64_t had);
std::chrono::seconds grown_time(std::chrono::seconds had);

// --cpus-per-task=4 --mem=2048M --time=90.
std::vector<std::string> size_words(const JobSize& size);

}  // namespace kiln
