#include "factory/run/lost_steps.h"

#include <algorithm>
#include <utility>

#include "factory/base/text.h"
#include "factory/run/failure.h"
#include "factory/run/progress.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr std::string_view kFailed = "FAILED: ";
constexpr std::size_t kLongest = 160;  // bytes of what it printed

}  // namespace

LostSteps::LostSteps(const BuildSetup& setup, const ImageNumbers& images) : setup_(setup) {
  auto add = [&](const char* folder, StepTable::Number step) {
    const std::string key = setup.plan.steps().hex(step);
    edges_.emplace(folder + key + ".json", key);
    titles_.insert(setup.plan.steps().pattern(step).title);
  };
  for (std::uint32_t number : images) {
    const ResolvedImage image = setup.plan.image(number);
    for (StepTable::Number step : image.steps()) add("steps/", step);
    for (StepTable::Number test : image.tests()) add("tests/", test);
    edges_.emplace("built/" + image.record_name() + ".json", image.key());
    titles_.insert("image " + image.reference());
  }
}

// What follows the command is its own output, until the title of another edge.
void LostSteps::read(std::string_view line) {
  if (line.starts_with(kFailed)) {
    std::string_view made = trimmed(line.substr(kFailed.size()));
    if (made.starts_with('[')) made.remove_prefix(std::min(made.size(), made.find("] ") + 2));  // "[code=1] "
    auto edge = edges_.find(made);
    now_ = edge == edges_.end() ? "" : edge->second;
    is_command_ = true;
    if (!now_.empty()) failed_.emplace(now_, "");
  } else if (line.starts_with("ninja: ") || titles_.contains(line)) {
    now_.clear();
  } else if (!now_.empty() && !std::exchange(is_command_, false) && !trimmed(line).empty()) {
    failed_[now_] = without_controls(line.substr(0, kLongest));
  }
}

bool LostSteps::left_a_record(const std::string& key) const {
  const RecordReader reader(setup_.state, setup_.files);
  return reader.step(key) || reader.test(key) || reader.failure(key);
}

std::size_t LostSteps::count() const {
  return static_cast<std::size_t>(std::count_if(
      failed_.begin(), failed_.end(), [&](const auto& failed) { return !left_a_record(failed.first); }));
}

void LostSteps::record() const {
  for (const auto& [key, said] : failed_) {
    if (left_a_record(key)) continue;
    const Error error(ExitCode::images_failed,
                      "its process ended without a record" + (said.empty() ? "" : ": " + said),
                      "the launcher of the site file, or kiln itself: it is in what ninja printed");
    FailureRecord failure = failure_record(key, error, 0, setup_.state.log(key));
    failure.failure = FailureClass::infrastructure;
    RecordWriter(setup_.state, setup_.files).write(failure);
  }
}

}  // namespace kiln
