#include "factory/engine/container_files.h"

#include <fmt/format.h>

#include "factory/base/file_mask.h"
#include "factory/base/text.h"
#include "factory/engine/resolve_inside.h"

namespace kiln {
namespace {

void call(std::vector<std::string> argv, const fs::path& log, const std::string& doing,
          const EngineSetup& setup) {
  Command command;
  command.argv = std::move(argv);
  command.environment = setup.environment;
  command.file_mask = kImageMask;
  command.unsynced = true;  // EngineSession
  command.log = log;
  const CommandResult result = setup.runner.run(command);
  if (result.ok()) return;
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  throw Error(ExitCode::store, fmt::format("cannot {}: {}", doing, last_lines(result.tail, 1)));
}

}  // namespace

void unpack_archive(const fs::path& tar, const fs::path& tree, const EngineSetup& setup) {
  call({"tar", "--extract", "--file", tar.string(), "--directory", tree.string(), "--numeric-owner",
        "--same-owner", "--preserve-permissions", "--xattrs", "--xattrs-include=*"},
       "", "unpack " + tar.filename().string(), setup);
}

void copy_between(const fs::path& from, const fs::path& to, const std::string& path, const fs::path& log,
                  const EngineSetup& setup) {
  const fs::path source = resolve_inside(from, path);
  if (!fs::exists(fs::symlink_status(source)))
    throw Error(ExitCode::images_failed, fmt::format("the build stage left nothing at {}", path));
  const fs::path target = resolve_inside(to, path);
  {
    const FileMask of_images(kImageMask);
    fs::create_directories(target.parent_path());
  }
  // cp and not `buildah copy`, which forgets owners and the mode of the topmost folder. --remove-destination:
  // never write through a link that happens to lie at the target.
  call({"cp", "--archive", "--reflink=auto", "--remove-destination", "--no-target-directory", "--",
        source.string(), target.string()},
       log, "copy " + path, setup);
}

}  // namespace kiln
