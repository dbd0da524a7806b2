// The logs of what was run for a cell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/resolve/resolve.h"
#include "factory/state/state.h"

namespace kiln {

enum class LogState { done, failed, unfinished };  // unfinished: it runs, or was stopped
std::string_view name_of(LogState state);

struct CellLog {
  std::string title;  // "hello 2.1 (distro)"
  std::string key;    // of the step or test, or of the image
  LogState state = LogState::done;
  std::int64_t written = 0;  // seconds since 1970 (UTC)
  fs::path file;
};

// In order of execution, the image last: those that there are.
std::vector<CellLog> cell_logs(const ImageSpec& image, const StatePaths& state, const FileSystem& files);

// The first that failed, which is why there is no image; else the one that was written last. REQUIRES: there
// is one.
const CellLog& last_log(const std::vector<CellLog>& logs);

}  // namespace kiln
