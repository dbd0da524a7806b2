// The files of a job: <state>/jobs/<key>/
//
//   script      what sbatch was given
//   submission  which cluster it was handed to, and its number there
//   output      what it printed: events of the step (run/progress.h) and words
//   status      "<job> <exit status> <host>", written by the script when `kiln step` has ended
//   lock        held by the process that waits for it
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "factory/base/effects.h"
#include "factory/run/progress.h"

namespace kiln {

struct Submission {
  std::string cluster;
  std::string id;  // "": handed over, and no answer yet
};

struct JobStatus {
  std::string id;
  int status = 0;  // of the shell: 128 and a signal's number for one that was killed
  std::string host;
};

class JobFiles {
 public:
  // REQUIRES: `files` outlives this. `folder`: StatePaths::job.
  JobFiles(fs::path folder, FileSystem& files) : folder_(std::move(folder)), files_(files) {}

  fs::path script() const { return folder_ / "script"; }
  fs::path output() const { return folder_ / "output"; }
  fs::path status_file() const { return folder_ / "status"; }
  fs::path lock() const { return folder_ / "lock"; }

  std::optional<Submission> submission() const;
  void write(const Submission& submission) const;
  std::optional<JobStatus> status() const;
  // Nothing of a job that is over, but what it printed.
  void forget() const;
  void forget_output() const { files_.remove_all(output()); }
  // slurmd makes that file before it starts the script, or to say why it does not.
  bool has_output() const { return files_.exists(output()); }
  // Its last line that is no event; "" without such a line.
  std::string last_words() const;

 private:
  fs::path folder_;
  FileSystem& files_;
};

struct JobScript {
  std::vector<std::string> command;  // `kiln step …`
  std::string title;                 // for people
  std::string folder;                // where it is started
};

// For sh(1). It outlives `kiln step`, which is told to end with it, and then reports its exit status.
std::string script_text(const JobScript& script, const JobFiles& files);

// The growing output of a job: events of its step are passed on, the rest is for people.
class JobOutput {
 public:
  JobOutput(std::filesystem::path file, std::function<void(const StepEvent&)> hear)
      : file_(std::move(file)), hear_(std::move(hear)) {}

  // Reads the lines that were added since the last call; a partial line waits for the next call. A file that
  // became shorter belongs to a job that Slurm ran again.
  void read();

 private:
  std::filesystem::path file_;
  std::function<void(const StepEvent&)> hear_;
  std::uintmax_t at_ = 0;  // bytes read
  std::string pending_;
};

}  // namespace kiln
