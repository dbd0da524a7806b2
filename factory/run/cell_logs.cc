#include "factory/run/cell_logs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "factory/base/digest.h"
#include "factory/base/enum_names.h"
#include "factory/base/text.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

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

constexpr auto kLogStates = enum_names<LogState>(
    {{LogState::done, "done"}, {LogState::failed, "failed"}, {LogState::unfinished, "unfinished"}});

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

std::string_view name_of(LogState state) { return kLogStates.of(state); }

std::vector<CellLog> cell_logs(const ImageSpec& image, const StatePaths& state, const FileSystem& files) {
  std::vector<CellLog> logs;
  auto add = [&](const std::string& title, const std::string& key, const fs::path& record) {
    const fs::path file = state.log(key);
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return;
    LogState end = files.exists(state.failure(key)) ? LogState::failed
                   : files.exists(record)           ? LogState::done
                                                    : LogState::unfinished;
    logs.push_back({title, key, end, status.st_mtim.tv_sec, file});
  };
  for (const Step* step : image.steps()) add(step->title, step->key, state.step(step->key));
  for (const Step& test : image.tests) add(test.title, test.key, state.test(test.key));
  add("image " + image.repository + ":" + image.tag, image.key, state.built(record_name(image)));
  return logs;
}

const CellLog& last_log(const std::vector<CellLog>& logs) {
  auto failed = std::ranges::find_if(logs, [](const CellLog& log) { return log.state == LogState::failed; });
  if (failed != logs.end()) return *failed;
  // Of one second, the later in the order of execution.
  return *std::ranges::max_element(logs,
                                   [](const CellLog& a, const CellLog& b) { return a.written <= b.written; });
}

}  // namespace kiln
