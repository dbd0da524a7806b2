#include "factory/run/build_progress.h"

#include <fmt/format.h>

#include <set>

#include "factory/base/read_whole.h"

namespace kiln {
namespace {

// "zen3", or "zen3 and 2 more": the targets of the images that need each step, test and packaging.
std::map<std::string, std::string> targets_of(const ImageNumbers& images, const BuildSetup& setup) {
  std::map<std::string, std::set<std::string>> names;
  for (std::uint32_t number : images) {
    const ResolvedImage image = setup.plan.image(number);
    const std::string& target = image.target().name;
    for (StepTable::Number step : image.steps()) names[setup.plan.steps().hex(step)].insert(target);
    for (StepTable::Number test : image.tests()) names[setup.plan.steps().hex(test)].insert(target);
    names[image.key()].insert(target);
  }
  std::map<std::string, std::string> targets;
  for (const auto& [key, all] : names)
    targets[key] = *all.begin() + (all.size() > 1 ? fmt::format(" and {} more", all.size() - 1) : "");
  return targets;
}

}  // namespace

ProgressSource progress_source(const ImageNumbers& images, const BuildSetup& setup) {
  constexpr std::uint64_t kEndOfLog = 4096;
  auto last_line = [&state = setup.state](const std::string& key) -> std::string {
    try {
      return last_line_of(read_end(state.log(key), kEndOfLog));
    } catch (const Error&) {
      return "";  // the file system does not give it now: a line less to show
    }
  };
  return {targets_of(images, setup), last_line};
}

}  // namespace kiln
