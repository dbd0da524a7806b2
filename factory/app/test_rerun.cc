#include "factory/app/test_rerun.h"

#include "factory/run/publish.h"
#include "factory/state/state_names.h"

namespace kiln {
namespace {

std::string result_of(const std::optional<TestRecord>& record, const std::optional<FailureRecord>& failure) {
  if (failure) return "failed: " + failure->what;
  if (!record) return "not reached";
  const std::string why = not_run_reason(record->last_line);
  return why.empty() ? "passed" : "not run: " + why;
}

}  // namespace

ImageNumbers TestRerun::packaged(const ImageNumbers& chosen, std::vector<std::string>& unbuilt) const {
  StateNames names(*state_, *files_);
  ImageNumbers images;
  for (const std::uint32_t number : chosen) {
    const ResolvedImage image = plan_->image(number);
    if (names.is_packaged(image))
      images.push_back(number);
    else
      unbuilt.push_back(image.reference());
  }
  return images;
}

ImageNumbers TestRerun::begin(const ImageNumbers& images, bool again) {
  const RecordReader reader(*state_, *files_);
  const RecordWriter writer(*state_, *files_);
  ImageNumbers open;
  for (const std::uint32_t number : images) {
    bool is_open = false;
    for (const StepTable::Number test : plan_->image(number).tests()) {
      const std::string key = plan_->steps().hex(test);
      const auto record = reader.test(key);
      if (record && !again && not_run_reason(record->last_line).empty()) continue;
      if (record && begun_.insert(key).second) writer.remove_test(key);
      is_open = true;
    }
    if (is_open) open.push_back(number);
  }
  return open;
}

std::vector<TestState> TestRerun::states(const ImageNumbers& images) const {
  const RecordReader reader(*state_, *files_);
  std::vector<TestState> states;
  for (const std::uint32_t number : images) {
    const ResolvedImage image = plan_->image(number);
    for (const StepTable::Number test : image.tests()) {
      const std::string key = plan_->steps().hex(test);
      const auto record = reader.test(key);
      TestState state{image.reference(), plan_->steps().pattern(test).title,
                      result_of(record, record ? std::nullopt : reader.failure(key))};
      state.run_now = begun_.contains(key);
      if (record) {
        state.machine = test_run(*record).text();
        state.taken = record->taken;
      }
      states.push_back(std::move(state));
    }
  }
  return states;
}

}  // namespace kiln
