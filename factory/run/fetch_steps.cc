#include "factory/run/fetch_steps.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "factory/state/lock.h"

namespace kiln {
namespace {

constexpr std::size_t kMostThreads = 4;  // each has a connection

class Fetching {
 public:
  Fetching(const BuildSetup& setup, std::set<std::string> shared, Progress& progress, BuildReport& report)
      : setup_(setup),
        shared_(std::move(shared)),
        progress_(progress),
        report_(report),
        names_(setup.state, setup.files) {}

  // What could not be fetched makes those below it wanted.
  void run(const ImageNumbers& images, std::size_t threads) {
    for (std::vector<StepTable::Number> wanted = uppermost(images); !wanted.empty();
         wanted = uppermost(images)) {
      next_ = 0;
      std::vector<std::thread> others;
      for (std::size_t i = 1; i < std::min(threads, wanted.size()); ++i)
        others.emplace_back([&] { fetch_all(wanted); });
      fetch_all(wanted);
      for (std::thread& other : others) other.join();
      if (problem_) std::rethrow_exception(problem_);
    }
  }

 private:
  bool has(StepTable::Number step) {
    const std::string key = setup_.plan.steps().hex(step);
    return is_test(step) ? names_.has_test(key) : names_.has_step(key);
  }
  // By now: another build may have been faster.
  bool is_recorded(const Step& step) const {
    return setup_.files.exists(step.kind == StepKind::test ? setup_.state.test(step.key)
                                                           : setup_.state.step(step.key));
  }
  void set_tried(StepTable::Number number) {
    const std::lock_guard lock(mutex_);
    tried_.insert(setup_.plan.steps().first(number));
  }
  bool is_test(StepTable::Number step) const {
    return setup_.plan.steps().pattern(step).kind == StepKind::test;
  }

  // Those that others have, and that are not done, on the way down from the images.
  std::vector<StepTable::Number> uppermost(const ImageNumbers& images) {
    const StepTable& steps = setup_.plan.steps();
    std::vector<StepTable::Number> next, wanted;
    std::set<StepTable::Number> seen;
    for (std::uint32_t number : images) {
      const ResolvedImage image = setup_.plan.image(number);
      next.push_back(image.steps().back());
      for (StepTable::Number test : image.tests()) next.push_back(test);
    }
    while (!next.empty()) {
      const StepTable::Number step = next.back();
      next.pop_back();
      if (step == StepTable::kNone || !seen.insert(steps.first(step)).second) continue;
      if (fetched_.contains(steps.first(step)) || has(step)) continue;
      const SharedName name{steps.hex(step), is_test(step)};
      if (!tried_.contains(steps.first(step)) && shared_.contains(name.text())) {
        wanted.push_back(step);
        continue;
      }
      next.push_back(steps.parent(step));
      next.push_back(steps.from(step));
    }
    return wanted;
  }

  void fetch_all(const std::vector<StepTable::Number>& wanted) {
    try {
      const auto shared = setup_.open_shared([this](const std::string& text) { progress_.note(text); });
      for (std::size_t i = next_++; i < wanted.size(); i = next_++) fetch(wanted[i], *shared);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      problem_ = std::current_exception();
      next_ = wanted.size();
    }
  }

  void fetch(StepTable::Number number, SharedSteps& shared) {
    const Step step = setup_.plan.steps().step(number);
    // Another build that runs it gives it to us as well as another machine does.
    const auto alone = Claim::try_take(setup_.state, step.key, this_process(setup_.clock));
    const bool is_ours = alone && !is_recorded(step);
    if (!is_ours) return set_tried(number);
    const double start = setup_.clock.monotonic_seconds();
    const auto fetched = shared.fetch(wanted_of(step, setup_.site));
    const std::lock_guard lock(mutex_);
    tried_.insert(setup_.plan.steps().first(number));
    if (auto why = shared.forged({step.key, is_test(number)}); !why.empty()) {
      report_.add({step.key, step.title, why});
      progress_.event({StepEvent::State::forged, step.key, step.title, 0, why});
    }
    if (!fetched) return;
    fetched_.insert(setup_.plan.steps().first(number));
    ++report_.steps_fetched;
    progress_.event({StepEvent::State::fetched, step.key, step.title,
                     setup_.clock.monotonic_seconds() - start, fetched->from});
  }

  const BuildSetup& setup_;
  const std::set<std::string> shared_;
  Progress& progress_;
  BuildReport& report_;
  StateNames names_;
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_;  // of what follows
  std::set<StepTable::Number> tried_, fetched_;
  std::exception_ptr problem_;
};

}  // namespace

SharedSteps::Wanted wanted_of(const Step& step, const Site& site) {
  const std::string_view written =
      site.layer_compression == LayerCompression::gzip ? media_type::kLayerGzip : media_type::kLayerZstd;
  const bool is_written = step.kind != StepKind::test && step.kind != StepKind::pull;
  return {{step.key, step.kind == StepKind::test}, step.title, std::string(is_written ? written : "")};
}

void fetch_steps(const BuildSetup& setup, const ImageNumbers& images, int jobs, Progress& progress,
                 BuildReport& report) {
  if (!setup.open_shared) return;
  SharedSteps::try_again(setup.state, setup.files);
  const auto shared = setup.open_shared([&](const std::string& text) { progress.note(text); });
  std::set<std::string> names = shared->names();
  if (names.empty()) return;
  Fetching(setup, std::move(names), progress, report)
      .run(images, std::min(kMostThreads, static_cast<std::size_t>(std::max(1, jobs))));
}

void share_steps(const BuildSetup& setup, const ImageNumbers& images, Progress& progress) {
  if (!setup.open_shared || !setup.site.shared_steps.writes()) return;
  const auto shared = setup.open_shared([&](const std::string& text) { progress.note(text); });
  const std::set<std::string> names = shared->names();
  StateNames here(setup.state, setup.files);
  for (StepTable::Number number : StepUses(setup.plan, images).steps()) {
    const Step step = setup.plan.steps().step(number);
    const SharedSteps::Wanted made = wanted_of(step, setup.site);
    if (names.contains(made.name.text())) continue;
    if (made.name.is_test ? here.has_test(step.key) : here.has_step(step.key)) shared->share(made);
  }
}

}  // namespace kiln
