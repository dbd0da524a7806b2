#include "image/engine/buildah.h"

#include <unistd.h>

namespace kiln {
namespace {

// buildah copies its own program into memory before it starts a script, and forbids all to write to that
// copy, which the kernel refuses for as long as it still has a page of it in hand: now and then, on
// Linux 6.18. The script has not begun then.
bool did_not_begin(const CommandResult& result) {
  return result.end == CommandEnd::exited && result.status == 1 &&
         result.tail.starts_with("Close_Fd sealing memfd copy: ");
}

}  // namespace

BuildahEngine::Words BuildahEngine::create(const std::string& name, const std::string& image) const {
  return {"from", "--quiet", "--pull-never", "--name", name, image};
}

BuildahEngine::Words BuildahEngine::commit(const std::string& name, const std::string& image) const {
  return {"commit", "--quiet", "--disable-compression", name, image};
}

BuildahEngine::Words BuildahEngine::look_for(const std::string& image) const {
  return {"inspect", "--type", "image", "--format", "{{.FromImageID}}", image};
}

void BuildahEngine::unpack(const std::string& name, const fs::path&, const fs::path& tar) {
  must({"add", "--quiet", name, tar.string(), "/"});
}

CommandResult BuildahEngine::run(const std::string& name, const fs::path&, const ContainerRun& request) {
  const ContainerScript script(request, setup_);
  Words arguments = {"run",    "--isolation", "chroot",       "--network",   "host",
                     "--user", "0:0",         "--workingdir", request.folder};
  if (request.interactive && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1)
    arguments.emplace_back("--terminal");
  for (const Mount& mount : script.mounts()) arguments.insert(arguments.end(), {"--volume", mount.volume()});
  arguments.insert(arguments.end(), {name, "--"});
  const Words inside = script.argv();
  arguments.insert(arguments.end(), inside.begin(), inside.end());
  const Command command = script.command(words(arguments));
  CommandResult result = setup_.runner.run(command);
  for (int again = 0; again < 3 && did_not_begin(result); ++again) result = setup_.runner.run(command);
  script.check(result, "buildah");
  return result;
}

}  // namespace kiln
