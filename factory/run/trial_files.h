// The files of a tuning's jobs (node_files.h). subject.json has the subject: image, workload or script, and
// the kind of machine that is measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "factory/run/node_files.h"
#include "factory/run/tuning_run.h"

namespace kiln {

class TrialFiles : public NodeFiles {
 public:
  using NodeFiles::NodeFiles;

  // `plan`: plan_text() with the subject's cell. Throws Error(store).
  void write(const TuningSubject& subject, const std::string& plan) const;
  // 64 hex digits: the same for the same starts of the same tuning, whatever their patience is. A tuning that
  // continues with another budget finds its earlier job.
  std::string key_of(const TuningJob& job) const;
  void write(const std::string& key, const TuningJob& job) const;
  // nullopt: the job has not answered. Throws Error(store) for a file that kiln did not write.
  std::optional<std::vector<TuningAnswer>> answers(const std::string& key) const;
};

// The same as a compute node reads it.
class NodeTrial {
 public:
  // `starts`: TrialFiles::task(). REQUIRES: files outlives this. Throws Error(store) for a file that is
  // missing, or that kiln did not write.
  NodeTrial(const fs::path& starts, FileSystem& files);
  NodeTrial(const NodeTrial&) = delete;
  NodeTrial& operator=(const NodeTrial&) = delete;

  // Runs the starts and writes their answers. On another kind of machine than the tuning's it writes a
  // refusal. Throws as run_starts(), and Error(store).
  void run(const HostDescription& here, const StepSetup& setup);

 private:
  std::string key_;
  TrialFiles trial_;
  FileSystem& files_;
  TuningJob job_;
  ImageSpec image_;
  Recipe workload_;
  std::optional<TuningSubject> subject_;  // refers to the two
};

// The files of a script as those of a workload: its first method starts the script with the options of
// script_environment(). `name`: of the file; it ends in .py for Python 3, else sh runs it.
Recipe recipe_of_script(const std::string& name, std::string bytes);
// Of a setting: variables as they are, options as one variable that the recipe reads.
std::map<std::string, std::string> script_environment(const TuningSetting& setting);

}  // namespace kiln
