// sbatch and scancel, with the patience that the site file has for a controller that is away.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "factory/cluster/queue_view.h"

namespace kiln {

// Of what sbatch, squeue or scontrol printed: the controller, munge or the network between was away or busy,
// or the user has as many jobs as a limit admits. Everything else stays as it is until somebody acts.
bool may_pass(const std::string& said);

// The job's number in what `sbatch --parsable` printed: "17", or "17;cluster" where a cluster was named.
// nullopt where a site's sbatch says more than that. `any_line`: the number may stand on a line of its own
// among others; where two lines look like one, it is neither.
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
  // What this cluster is called. Throws as submit().
  std::string cluster();
  // The job's number. When sbatch got no answer the job may be there all the same: it is looked for by `mark`
  // among those that are not `known` before it is handed over again; so is one of which sbatch said more than
  // its number. `words`: of sbatch, the script last. Throws Error(network) when patience ends, SlurmRefusal
  // for what sbatch refuses, Error(images_failed) when it took a job that is not found by its mark,
  // Error(interrupted): then a job may be there.
  std::string submit(const std::vector<std::string>& words, const JobMark& mark,
                     const std::set<std::string>& known);
  // Returns when none of them is alive any more. We may have been told to end: false when the controller is
  // silent for two minutes, or somebody wants to wait no longer.
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
