// The effects of a tuning: its journal on disk, the searcher that proposes settings, and a start of the
// workload with one of them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "factory/bench/tuning_start.h"
#include "factory/run/bench.h"

namespace kiln {

// <state>/bench/tuning/<sum>.jsonl. A line is on the disk before the next step begins, so that a kill loses
// one step at most.
class TuningFile {
 public:
  // Its name depends on `head`. REQUIRES: files outlives this; the state folder is locked.
  TuningFile(const TuningHead& head, const StatePaths& state, FileSystem& files);

  const fs::path& path() const { return path_; }
  // For files of the same tuning that jobs read and write.
  fs::path folder() const { return fs::path(path_).replace_extension(".trials"); }
  // The journal on disk, without the partial line of a killed process. Writes the head of a new one.
  // Throws Error(store).
  TuningJournal begin();
  void add(const std::vector<Json>& lines);  // in one go; throws Error(store)
  void remove();                             // with its folder

 private:
  std::string head_;
  fs::path path_;
  FileSystem& files_;
};

// Optuna runs in the tool's own Python, not in an image.
struct TuningSearch {
  fs::path python;
  CommandRunner& runner;
  std::map<std::string, std::string> environment;

  // Throws Error(tool_missing) unless that Python has Optuna.
  void check() const;
  // So many, after the trials of this journal. The same journal gives the same answer. Throws
  // Error(tool_missing, internal, interrupted).
  std::vector<TuningSetting> propose(const fs::path& journal, std::size_t count) const;
};

// The program that the tuning starts again and again.
struct TuningSubject {
  BenchRequest request;
  std::string metric;      // of several of the workload, "" of its only one
  bool is_script = false;  // a script that prints an objective
};

// A start, whatever comes of it: its end says so. Throws what run_workload() throws but images_failed and
// timeout.
TuningAnswer run_start(const TuningSubject& subject, const TuningStart& start, const StepSetup& setup);
// All starts of a job, up to the first that is not complete; but the rival's failure ends none. Throws as
// run_start().
std::vector<TuningAnswer> run_starts(const TuningSubject& subject, const TuningJob& job,
                                     const StepSetup& setup);

// The course of a tuning, from the state of its journal to its end.

struct TuningCourse {
  TuningTerms terms;
  bool maximises = false;  // more of a script's objective is better
  TuningFile& file;
  const TuningSearch& search;
  const Clock& clock;
  TuningStarter start;
  std::function<void(const std::string&)> tell;  // a line for people
};

// Continues after `journal`, records each step, and returns the journal at its end. Throws as next_step(),
// TuningSearch::propose(), TuningFile::add() and the starter do, and Error(images_failed) when the default
// fails in the comparison; then the same call goes on.
TuningJournal run_course(const TuningCourse& course, TuningJournal journal);

}  // namespace kiln
