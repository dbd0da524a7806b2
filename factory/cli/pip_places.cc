#include "factory/cli/pip_places.h"

#include "factory/base/text.h"

namespace kiln {
namespace {

// pip alone knows it, and says it in its help.
std::string default_index(Invocation& invocation) {
  if (!invocation.runner.find_program("python3")) return "";
  Command command;
  command.argv = {"python3", "-m", "pip", "install", "--help"};
  command.environment = invocation.child_environment();
  command.environment["COLUMNS"] = "1000";
  command.environment["LC_ALL"] = "C";
  command.capture_stdout = true;
  command.limits.wall = std::chrono::minutes(1);
  const CommandResult result = invocation.runner.run(command);
  if (result.end == CommandEnd::interrupted) throw Error(ExitCode::interrupted, "interrupted");
  return result.ok() ? default_index_in(result.output) : "";
}

}  // namespace

std::optional<PipIndex> index_of_pip(const Site& site, Invocation& invocation) {
  std::optional<PipIndex> index = pip_index(invocation.files, invocation.environment, site.pip_configuration);
  if (!index || !index->url.empty()) return index;
  index->url = default_index(invocation);
  index->from = "pip";
  return index;
}

PipPlaces pip_places(const Site& site, Invocation& invocation) {
  PipPlaces places{index_of_pip(site, invocation), {}};
  if (places.index && places.index->url.empty()) places.index.reset();
  const auto links = invocation.environment.find("PIP_FIND_LINKS");
  if (links == invocation.environment.end()) return places;
  for (std::string_view word : split(links->second, ' ')) {
    if (word.starts_with("file://")) word.remove_prefix(std::string_view("file://").size());
    if (word.starts_with('/') && invocation.files.is_directory(word)) places.folders.emplace_back(word);
  }
  return places;
}

}  // namespace kiln
