// A Bazel that TensorFlow's configure refuses: the table of data/tensorflow.json.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "factory/base/text.h"
#include "factory/lint/check_cells.h"
#include "factory/lint/checks.h"
#include "factory/lint/release_facts.h"

namespace kiln::lint {
namespace {

void add_versions_behind(std::string_view text, std::string_view mark, std::set<Version>& versions) {
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1))
    if (const std::string version = version_at(text.substr(at + mark.size())); !version.empty())
      versions.insert(Version(version));
}

// Releases of Bazel that the file names: in downloads, packages and variables.
std::set<Version> bazels_of(const WholeFile& whole) {
  std::set<Version> versions;
  auto look_at = [&](const std::string& text) {
    for (std::string_view mark : {"/bazel/releases/download/", "bazel-", "bazel_", "bazel="})
      add_versions_behind(text, mark, versions);
  };
  for (const PlacedCommand& one : whole.commands())
    for (const ShellToken& word : one.command->words) look_at(whole.expanded(word.text));
  for (const Setting& setting : whole.settings)
    if (contains(upper_case(setting.name), "BAZEL"))
      if (const std::string version = version_at(setting.value); !version.empty())
        versions.insert(Version(version));
  return versions;
}

// "2.1.0" of v2.1.0, tags/v2.1.0 and v2.1.0-rc1; "2.1" of r2.1.
std::string release_named(std::string_view name) {
  for (std::string_view prefix : {"refs/", "remotes/", "origin/", "tags/", "heads/"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (!name.empty() && (name.front() == 'v' || name.front() == 'r')) name.remove_prefix(1);
  const std::string version = version_at(name);
  const std::string_view rest = name.substr(version.size());
  return rest.empty() || rest.starts_with("-rc") ? version : "";
}

struct Checkout {
  PlacedCommand place;
  Span span;
  std::string release;
};

bool is_upstream(std::string_view url) {
  const std::string lower = lower_case(url);
  return contains(lower, "tensorflow/tensorflow");
}

// Releases of TensorFlow whose source the file takes: by clone and checkout, or as an archive.
std::vector<Checkout> checkouts_of(const WholeFile& whole) {
  std::vector<Checkout> all;
  bool tensorflow = false;  // the newest clone is TensorFlow's
  for (const PlacedCommand& one : whole.commands()) {
    const Call call = call_of(*one.command);
    const bool clone = call.program == "git" && call.has("clone");
    if (clone)
      tensorflow = std::ranges::any_of(
          call.arguments, [&](const ShellToken* word) { return is_upstream(whole.expanded(word->text)); });
    for (const ShellToken* word : call.arguments) {
      const std::string text = whole.expanded(word->text);
      std::string release;
      if (const std::size_t archive = text.find("/archive/");
          archive != std::string::npos && is_upstream(text)) {
        std::string name = text.substr(archive + std::string_view("/archive/").size());
        name.resize(std::min({name.size(), name.find(".tar"), name.find(".zip")}));
        release = release_named(name);
      } else if (tensorflow && (clone || (call.program == "git" && call.has("checkout")))) {
        release = release_named(
            text.starts_with("--branch=") ? text.substr(std::string_view("--branch=").size()) : text);
      }
      if (!release.empty()) all.push_back({one, word->span, release});
    }
  }
  return all;
}

std::string range_text(const BazelRange& range) {
  return range.first == range.last ? range.first.text()
                                   : fmt::format("{} to {}", range.first.text(), range.last.text());
}

bool fits_range(const Version& bazel, const BazelRange& range) {
  return (range.first <= bazel && bazel <= range.last) || bazel.covers(range.first);
}

}  // namespace

void check_bazel(const WholeFile& whole, Report& report) {
  if (!whole.mentions("bazel") && !whole.mentions("BAZEL")) return;
  const std::set<Version> bazels = bazels_of(whole);
  if (bazels.empty()) return;
  for (const Checkout& checkout : checkouts_of(whole)) {
    const auto range = bazel_for(Version(checkout.release));
    if (!range) continue;
    if (std::ranges::any_of(bazels, [&](const Version& bazel) { return fits_range(bazel, *range); }))
      continue;
    std::vector<std::string> given;
    for (const Version& bazel : bazels) given.push_back(bazel.text());
    Finding& finding = add(report, "KL036", *checkout.place.unit, *checkout.place.command, checkout.span,
                           fmt::format("TensorFlow {} is built with Bazel {}, and here is {}",
                                       checkout.release, range_text(*range), fmt::join(given, ", ")));
    if (range->derived) finding.severity = Severity::warning;
  }
}

void check_bazel_of(const Cell& cell, const CellInput& input, CellReport& report) {
  for (const Stage& stage : cell.spec->stages) {
    const std::vector<Laid> laid = laid_in(stage, input.recipes);
    auto named = [&](Kind kind, std::string_view name) {
      return std::ranges::find_if(
          laid, [&](const Laid& one) { return one.component->kind == kind && one.component->name == name; });
    };
    auto tensorflow = named(Kind::framework, "tensorflow");
    auto bazel = named(Kind::toolchain, "bazel");
    if (tensorflow == laid.end() || bazel == laid.end()) continue;
    const auto range = bazel_for(tensorflow->version->version);
    if (!range || fits_range(bazel->version->version, *range)) continue;
    report.add("KL036", tensorflow->version->where,
               fmt::format("TensorFlow {} is built with Bazel {}, and stage '{}' has {}",
                           tensorflow->version->version.text(), range_text(*range), stage.name,
                           bazel->version->version.text()),
               cell.id(), range->derived ? std::optional(Severity::warning) : std::nullopt);
  }
}

// Glow beside PyTorch, and the bridge between them.

namespace {

bool has_word_with(const ShellCommand& command, std::string_view part) {
  return std::ranges::any_of(command.words,
                             [&](const ShellToken& word) { return contains(word.text, part); });
}

bool clones(const PlacedCommand& one, std::string_view repository) {
  const Call call = call_of(*one.command);
  return call.program == "git" && call.has("clone") && has_word_with(*one.command, repository);
}

bool builds(const PlacedCommand& one) {
  const std::string program = call_of(*one.command).program;
  return is_one_of(program, "cmake ninja make");
}

bool has_pytorch(const WholeFile& whole) {
  if (std::ranges::any_of(whole.stages,
                          [](const FileStage& stage) { return contains(stage.base, "pytorch"); }))
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
  auto clone =
      std::ranges::find_if(commands, [](const PlacedCommand& one) { return clones(one, "pytorch/glow"); });
  if (clone == commands.end() || !std::any_of(clone, commands.end(), builds) || !has_pytorch(whole)) return;
  add(report, "KL037", *clone->unit, *clone->command, clone->command->span,
      "Glow is built without torch_glow: PyTorch does not know of it");
}

// Wheels for GPUs in a file that says that its image is for CPUs.

namespace {

bool speaks_of_gpus(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kWords = {"gpu", "cuda", "rocm", "nvidia"};
  const std::string lower = lower_case(text);
  return std::ranges::any_of(kWords, [&](std::string_view word) { return contains(lower, word); });
}

bool says_cpu(std::string_view text) { return has_whole_word(text, "cpu") && !speaks_of_gpus(text); }

// USE_CUDA=0 and its like.
bool is_without_cuda(const Setting& setting) {
  const std::string value = lower_case(setting.value);
  return is_one_of(setting.name, "USE_CUDA TF_NEED_CUDA WITH_CUDA USE_GPU") &&
         is_one_of(value, "0 off no false n none");
}

// By its path, a base's tag, a stage's name, a label, or a framework that it builds without CUDA.
bool is_for_cpus(const WholeFile& whole) {
  const auto& stages = whole.stages;
  if (std::ranges::any_of(stages, [](const FileStage& stage) { return speaks_of_gpus(stage.base); }))
    return false;
  for (std::string_view sign : {"/usr/local/cuda", "cuda-toolkit", "cudatoolkit", "nvidia-cuda-toolkit"})
    if (whole.mentions(sign)) return false;
  return says_cpu(whole.file->path()) ||
         std::ranges::any_of(
             stages, [](const FileStage& stage) { return says_cpu(stage.base) || says_cpu(stage.name); }) ||
         std::ranges::any_of(whole.labels, says_cpu) || std::ranges::any_of(whole.settings, is_without_cuda);
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
