// What Slurm says of our jobs, asked once for all that wait for one: <state>/jobs/queue is the last answer,
// and whoever finds it older than the site's `poll` asks anew. A controller that does not answer is asked
// less and less often, once a minute at least.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/cluster/queued_job.h"
#include "factory/site/slurm_site.h"
#include "factory/state/state.h"

namespace kiln {

struct QueueView {
  std::int64_t asked = 0;       // Unix seconds; 0: never
  std::int64_t silent_for = 0;  // seconds without an answer; 0: it answered
  std::string why;              // what squeue said in place of an answer
  std::vector<QueuedJob> jobs;
};

struct SlurmPrograms {
  CommandRunner& runner;
  const Clock& clock;
  std::map<std::string, std::string> environment;  // of them all
};

// Of what is handed on to Slurm's programs: nothing that another job around us was given, and nothing that
// would change what squeue prints (SQUEUE_… in squeue(1)).
std::map<std::string, std::string> slurm_environment(const std::map<std::string, std::string>& ours);

class QueueWatch {
 public:
  // REQUIRES: all outlive this.
  QueueWatch(const StatePaths& state, FileSystem& files, const SlurmPrograms& programs,
             const SlurmSite& site);

  // The last answer; asked for where it is due, or older than `not_before`. Never waits for longer than
  // squeue does, and where another process is asking not at all.
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

}  // namespace kiln
