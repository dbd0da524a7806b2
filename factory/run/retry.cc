#include "factory/run/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "factory/base/effects.h"
#include "factory/os/processors.h"
#include "factory/run/failure.h"

namespace kiln {
namespace {

constexpr double kFirstWait = 10;  // seconds
constexpr double kLongestRetryWait = 120;

// Tests have no network; what of it is in their output is their own business.
bool may_reach_sources(const Step& step) {
  return step.kind == StepKind::rootfs || step.kind == StepKind::run;
}

bool passes_by_itself(const Step& step, const Error& error) {
  return may_reach_sources(step) && error.code() == ExitCode::network &&
         failure_class_of(error) == FailureClass::infrastructure;
}

std::optional<TryTerms> with_more_memory(const TryTerms& terms, std::uint64_t usable) {
  const std::uint64_t more =
      terms.memory == 0 ? 0 : std::max(terms.memory, std::min(2 * terms.memory, usable));
  if (terms.is_alone && more == terms.memory) return std::nullopt;  // it had all that there is
  return TryTerms{0, more, true};
}

constexpr std::uint64_t kUnknownNeed = 2'000'000'000;  // bytes, as gantry's, of a step that was never run

// The others copy files, one after another.
bool runs_a_script(const Step& step) {
  return step.kind == StepKind::rootfs || step.kind == StepKind::run || step.kind == StepKind::test;
}

}  // namespace

std::optional<TryTerms> next_try(const Step& step, const Error& error, const TryTerms& terms, int tries,
                                 const RetryRules& rules, double chance) {
  if (tries > rules.retries) return std::nullopt;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr)
    return rules.has_fixed_memory ? std::nullopt : with_more_memory(terms, rules.usable_memory);
  if (rules.is_offline || !passes_by_itself(step, error)) return std::nullopt;
  const double longest = std::min(kLongestRetryWait, kFirstWait * std::pow(2, tries - 1));
  return TryTerms{longest * (0.5 + chance / 2), terms.memory, terms.is_alone};
}

std::string text_of(const TryTerms& terms, int number, const RetryRules& rules) {
  std::string text = fmt::format("try {} of {}", number, rules.retries + 1);
  if (terms.wait > 0) text += fmt::format(" in {:.0f} s", terms.wait);
  if (terms.is_alone && !rules.has_scheduler) text += ", alone";
  if (terms.is_alone && terms.memory > 0)
    text += fmt::format(", with at most {} of memory", memory_text(terms.memory));
  return text;
}

// A tenth of the machine is for kiln, the system, and the files that builds read again and again.
StepTries::StepTries(const Step& step, const StepSetup& setup)
    : step_(step),
      setup_(setup),
      rules_{setup.site.step_retries, usable_memory(), setup.site.launcher.is_used(),
             setup.site.launcher.slurm.has_value(), setup.site.offline},
      capacity_(rules_.has_scheduler ? 0 : rules_.usable_memory - rules_.usable_memory / 10),
      need_(need_of(past_run_of(step), read_history(setup.state.history(), step.component))) {}

// What needed more than its limit before gets it at once.
TryTerms StepTries::first_terms() const {
  TryTerms terms;
  terms.memory = setup_.site.limits_of(step_.component, step_.limits).memory;
  if (terms.memory > 0) terms.memory = std::max(terms.memory, std::min(need_.memory, rules_.usable_memory));
  return terms;
}

std::uint64_t StepTries::share_of(const TryTerms& terms) const {
  if (terms.is_alone) return capacity_;
  const std::uint64_t need = need_.memory > 0 ? need_.memory : std::min(kUnknownNeed, capacity_ / 4);
  return terms.memory > 0 ? std::min(need, terms.memory) : need;
}

std::unique_ptr<MemoryShare> StepTries::wait_for_share(const StepTry& attempt) const {
  if (!runs_a_script(step_) || capacity_ == 0) return nullptr;
  bool waited = attempt.number > 1;
  auto share = std::make_unique<MemoryShare>(setup_.state.memory(host_name()), share_of(attempt.terms),
                                             capacity_, [&](const std::string& why) {
                                               waited = true;
                                               tell(true, why);
                                             });
  if (waited)
    tell(false, attempt.number > 1 ? fmt::format("try {} of {}", attempt.number, rules_.retries + 1) : "");
  return share;
}

void StepTries::run(const std::function<void(StepTry&)>& once) {
  for (StepTry attempt{1, first_terms(), {}};; ++attempt.number) {
    attempt.memory = {};
    double start = setup_.clock.monotonic_seconds();
    const double before = seconds_of_children();
    attempt.processor_seconds = 0;
    const auto seconds = [&] { return setup_.clock.monotonic_seconds() - start; };
    try {
      const auto share = wait_for_share(attempt);
      start = setup_.clock.monotonic_seconds();
      once(attempt);
      attempt.processor_seconds = seconds_of_children() - before;
      return keep(attempt, PastRun::End::done, seconds());
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) throw;
      const bool memory = dynamic_cast<const OutOfMemory*>(&error) != nullptr;
      keep(attempt, memory ? PastRun::End::out_of_memory : PastRun::End::failed, seconds());
      if (!prepare_next(attempt, error)) throw;
    }
  }
}

void StepTries::keep(const StepTry& attempt, PastRun::End end, double seconds) const {
  PastRun run = past_run_of(step_);
  run.host = host_name();
  run.time = setup_.clock.unix_seconds();
  run.end = end;
  run.seconds = std::round(seconds * 1000) / 1000;
  run.processor_seconds = std::round(attempt.processor_seconds * 1000) / 1000;
  run.memory = attempt.memory;
  record_run(setup_.state.history(), run);  // what is not kept is not predicted, and nothing else
}

bool StepTries::prepare_next(StepTry& attempt, const Error& error) {
  const double chance = std::uniform_real_distribution<double>(0, 1)(random_);
  const auto next = next_try(step_, error, attempt.terms, attempt.number, rules_, chance);
  if (!next) return false;
  const std::string what = fmt::format("{}; {}", error.message(), text_of(*next, attempt.number + 1, rules_));
  earlier_.push_back(what);
  std::ofstream(setup_.state.log(step_.key), std::ios::app) << "\nkiln: " << what << "\n\n";
  tell(true, what);
  setup_.wait(std::chrono::milliseconds(static_cast<std::int64_t>(next->wait * 1000)));
  attempt.terms = *next;
  return true;
}

void StepTries::tell(bool waits, const std::string& what) const {
  if (setup_.tell) setup_.tell(waits, what);
}

}  // namespace kiln
