// Rounds of a comparison: images that take turns, on this machine or in a job of Slurm that has a node to
// itself.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "factory/run/bench.h"
#include "factory/run/node_files.h"

namespace kiln {

// Starts that one machine runs one after the other, so that drift and the machine itself meet the images
// alike. REQUIRES: of one workload, machine, session and round.
using BenchRound = std::vector<BenchRequest>;

// Of one start.
struct BenchAnswer {
  std::string key;             // of the image
  std::vector<BenchRun> runs;  // one for each metric; empty: the workload failed
  std::string why{};           // it failed
  std::string hint{};
};

// Of up to `repeats` + 1 starts the one that other programs disturbed least. The choice does not depend on
// the speed. `again`: called before each start but the first, with the disturbances of the best one so far.
std::vector<BenchRun> least_disturbed(const std::function<std::vector<BenchRun>()>& start, int repeats,
                                      const std::function<void(double busy)>& again);

class RoundFiles : public NodeFiles {
 public:
  using NodeFiles::NodeFiles;

  // 64 hex digits: the same for the same images in the same round, whatever the session is called. A
  // comparison that continues after a kill finds its earlier job.
  std::string key_of(const BenchRound& round) const;
  void write(const std::string& key, const BenchRound& round, int repeats) const;  // throws Error(store)
  // Of the starts in `round`, whose session, round and place the runs get. nullopt: the job has not answered.
  // Throws Error(store) for a file that kiln did not write, and for answers of other images.
  std::optional<std::vector<BenchAnswer>> answers(const std::string& key, const BenchRound& round) const;
};

// Measurements of rounds that ran before their turns.
class RoundAnswers {
 public:
  // REQUIRES: an answer for each start of each round.
  void add(const std::vector<BenchRound>& rounds, std::vector<std::vector<BenchAnswer>> answers);
  // Of this start. Throws the Error(images_failed) of a workload that failed.
  std::vector<BenchRun> take(const BenchRequest& request);

 private:
  std::map<std::pair<int, std::string>, BenchAnswer> answers_;  // by round and key
};

// The same as a compute node reads it.
class NodeRound {
 public:
  // `task`: RoundFiles::task(). REQUIRES: files outlives this. Throws Error(store) for a file that is
  // missing, or that kiln did not write.
  NodeRound(const fs::path& task, FileSystem& files);
  NodeRound(const NodeRound&) = delete;
  NodeRound& operator=(const NodeRound&) = delete;

  // Runs the starts and writes their answers. On another kind of machine than the comparison's it writes a
  // refusal. Throws what run_workload() throws but images_failed, and Error(store).
  void run(const HostDescription& here, const StepSetup& setup);

 private:
  std::string key_;
  RoundFiles round_files_;
  FileSystem& files_;
  int repeats_ = 0;
  Recipe workload_;
  std::vector<std::unique_ptr<ImageSpec>> images_;  // the requests refer to them
  BenchRound round_;
};

}  // namespace kiln
