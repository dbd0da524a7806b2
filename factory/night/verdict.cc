#include "factory/night/verdict.h"

#include <fmt/format.h>

namespace kiln {
namespace {

bool failed_before(const NightImage* before) { return before != nullptr && before->failing_since > 0; }

bool has_failed(const NightImage& image) {
  return image.verdict == Verdict::failed || image.verdict == Verdict::unplanned;
}

void advise(NightImage& image, Actor actor, std::string advice) {
  image.actor = actor;
  image.advice = std::move(advice);
}

void advise_on_infrastructure(NightImage& image, std::int64_t nights) {
  switch (image.cause) {
    case ExitCode::store:
      return advise(image, Actor::site, "make room on the disk, or mend it: `kiln gc` says what can go");
    case ExitCode::tool_missing:
      return advise(image, Actor::site, "install what is missing: `kiln doctor` says what that is");
    default:
      break;
  }
  if (nights <= kNightsOfPatience) return advise(image, Actor::nobody, "the next night tries again");
  advise(image, Actor::site,
         fmt::format("it is the {} night in a row: something stands in the way for good",
                     nights == 3 ? "third" : fmt::format("{}th", nights)));
}

void advise_on_failure(NightImage& image, std::int64_t nights) {
  switch (image.failure) {
    case FailureClass::input:
      return advise(image, Actor::recipe,
                    "fix the recipe or the matrix; kiln cannot build the image until then");
    case FailureClass::build:
      return advise(
          image, Actor::recipe,
          image.step.empty() ? "look at what its packaging found, in its log" : "look at the end of its log");
    case FailureClass::policy:
      return advise(image, Actor::site,
                    image.cause == ExitCode::network
                        ? "the registry or a policy refuses it: look at who we are there"
                        : "Slurm refuses the job: mend \"slurm\" in the site file; `kiln doctor` checks it");
    case FailureClass::infrastructure:
      return advise_on_infrastructure(image, nights);
  }
}

}  // namespace

Verdict verdict_of(const ImageOutcome& outcome, const NightImage* before) {
  switch (outcome.outcome) {
    case Outcome::built:
      return failed_before(before) ? Verdict::mended : Verdict::built;
    case Outcome::up_to_date:
      // It was built by hand since.
      return failed_before(before) ? Verdict::mended : Verdict::unchanged;
    case Outcome::failed:
      return Verdict::failed;
    case Outcome::skipped:
      return Verdict::no_machine;
    case Outcome::not_reached:
      break;
  }
  return Verdict::not_reached;
}

void judge(NightImage& image, const NightImage* before, std::int64_t night) {
  image.actor = Actor::nobody;
  image.advice.clear();
  // Who was not reached is not known to be well.
  const bool is_open = has_failed(image) || (!is_good(image.verdict) && failed_before(before));
  image.failing_since = !is_open ? 0 : failed_before(before) ? before->failing_since : night;
  switch (image.verdict) {
    case Verdict::built:
    case Verdict::mended:
    case Verdict::unchanged:
      return;
    case Verdict::failed:
      return advise_on_failure(image, night - image.failing_since + 1);
    case Verdict::unplanned:
      return advise(image, Actor::recipe, "fix the named line; kiln cannot build the image until then");
    case Verdict::not_reached:
      return advise(image, Actor::nobody, "the next night goes on with it");
    case Verdict::no_time:
      return advise(image, Actor::nobody, "it did not fit into the budget: a later night has its turn");
    case Verdict::no_machine:
      return advise(image, Actor::nobody, "a machine of its architecture builds it");
  }
}

}  // namespace kiln
