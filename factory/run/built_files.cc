#include "factory/run/built_files.h"

#include <fmt/format.h>

namespace kiln {

BuiltFiles::BuiltFiles(const Step& step, const StepRecord& stage, Container& container, Engine& engine)
    : container_(container), stage_(engine.start(&stage)) {
  for (const std::string& path : step.mount) {
    const fs::path source = stage_->place_of(path);
    const fs::file_status status = fs::symlink_status(source);
    if (!fs::exists(status))
      throw Error(ExitCode::images_failed, fmt::format("the build stage left nothing at {}", path));
    if (fs::is_symlink(status))
      throw Error(ExitCode::images_failed, fmt::format("the build stage left a link at {}", path),
                  "name what it leads to");
    mounts_.push_back({source, path});
    for (fs::path folder = path; folder.has_relative_path(); folder = folder.parent_path())
      if (!fs::exists(fs::symlink_status(container_.place_of(folder.string()))))
        made_.push_back(folder.string());
  }
}

void BuiltFiles::take_away() {
  for (const std::string& folder : made_) {
    std::error_code ignored;  // what is not empty is the script's
    fs::remove(container_.place_of(folder), ignored);
  }
}

}  // namespace kiln
