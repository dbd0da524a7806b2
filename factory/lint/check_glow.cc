// Glow beside PyTorch, and the bridge between them.
#include <algorithm>
#include <array>

#include "factory/lint/check_script.h"
#include "factory/lint/whole_file.h"

namespace kiln::lint {
namespace {

bool has_word_with(const ShellCommand& command, std::string_view part) {
  return std::any_of(command.words.begin(), command.words.end(),
                     [&](const ShellToken& word) { return word.text.find(part) != std::string::npos; });
}

bool clones(const PlacedCommand& one, std::string_view repository) {
  const Call call = call_of(*one.command);
  return call.program == "git" && call.has("clone") && has_word_with(*one.command, repository);
}

bool builds(const PlacedCommand& one) {
  static constexpr std::array<std::string_view, 3> kPrograms = {"cmake", "ninja", "make"};
  const std::string program = call_of(*one.command).program;
  return std::find(kPrograms.begin(), kPrograms.end(), program) != kPrograms.end();
}

bool has_pytorch(const WholeFile& whole) {
  const auto& stages = whole.stages;
  if (std::any_of(stages.begin(), stages.end(),
                  [](const FileStage& stage) { return stage.base.find("pytorch") != std::string::npos; }))
    return true;
  for (const PlacedCommand& one : whole.commands()) {
    const std::string program = call_of(*one.command).program;
    if (clones(one, "pytorch/pytorch") || (program == "conda" && has_word_with(*one.command, "pytorch")))
      return true;
  }
  for (const auto& [place, pip] : whole.pip_calls())
    for (const PipPackage& package : pip.packages)
      if (package.name == "torch") return true;
  return false;
}

}  // namespace

void check_glow(const WholeFile& whole, Report& report) {
  if (!whole.mentions("pytorch/glow") || whole.mentions("torch_glow") ||
      whole.mentions("GLOW_BUILD_PYTORCH_INTEGRATION"))
    return;
  const std::vector<PlacedCommand> commands = whole.commands();
  auto clone = std::find_if(commands.begin(), commands.end(),
                            [](const PlacedCommand& one) { return clones(one, "pytorch/glow"); });
  if (clone == commands.end() || !std::any_of(clone, commands.end(), builds) || !has_pytorch(whole)) return;
  add(report, "KL037", *clone->unit, *clone->command, clone->command->span,
      "Glow is built without torch_glow: PyTorch does not know of it");
}

}  // namespace kiln::lint
