#include "factory/cluster/job_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/state/step_need.h"

namespace kiln {
namespace {

constexpr std::uint64_t kOneMiB = 1u << 20;
constexpr std::uint64_t kOfKiln = 256 * kOneMiB;  // kiln step, the engine, and files that are being written
constexpr double kMarginOfTime = 1.5;
constexpr double kLeastTime = 600;  // seconds: the start of a job, a slow file system
constexpr double kMarginOfCpus = 1.25;

template <typename Value>
Value at_most(Value value, Value most) {
  return most > Value{} ? std::min(value, most) : value;
}

int cpus_for(const SlurmPlace& place, double busy) {
  if (busy <= 0) return place.usual.cpus;
  const int used = std::max(1, static_cast<int>(std::ceil(busy)));
  const int more = std::max(1, static_cast<int>(std::ceil(busy * kMarginOfCpus)));
  // Where nobody says how many a machine has, no more than one had.
  const int most = std::max(place.most.cpus, place.most.cpus > 0 ? 0 : place.usual.cpus);
  return most > 0 ? more : used;
}

double seconds_for(const StepNeed& need) {
  if (need.seconds <= 0) return 0;
  return std::max(kLeastTime, kMarginOfTime * (need.seconds + 3 * need.deviation));
}

// The longest time that was not enough, among the last runs of the step.
double seconds_that_were_too_few(const PastRun& step, const std::vector<PastRun>& history) {
  double most = 0;
  for (const PastRun& run : history)
    if (run.key == step.key && run.end == PastRun::End::out_of_time) most = std::max(most, run.seconds);
  return most;
}

}  // namespace

std::uint64_t grown_memory(std::uint64_t had) { return 2 * had; }
std::chrono::seconds grown_time(std::chrono::seconds had) { return 2 * had; }

JobSize job_size(const SlurmPlace& place, const PastRun& step, const std::vector<PastRun>& history,
                 const JobSize& least) {
  const StepNeed need = need_of(step, history);
  JobSize size;
  size.cpus = at_most(std::max(least.cpus, cpus_for(place, need.processors)),
                      place.most.cpus > 0 ? place.most.cpus : place.usual.cpus);
  size.memory = need.memory > 0 ? need.memory + kOfKiln : place.usual.memory;
  size.memory = at_most(std::max(size.memory, least.memory), place.most.memory);
  size.memory = (size.memory + kOneMiB - 1) / kOneMiB * kOneMiB;
  double seconds = seconds_for(need);
  if (seconds <= 0) seconds = static_cast<double>(place.usual.time.count());
  seconds = std::max(
      {seconds, 2 * seconds_that_were_too_few(step, history), static_cast<double>(least.time.count())});
  const std::chrono::minutes minutes(static_cast<std::int64_t>(std::ceil(seconds / 60)));
  size.time = at_most<std::chrono::seconds>(minutes, place.most.time);
  return size;
}

std::vector<std::string> size_words(const JobSize& size) {
  std::vector<std::string> words;
  if (size.cpus > 0) words.push_back(fmt::format("--cpus-per-task={}", size.cpus));
  if (size.memory > 0) words.push_back(fmt::format("--mem={}M", (size.memory + kOneMiB - 1) / kOneMiB));
  if (size.time.count() > 0) words.push_back(fmt::format("--time={}", (size.time.count() + 59) / 60));
  return words;
}

}  // namespace kiln
