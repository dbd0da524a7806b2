#include "factory/run/cell_logs.h"

#include <sys/stat.h>

#include <algorithm>

#include "factory/base/enum_names.h"
#include "factory/state/record_store.h"

namespace kiln {
namespace {

constexpr auto kLogStates = enum_names<LogState>(
    {{LogState::done, "done"}, {LogState::failed, "failed"}, {LogState::unfinished, "unfinished"}});

}  // namespace

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
  auto failed = std::find_if(logs.begin(), logs.end(),
                             [](const CellLog& log) { return log.state == LogState::failed; });
  if (failed != logs.end()) return *failed;
  // Of one second, the later in the order of execution.
  return *std::max_element(logs.begin(), logs.end(),
                           [](const CellLog& a, const CellLog& b) { return a.written <= b.written; });
}

}  // namespace kiln
