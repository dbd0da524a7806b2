// Wheels for GPUs in a file that says that its image is for CPUs.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "factory/lint/check_script.h"
#include "factory/lint/wheel_kind.h"
#include "factory/lint/whole_file.h"

namespace kiln::lint {
namespace {

bool speaks_of_gpus(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kWords = {"gpu", "cuda", "rocm", "nvidia"};
  const std::string lower = lower_case(text);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

bool says_cpu(std::string_view text) { return has_whole_word(text, "cpu") && !speaks_of_gpus(text); }

// USE_CUDA=0 and its like.
bool is_without_cuda(const Setting& setting) {
  static constexpr std::array<std::string_view, 4> kNames = {"USE_CUDA", "TF_NEED_CUDA", "WITH_CUDA",
                                                             "USE_GPU"};
  static constexpr std::array<std::string_view, 6> kNo = {"0", "off", "no", "false", "n", "none"};
  const std::string value = lower_case(setting.value);
  return std::find(kNames.begin(), kNames.end(), setting.name) != kNames.end() &&
         std::find(kNo.begin(), kNo.end(), value) != kNo.end();
}

// By its path, a base's tag, a stage's name, a label, or a framework that it builds without CUDA.
bool is_for_cpus(const WholeFile& whole) {
  const auto& stages = whole.stages;
  if (std::any_of(stages.begin(), stages.end(),
                  [](const FileStage& stage) { return speaks_of_gpus(stage.base); }))
    return false;
  for (std::string_view sign : {"/usr/local/cuda", "cuda-toolkit", "cudatoolkit", "nvidia-cuda-toolkit"})
    if (whole.mentions(sign)) return false;
  return says_cpu(whole.file->path()) ||
         std::any_of(stages.begin(), stages.end(),
                     [](const FileStage& stage) { return says_cpu(stage.base) || says_cpu(stage.name); }) ||
         std::any_of(whole.labels.begin(), whole.labels.end(), says_cpu) ||
         std::any_of(whole.settings.begin(), whole.settings.end(), is_without_cuda);
}

bool is_for_arm(const WholeFile& whole) { return whole.mentions("arm64") || whole.mentions("aarch64"); }

}  // namespace

void check_cpu_image(const WholeFile& whole, Report& report) {
  const auto calls = whole.pip_calls();
  if (calls.empty() || !is_for_cpus(whole)) return;
  for (const auto& [place, pip] : calls) {
    if (in_recipe(place.unit->place)) continue;  // the cells say what a recipe is for
    for (const PipPackage& written : pip.packages) {
      PipPackage package = written;
      package.version = whole.expanded(written.version);
      const WheelKind* kind =
          wheel_kind(package, whole.expanded(pip.words.index), is_for_arm(whole) ? "" : "amd64");
      if (kind == nullptr || !kind->gpu) continue;
      Finding& finding = add(report, "KL020", *place.unit, *place.command, written.span,
                             fmt::format("'{}{}{}' in a file for CPUs: {}", package.name,
                                         package.version.empty() ? "" : "==", package.version, kind->why));
      finding.hint = "take the CPU wheel";
      if (kind->runs_anywhere) finding.severity = Severity::warning;
    }
  }
}

}  // namespace kiln::lint
