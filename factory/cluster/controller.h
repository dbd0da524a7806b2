// sbatch and scancel, with the patience that the site file has for a controller that is away.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/effects.h"
#include "factory/cluster/queued_job.h"
#include "factory/site/launcher.h"
#include "factory/state/state.h"

namespace kiln {

// Slurm's list of kiln's jobs, asked once for all waiting processes: <state>/jobs/queue is the last answer,
// and a process that finds it older than the site's `poll` asks again. A controller that does not answer is
// asked less and less often, once a minute at least.
struct QueueView {
  std::int64_t asked = 0;       // Unix seconds; 0: never
  std::int64_t silent_for = 0;  // seconds without an answer; 0: it answered
  std::string why;              // squeue's output in place of an answer
  std::vector<QueuedJob> jobs;
};

struct SlurmPrograms {
  CommandRunner& runner;
  const Clock& clock;
  std::map<std::string, std::string> environment;  // of them all
};

// The environment of Slurm's programs: without the variables of a surrounding job, and without those that
// change the output of squeue (SQUEUE_… in squeue(1)).
std::map<std::string, std::string> slurm_environment(const std::map<std::string, std::string>& ours);

class QueueWatch {
 public:
  // REQUIRES: all outlive this.
  QueueWatch(const StatePaths& state, FileSystem& files, const SlurmPrograms& programs,
             const SlurmSite& site);

  // The last answer; asks again if that is due, or if the answer is older than `not_before`. Never waits for
  // longer than squeue does, and does not wait while another process asks.
  QueueView look(std::int64_t not_before);

 private:
  QueueView last() const;
  bool is_due(const QueueView& view, std::int64_t not_before) const;
  QueueView ask(const QueueView& before) const;

  const StatePaths& state_;
  FileSystem& files_;
  const SlurmPrograms& programs_;
  const SlurmSite& site_;
  std::int64_t start_;  // Unix seconds; silence before that is another run's
};

// Of what sbatch, squeue or scontrol printed: the controller, munge or the network between was away or busy,
// or the user has as many jobs as a limit admits. Everything else stays as it is until a person acts.
bool may_pass(const std::string& said);

// The job's number in the output of `sbatch --parsable`: "17", or "17;cluster" where a cluster was named.
// nullopt where a site's sbatch says more than that. `any_line`: the number may be on a separate line among
// others; nullopt if two lines look like a number.
std::optional<std::string> job_number(std::string_view answer, bool any_line);

// sbatch refuses a job, and no later try helps: the partition, the account or the limits of the site are
// wrong.
class SlurmRefusal : public Error {
 public:
  SlurmRefusal(const std::string& message, const std::string& hint)
      : Error(ExitCode::images_failed, message, hint) {}
};

class SlurmController {
 public:
  using Tell = std::function<void(const std::string& why)>;  // that it is waited for
  using Wait = std::function<void(std::chrono::milliseconds)>;

  // REQUIRES: `programs`, `site` and `queue` outlive this.
  SlurmController(const SlurmPrograms& programs, const SlurmSite& site, QueueWatch& queue, Tell tell,
                  Wait wait)
      : programs_(programs), site_(site), queue_(queue), tell_(std::move(tell)), wait_(std::move(wait)) {}

  // An answer of this second or later; `after_this_second`: one that has what was submitted a moment ago,
  // too, by whomever. Throws Error(network) when patience ends.
  QueueView ask(bool after_this_second = false);
  // The name of this cluster. Throws as submit().
  std::string cluster();
  // The job's number. When sbatch got no answer the job may be there all the same: it is looked for by `mark`
  // among those that are not `known` before it is handed over again; so is one of which sbatch said more than
  // its number. `words`: of sbatch, the script last. Throws Error(network) when patience ends, SlurmRefusal
  // for a request that sbatch refuses, Error(images_failed) when it took a job that is not found by its mark,
  // Error(interrupted): then a job may be there.
  std::string submit(const std::vector<std::string>& words, const JobMark& mark,
                     const std::set<std::string>& known);
  // Returns when all of them have ended. May be called after kiln was told to end: false if the controller is
  // silent for two minutes, or if a second signal ends the wait.
  bool cancel(const std::vector<std::string>& ids);

  // Throws when a view shows a silence that the site has no patience for.
  void check_patience(const QueueView& view) const;

 private:
  std::optional<std::string> find(const JobMark& mark, const std::set<std::string>& known);
  CommandResult run(const std::vector<std::string>& argv) const;
  // Runs it until it succeeds. `found`: asked before it is run again, and an answer ends it.
  std::string run_until(const std::vector<std::string>& argv,
                        const std::function<std::optional<std::string>()>& found);

  const SlurmPrograms& programs_;
  const SlurmSite& site_;
  QueueWatch& queue_;
  Tell tell_;
  Wait wait_;
};

}  // namespace kiln
