#include "factory/render/stage_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "factory/base/error.h"
#include "factory/base/quote.h"
#include "factory/base/text.h"
#include "factory/render/render.h"

namespace kiln {
namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view value, std::string hint) {
  throw Error(ExitCode::input, fmt::format("{} '{}' cannot be rendered", what, one_line(value)),
              std::move(hint));
}

bool all_of(std::string_view text, std::string_view others) {
  return !text.empty() &&
         std::ranges::all_of(text, [&](char c) { return is_letter_or_digit(c) || contains(others, c); });
}

// Docker wants stage names in lower case, without "+"; two recipes may then fall together.
std::string stage_name(std::string_view name, const std::vector<RenderStage>& taken) {
  std::string plain;
  for (char c : name) {
    bool fits = is_letter_or_digit(c) || c == '-' || c == '.' || c == '_';
    plain += fits ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  if (plain.empty() || std::isalpha(static_cast<unsigned char>(plain[0])) == 0) plain = "stage-" + plain;
  auto used = [&](const std::string& candidate) {
    return std::ranges::any_of(taken, [&](const RenderStage& s) { return s.name == candidate; });
  };
  std::string unique = plain;
  for (int number = 2; used(unique); ++number) unique = fmt::format("{}-{}", plain, number);
  return unique;
}

const std::string& relative_path(const std::string& path) {
  bool inside = !path.empty() && path[0] != '/' && path[0] != '-' && path != ".." &&
                !path.starts_with("../") && !contains(path, "/../") && !path.ends_with("/..");
  if (!inside) refuse("the script path", path, "paths are relative and stay inside the recipe's folder");
  return path;
}

}  // namespace

StageLayout::StageLayout(const ImageSpec& spec) {
  if (spec.stages.empty()) throw Error(ExitCode::input, "an image without stages cannot be rendered");
  for (const Stage& stage : spec.stages) add_stage(stage);
}

bool StageLayout::needs_rootfs() const {
  return std::ranges::any_of(bases_, [](const RenderBase& b) { return !b.archive.empty(); });
}

std::size_t StageLayout::base_index(const Step& step) {
  for (std::size_t i = 0; i < bases_.size(); ++i) {
    if (bases_[i].step->key == step.key) return i;
  }
  std::string ending = bases_.empty() ? "" : fmt::format("-{}", bases_.size() + 1);
  std::string archive = step.kind == StepKind::rootfs ? "rootfs" + ending + ".tar" : "";
  bases_.push_back({"base" + ending, archive, &step});
  return bases_.size() - 1;
}

void StageLayout::add_stage(const Stage& stage) {
  if (stage.steps.empty()) refuse("the stage", stage.name, "it has no steps");
  const Step& first = stage.steps.front();
  if (first.kind != StepKind::rootfs && first.kind != StepKind::pull) {
    refuse("the stage", stage.name, "it does not start with a base");
  }
  RenderStage rendered{stage_name(stage.name, stages_), base_index(first), {}};
  for (std::size_t i = 1; i < stage.steps.size(); ++i) {
    const Step& step = stage.steps[i];
    if (step.kind != StepKind::copy && step.kind != StepKind::run)
      refuse("the step", step.title, fmt::format("'{}' cannot stand inside a stage", name_of(step.kind)));
    if (!taken_paths(step).empty()) {
      auto from = stage_by_last_.find(step.from);
      if (from == stage_by_last_.end())
        refuse("the step", step.title, "its build stage does not come before it");
      // The same copy may stand in two stages; then it is one archive for both.
      copies_.try_emplace(step.key, RenderCopy{copies_.size() + 1, &step, from->second});
    }
    rendered.steps.push_back(&step);
  }
  stage_by_last_[stage.steps.back().key] = stages_.size();
  stages_.push_back(std::move(rendered));
}

std::string script_folder(const Step& step) {
  std::string folder = step.component;
  std::ranges::replace(folder, '/', '-');
  if (!all_of(folder, "-._+"))
    refuse("the component", step.component, "names are letters, digits and - . _ +");
  return folder;
}

std::set<std::string> script_folders(const std::vector<const Step*>& steps) {
  std::set<std::string> folders;
  for (const Step* step : steps) {
    if (!step->script.empty()) folders.insert(script_folder(*step));
  }
  return folders;
}

const std::string& plain_path(const std::string& path) {
  bool safe = path.size() > 1 && path[0] == '/' && all_of(path, "/._+-@=~,") && !contains(path + "/", "/../");
  if (!safe) refuse("the path", path, "copied paths are absolute, of letters, digits and / . _ + - @ = ~ ,");
  return path;
}

const std::string& variable_name(const std::string& name) {
  bool digit_first = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0;
  if (!all_of(name, "_") || digit_first) {
    refuse("the environment variable", name, "names are letters, digits and _");
  }
  return name;
}

const std::string& label_name(const std::string& name) {
  // One that begins with "--" would be a flag of the instruction.
  if (!all_of(name, "._/-") || !is_letter_or_digit(name[0]))
    refuse("the label", name, "names are letters, digits and . _ / -, and begin with a letter or digit");
  return name;
}

std::string plain_reference(const std::string& reference) {
  std::string plain = reference.starts_with("docker://") ? reference.substr(9) : reference;
  if (!all_of(plain, "./:@_-") || !is_letter_or_digit(plain[0]))
    refuse("the image reference", reference, "a reference is name[:tag][@sha256:…]");
  // FROM takes these words for no base at all, and for a stage of the same file.
  std::string lower = plain;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "scratch" || lower == "base" || (lower.starts_with("base-") && all_of(lower.substr(5), "")))
    refuse("the image reference", reference, fmt::format("write it in full: docker.io/library/{}", plain));
  return plain;
}

std::map<std::string, std::vector<std::string>> secrets_of(const ImageSpec& spec,
                                                           const std::set<StepKind>& kinds) {
  std::map<std::string, std::vector<std::string>> secrets;
  for (const Step* step : spec.steps())
    for (const std::string& name : step->secrets)
      if (kinds.contains(step->kind)) secrets[name].push_back(one_line(step->title));
  return secrets;
}

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  for (char c : text) {
    if (c == '{' && line.ends_with('{')) line += ' ';
    line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return line;
}

std::string summary(const ImageSpec& spec) {
  std::string text;
  for (const ComponentUse& use : spec.components) {
    text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", use.name, use.version.text(), use.method);
  }
  return one_line(fmt::format("{}; for {}", text, spec.target.name));
}

std::string generated_line(const ImageSpec& spec) {
  return one_line(fmt::format("Generated by kiln from {}, key {}; do not edit.", spec.request.id,
                              spec.key.substr(0, 12)));
}

const std::vector<std::string>& always_there(bool home) {
  // 1980-01-01: the oldest date that a zip archive (a Python wheel) can hold.
  static const std::vector<std::string> kWords = {"DEBIAN_FRONTEND=noninteractive",
                                                  "KILN_JOBS=\"${KILN_JOBS:-$(nproc)}\"", "LC_ALL=C.UTF-8",
                                                  "SOURCE_DATE_EPOCH=\"${SOURCE_DATE_EPOCH:-315532800}\""};
  static const std::vector<std::string> kWithHome = {kWords[0], "HOME=/root", kWords[1], kWords[2],
                                                     kWords[3]};
  return home ? kWithHome : kWords;
}

std::vector<std::string> script_lines(const Step& step, std::string_view folder,
                                      const std::vector<std::string>& always) {
  std::vector<std::string> lines;
  lines.reserve(step.parameters.size() + always.size() + 2);
  lines.push_back(fmt::format("cd {} && exec env", folder));
  for (const auto& [name, value] : step.parameters) {
    std::string& line = lines.emplace_back("  ");
    line += variable_name(name);
    line += '=';
    line += quote_shell(value);
  }
  for (const std::string& word : always) lines.push_back("  " + word);
  lines.push_back("  /bin/sh -eu " + shell_word(relative_path(step.script)));
  return lines;
}

std::string continued(const std::vector<std::string>& lines, std::string_view indent) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += indent;
    text += lines[i];
    text += i + 1 < lines.size() ? " \\\n" : "\n";
  }
  return text;
}

}  // namespace kiln
