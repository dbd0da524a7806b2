#include "factory/cluster/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "factory/cluster/job_end.h"
#include "factory/cluster/job_request.h"
#include "factory/cluster/queued_job.h"
#include "factory/os/file_lock.h"
#include "factory/run/failure.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

class JobRun {
 public:
  JobRun(const JobTask& task, const JobSetup& setup)
      : task_(task),
        setup_(setup),
        slurm_(*setup.site.launcher.slurm),
        files_(setup.state.job(task.key), setup.files),
        mark_{setup.run, folder_mark(setup.state.root().string()), task.key},
        programs_{setup.runner, setup.clock, slurm_environment(setup.environment)},
        queue_(setup.state, setup.files, programs_, slurm_),
        controller_(
            programs_, slurm_, queue_, [this](const std::string& why) { tell_waits(why); }, setup.wait) {}

  JobOutcome run() {
    const FileLock alone = wait_for_lock();
    try {
      return run_tries();
    } catch (const SlurmRefusal& refusal) {
      return give_up(refusal, FailureClass::policy);
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) {
        cancel_ours();
        throw;
      }
      return give_up(error, FailureClass::infrastructure);
    }
  }

 private:
  FileLock wait_for_lock() const {
    if (auto lock = FileLock::try_acquire(files_.lock())) return std::move(*lock);
    tell_waits("another process waits for its job");
    return FileLock::acquire(files_.lock());
  }

  void tell_waits(const std::string& what) const {
    setup_.tell({StepEvent::State::waiting, task_.key, task_.title, 0, what});
  }

  void tell_runs(const std::string& what) const {
    setup_.tell({StepEvent::State::running, task_.key, task_.title, 0, what});
  }

  JobOutcome run_tries() {
    if (task_.is_done()) return {JobOutcome::End::done, "", std::nullopt, false};
    // In this run of kiln, which forgets those of others first.
    if (RecordReader(setup_.state, setup_.files).failure(task_.key)) return keep_failure();
    cluster_ = controller_.cluster();
    for (int number = 1;; ++number) {
      const JobVerdict verdict = run_one(number);
      switch (verdict.next) {
        case JobVerdict::Next::done:
          setup_.files.remove_all(setup_.state.job(task_.key));
          return {JobOutcome::End::done, "", said_, !id_.empty()};
        case JobVerdict::Next::too_late:
          files_.forget();
          return {JobOutcome::End::too_late, "", std::nullopt, true};
        case JobVerdict::Next::failed:
          return keep_failure();
        case JobVerdict::Next::give_up:
          return give_up(Error(verdict.code, verdict.what), FailureClass::infrastructure);
        default:
          if (!prepare_next(verdict, number)) return give_up_growing(verdict);
      }
    }
  }

  JobVerdict run_one(int number) {
    job_.reset();
    const std::optional<std::string> other = adopt();
    if (!other && task_.is_done()) return {JobVerdict::Next::done, ""};
    begun_ = setup_.clock.unix_seconds();
    if (other) {
      id_ = *other;
      files_.write(Submission{cluster_, id_});
    } else {
      if (is_too_late()) return {JobVerdict::Next::too_late, ""};
      submit(number);
    }
    JobOutput output(files_.output(), [this](const StepEvent& event) { hear(event); });
    const JobWaitSetup waiting{id_,
                               begun_,
                               setup_.no_start_after,
                               setup_.clock,
                               task_.is_done,
                               setup_.wait,
                               [this](const std::string& what) { tell_waits(what); },
                               [this](const std::string& what) { tell_runs(what); }};
    JobWait wait(waiting, files_, queue_, controller_);
    wait.run(output);
    let_words_arrive();
    job_ = wait.job();
    if (wait.was_too_late() && !task_.is_done()) return {JobVerdict::Next::too_late, ""};
    return verdict_of(traces());
  }

  // What was told goes another way than the end of the step, which must not come first.
  void let_words_arrive() const {
    constexpr double kTakes = 0.3;  // seconds: whoever listens looks ten times a second
    if (setup_.clock.monotonic_seconds() - told_at_ < kTakes)
      setup_.wait(std::chrono::milliseconds(static_cast<int>(1000 * kTakes)));
  }

  bool is_too_late() const {
    return setup_.no_start_after > 0 && setup_.clock.unix_seconds() >= setup_.no_start_after;
  }

  // The job of this step that another run left, with all others of it cancelled. A waiting one for another
  // partition than is asked for now is one of those.
  std::optional<std::string> adopt() {
    refuse_other_cluster();
    const bool was_handed_over = files_.submission().has_value();  // maybe just now, by who was killed then
    const QueueView view = controller_.ask(was_handed_over);
    std::optional<std::string> mine;
    std::vector<std::string> others;
    known_.clear();
    for (const QueuedJob& job : view.jobs) {
      if (job.mark.state != mark_.state || job.mark.key != mark_.key) continue;
      known_.insert(job.id);
      if (fate_of(job.state) != JobFate::alive) continue;
      const bool elsewhere =
          is_pending(job.state) && !task_.partition.name.empty() && job.partition != task_.partition.name;
      if (mine || elsewhere)
        others.push_back(job.id);
      else
        mine = job.id;
    }
    if (!others.empty()) tell_waits(fmt::format("job {} of an earlier run is cancelled", others.front()));
    if (!controller_.cancel(others))
      throw Error(ExitCode::network, fmt::format("job {} could not be cancelled", others.front()));
    if (mine) tell_waits(fmt::format("job {} of an earlier run is taken over", *mine));
    return mine;
  }

  // Two clusters on one state folder: the other's jobs cannot be seen from here.
  void refuse_other_cluster() const {
    const auto submission = files_.submission();
    if (!submission || submission->cluster == cluster_) return;
    const auto status = files_.status();
    if (status && status->id == submission->id) return;  // it is over
    throw Error(ExitCode::locked,
                fmt::format("it was handed to the cluster {}{}, and did not say how it ended",
                            submission->cluster, submission->id.empty() ? "" : " as job " + submission->id),
                fmt::format("let kiln run there, or, when that job is gone, remove {}",
                            files_.script().parent_path().string()));
  }

  void submit(int number) {
    files_.forget();
    files_.forget_output();
    RecordWriter(setup_.state, setup_.files).forget_failure(task_.key);
    size_ = task_.whole_node ? whole_node_size(task_.partition, std::max(task_.time, least_.time))
                             : job_size(task_.partition, task_.like,
                                        read_history(setup_.state.history(), task_.like.component), least_);
    setup_.files.write(files_.script(),
                       script_text({task_.command, task_.title, fs::current_path().string()}, files_));
    files_.write(Submission{cluster_, ""});
    tell_waits(number == 1 ? "it is handed to Slurm"
                           : fmt::format("it is handed to Slurm again, try {}", number));
    id_ = controller_.submit(sbatch_words(), mark_, known_);
    files_.write(Submission{cluster_, id_});
  }

  // What the site says may overrule what was recorded, but not what jobs are known by.
  std::vector<std::string> sbatch_words() const {
    std::vector<std::string> words = {"--ntasks=1", "--nodes=1", "--export=ALL"};
    if (task_.whole_node) words.insert(words.end(), kWholeNode.begin(), kWholeNode.end());
    for (const auto& more : {size_words(size_), partition_words(slurm_, task_.partition)})
      words.insert(words.end(), more.begin(), more.end());
    std::string output = files_.output().string();
    for (std::size_t at = 0; (at = output.find('%', at)) != output.npos; at += 2) output.insert(at, "%");
    words.insert(words.end(), {fmt::format("--job-name=kiln-{}-{}", mark_.state, mark_.key.substr(0, 16)),
                               "--dependency=singleton", "--comment=" + comment_of(mark_),
                               "--output=" + output, files_.script().string()});
    return words;
  }

  void hear(const StepEvent& event) {
    const bool at_end = event.state == StepEvent::State::done || event.state == StepEvent::State::failed ||
                        event.state == StepEvent::State::up_to_date;
    if (at_end) {
      said_ = event;
      return;
    }
    setup_.tell(event);
    told_at_ = setup_.clock.monotonic_seconds();
  }

  JobTraces traces() {
    JobTraces traces;
    traces.id = id_;
    traces.is_done = task_.is_done();
    if (!traces.is_done) traces.failure = RecordReader(setup_.state, setup_.files).failure(task_.key);
    traces.status = files_.status();
    if (traces.status && traces.status->id != id_) traces.status.reset();
    traces.job = job_;
    traces.last_words = files_.last_words();
    for (const PastRun& run : read_history(setup_.state.history(), task_.like.component))
      if (run.key == task_.key && run.time >= begun_)
        traces.had_no_memory = run.end == PastRun::End::out_of_memory;
    traces.had_no_memory = traces.had_no_memory && traces.failure.has_value();
    return traces;
  }

  // What a job had that was killed for it: as it was asked for, else as Slurm says.
  std::uint64_t memory_had() const {
    if (size_.memory > 0 || !job_) return size_.memory;
    return job_->memory * static_cast<std::uint64_t>(std::max(1, job_->cpus));
  }

  // False: it had all that it may have, or too many tries.
  bool prepare_next(const JobVerdict& verdict, int number) {
    if (number > setup_.site.step_retries) return false;
    std::string terms = fmt::format("try {} of {}", number + 1, setup_.site.step_retries + 1);
    if (verdict.next == JobVerdict::Next::more_memory) {
      const std::uint64_t had = memory_had(), most = task_.partition.most.memory;
      record_end(PastRun::End::out_of_memory, had);
      if (task_.whole_node || (most > 0 && had >= most)) return false;
      least_.memory = grown_memory(had);
      terms += " with more memory";
    } else if (verdict.next == JobVerdict::Next::more_time) {
      const auto most = task_.partition.most.time;
      record_end(PastRun::End::out_of_time, 0);
      if (most.count() > 0 && size_.time >= most) return false;
      least_.time = grown_time(size_.time);
      terms += " with more time";
    }
    earlier_.push_back(fmt::format("{}; {}", verdict.what, terms));
    tell_waits(earlier_.back());
    return true;
  }

  // Where the step itself could not.
  void record_end(PastRun::End end, std::uint64_t memory) const {
    PastRun run = task_.like;
    run.host = job_ ? job_->nodes : "";
    run.time = setup_.clock.unix_seconds();
    run.end = end;
    run.seconds = end == PastRun::End::out_of_time && size_.time.count() > 0
                      ? static_cast<double>(size_.time.count())
                      : static_cast<double>(run.time - begun_);
    run.memory.peak = memory;
    run.memory.source = memory > 0 ? MemorySource::processes : MemorySource::none;
    record_run(setup_.state.history(), run);
  }

  JobOutcome keep_failure() {
    RecordReader reader(setup_.state, setup_.files);
    FailureRecord failure = *reader.failure(task_.key);
    if (!earlier_.empty()) {
      failure.tries.insert(failure.tries.begin(), earlier_.begin(), earlier_.end());
      RecordWriter(setup_.state, setup_.files).write(failure);
    }
    files_.forget();
    return {JobOutcome::End::failed, failure.what, said_, true};
  }

  JobOutcome give_up_growing(const JobVerdict& verdict) {
    const std::string what = verdict.what;
    if (verdict.next == JobVerdict::Next::more_memory)
      return give_up(Error(ExitCode::images_failed, what,
                           "\"most\" of the site file's \"slurm\" says how much memory a job may have"),
                     FailureClass::build);
    if (verdict.next == JobVerdict::Next::more_time)
      return give_up(Error(ExitCode::timeout, what,
                           "\"most\" of the site file's \"slurm\" says how long a job may take"),
                     FailureClass::build);
    return give_up(Error(ExitCode::images_failed, what), FailureClass::infrastructure);
  }

  JobOutcome give_up(const Error& error, FailureClass whose) {
    const fs::path log = setup_.state.log(task_.key);
    FailureRecord failure = failure_record(task_.key, error, 0, log);
    failure.failure = whose;
    failure.tries = earlier_;
    if (!earlier_.empty()) failure.what += fmt::format("; tried {} times", earlier_.size() + 1);
    fs::create_directories(log.parent_path());
    std::ofstream(log, std::ios::app) << "\nkiln: " << error.format() << '\n';
    RecordWriter(setup_.state, setup_.files).write(failure);
    if (error.code() != ExitCode::locked && error.code() != ExitCode::network) files_.forget();
    return {JobOutcome::End::failed, failure.what, std::nullopt, true};
  }

  // All of this step's, also one whose number sbatch did not live to say.
  void cancel_ours() {
    std::vector<std::string> ids;
    if (!id_.empty()) ids.push_back(id_);
    const QueueView view = queue_.look(setup_.clock.unix_seconds());
    for (const QueuedJob& job : view.jobs)
      if (job.mark.state == mark_.state && job.mark.key == mark_.key && fate_of(job.state) == JobFate::alive)
        ids.push_back(job.id);
    if (controller_.cancel(ids)) files_.forget();
  }

  const JobTask& task_;
  const JobSetup& setup_;
  const SlurmSite& slurm_;
  JobFiles files_;
  JobMark mark_;
  SlurmPrograms programs_;
  QueueWatch queue_;
  SlurmController controller_;
  std::string cluster_;
  std::set<std::string> known_;   // jobs of the step that were there before
  std::string id_;                // of the job that is waited for
  std::optional<QueuedJob> job_;  // as it was listed last
  JobSize size_, least_;
  std::int64_t begun_ = 0;  // Unix seconds: handed over, or taken over
  std::vector<std::string> earlier_;
  std::optional<StepEvent> said_;
  double told_at_ = 0;  // of the monotonic clock: the last word of the step
};

}  // namespace

JobOutcome run_job(const JobTask& task, const JobSetup& setup) { return JobRun(task, setup).run(); }

}  // namespace kiln
