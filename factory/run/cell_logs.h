// The logs of what was run for a cell.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "factory/base/effects.h"
#include "factory/plan/build_plan.h"
#include "factory/resolve/resolve.h"
#include "factory/state/state.h"

namespace kiln {

// Logs under names that a person finds. Logs are kept by key, because images share steps. In the same folder,
// each cell has a folder with a link for each of its steps and tests, in order:
//
//   logs/679acb….log
//   logs/pytorch-2.6.0-distro-x86_64-debian_trixie/01-base-debian.log -> ../679acb….log
//                                                  03-test-framework-pytorch.log, image.log

// The folder's name: the cell's id as one file name.
std::string log_folder_name(const std::string& cell);

// The links of these images; those of earlier plans go. A link that cannot be made is no error.
void link_logs(const BuildPlan& plan, const ImageNumbers& images, const StatePaths& state);

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
