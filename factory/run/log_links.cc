#include "factory/run/log_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "factory/base/digest.h"
#include "factory/base/text.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 200;  // of a folder's name

std::string plain_name(std::string text) {
  for (char& c : text)
    if (c == '/' || is_control(c)) c = '-';
  return text;
}

void link_log(const fs::path& folder, const std::string& name, const std::string& key) {
  std::error_code ignored;  // the log itself is where it is
  fs::create_symlink(fs::path("..") / (key + ".log"), folder / (name + ".log"), ignored);
}

}  // namespace

std::string log_folder_name(const std::string& cell) {
  std::string name = plain_name(cell);
  if (name.starts_with('.')) name[0] = '_';
  if (name.size() <= kLongestName) return name;
  return name.substr(0, kLongestName) + "-" + Digest::of(cell).hex().substr(0, 12);
}

void link_logs(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state) {
  std::error_code ignored;
  if (!fs::is_directory(state.root(), ignored)) return;
  for (std::uint32_t number : images) {
    const ResolvedImage image = plan.image(number);
    const fs::path folder = state.log(image.key()).parent_path() / log_folder_name(image.id());
    fs::remove_all(folder, ignored);
    fs::create_directories(folder, ignored);
    int place = 0;
    auto link_all = [&](const std::vector<StepTable::Number>& steps, const char* before) {
      for (StepTable::Number step : steps)
        link_log(folder,
                 fmt::format("{:02}-{}{}", ++place, before, plain_name(plan.steps().pattern(step).component)),
                 plan.steps().hex(step));
    };
    link_all(image.steps(), "");
    link_all(image.tests(), "test-");
    link_log(folder, "image", image.key());
  }
}

}  // namespace kiln
