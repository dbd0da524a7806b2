#include "factory/run/retry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factory/os/processors.h"
#include "factory/run/failure.h"

namespace kiln {
namespace {

constexpr double kFirstWait = 10;  // seconds
constexpr double kLongestWait = 120;

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

}  // namespace

std::optional<TryTerms> next_try(const Step& step, const Error& error, const TryTerms& terms, int tries,
                                 const RetryRules& rules, double chance) {
  if (tries > rules.retries) return std::nullopt;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr)
    return rules.has_fixed_memory ? std::nullopt : with_more_memory(terms, rules.usable_memory);
  if (rules.is_offline || !passes_by_itself(step, error)) return std::nullopt;
  const double longest = std::min(kLongestWait, kFirstWait * std::pow(2, tries - 1));
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

}  // namespace kiln
