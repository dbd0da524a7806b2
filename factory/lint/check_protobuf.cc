// TensorFlow's wheels that take any protobuf: 4.21 and later break them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"
#include "factory/lint/check_file.h"
#include "factory/lint/tensorflow_facts.h"
#include "factory/lint/whole_file.h"

namespace kiln::lint {
namespace {

const Version kLastOldPython("3.6");  // protobuf 3.19.6 is the last for it
const Version kNoOldPython("2.7");    // the first TensorFlow that has no wheel for it
const Version kFirstBad("4");         // of PyPI's numbers: 3.20.3 is followed by 4.21.0

bool is_tensorflow(const std::string& name) {
  return name == "tensorflow" || name == "tensorflow-gpu" || name == "tensorflow-cpu";
}

// "2.1.0" of ==2.1.0 and of ==2.1.*; "" where no release is named.
std::string tensorflow_release(const WholeFile& whole, const PipPackage& package) {
  return version_at(whole.expanded(package.version));
}

// Whether a requirement keeps protobuf below 4: `protobuf==3.19.6`, `protobuf<3.21`, conda's `protobuf=3.20`.
bool holds_back(std::string_view requirement) {
  while (!requirement.empty()) {
    const std::size_t sign = requirement.find_first_of("<=~");
    if (sign == std::string_view::npos) return false;
    const bool from = sign > 0 && (requirement[sign - 1] == '>' || requirement[sign - 1] == '!');
    const bool below = requirement[sign] == '<' && requirement.substr(sign).substr(1, 1) != "=";
    requirement.remove_prefix(std::min(requirement.find_first_not_of("<=~ ", sign), requirement.size()));
    const std::string number(requirement.substr(0, requirement.find_first_not_of("0123456789.")));
    if (from || number.empty() || !is_digit(number.front()) || number.size() > 20) continue;
    const Version bound(number);
    if (bound < kFirstBad || (below && bound <= Version("4.21"))) return true;
  }
  return false;
}

bool is_protobuf(std::string_view word) {
  return word.starts_with("protobuf") && word.find_first_of("<=~") != std::string_view::npos;
}

// Something that this file does not show may say which protobuf it is.
bool may_be_held_back(const WholeFile& whole) {
  for (std::string_view word : {"PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "PIP_CONSTRAINT"})
    if (whole.mentions(word)) return true;
  for (const PlacedCommand& one : whole.commands())
    for (const ShellToken& word : one.command->words)
      if (is_protobuf(word.text) && holds_back(whole.expanded(word.text))) return true;
  for (const auto& [place, pip] : whole.pip_calls()) {
    const Call& call = pip.call;
    if (!pip.words.files.empty() || pip.words.no_index || call.has("-c") || call.has_prefix("--constraint") ||
        call.has("--no-deps"))
      return true;
  }
  return false;
}

// Adds the X of every "python3.X", "python=3.X" and "py3X" of a text.
void add_pythons(std::string_view text, std::set<Version>& pythons) {
  for (std::size_t at = text.find("py3"); at != std::string_view::npos; at = text.find("py3", at + 1)) {
    const std::string_view digits =
        text.substr(at + 3, text.find_first_not_of("0123456789", at + 3) - at - 3);
    if (!digits.empty() && digits.size() <= 2) pythons.insert(Version(fmt::format("3.{}", digits)));
  }
  for (std::size_t at = text.find("python"); at != std::string_view::npos; at = text.find("python", at + 1)) {
    std::string_view rest = text.substr(at + std::string_view("python").size());
    rest.remove_prefix(std::min(rest.find_first_not_of("=:-_ "), rest.size()));
    if (const std::string version = version_at(rest); version.starts_with("3."))
      pythons.insert(Version(version));
  }
}

std::set<Version> pythons_of(const WholeFile& whole) {
  std::set<Version> pythons;
  for (const FileStage& stage : whole.stages) add_pythons(stage.base, pythons);
  for (const PlacedCommand& one : whole.commands())
    for (const ShellToken& word : one.command->words)
      add_pythons(lower_case(whole.expanded(word.text)), pythons);
  for (const Setting& setting : whole.settings) {
    const std::string name = lower_case(setting.name);
    if (name.starts_with("py")) add_pythons("python" + setting.value, pythons);
  }
  if (!pythons.empty()) return pythons;
  for (const FileStage& stage : whole.stages)
    if (const std::string python = python_of_base(stage.base); !python.empty())
      pythons.insert(Version(python));
  return pythons;
}

// How sure it is that this TensorFlow meets a protobuf that is too new; nullopt: it does not.
std::optional<Severity> severity_of(const Version& tensorflow, const std::set<Version>& pythons) {
  if (kNoOldPython <= tensorflow) return Severity::error;
  if (pythons.empty()) return Severity::warning;
  const bool newer = std::any_of(pythons.begin(), pythons.end(), [](const Version& python) {
    return kLastOldPython < python && !kLastOldPython.covers(python);
  });
  return newer ? std::optional(Severity::error) : std::nullopt;
}

std::string protobuf_text(const std::string& release, Severity severity) {
  return fmt::format("TensorFlow {} takes any protobuf, and cannot be imported with 4.21 and later{}",
                     release, severity == Severity::error ? "" : ", which Python 3.7 and newer get");
}

}  // namespace

void check_protobuf(const WholeFile& whole, Report& report) {
  if (!whole.mentions("tensorflow") || may_be_held_back(whole)) return;
  const std::set<Version> pythons = pythons_of(whole);
  for (const auto& [place, pip] : whole.pip_calls()) {
    for (const PipPackage& package : pip.packages) {
      const std::string release = is_tensorflow(package.name) ? tensorflow_release(whole, package) : "";
      if (release.empty() || !takes_any_protobuf(Version(release))) continue;
      if (auto severity = severity_of(Version(release), pythons))
        add(report, "KL024", *place.unit, *place.command, package.span, protobuf_text(release, *severity))
            .severity = *severity;
    }
  }
}

void check_protobuf_of(const SourceFile& file, const RequirementsFile& all, Report& report) {
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    const std::string_view text = trimmed(file.line_text(line));
    const bool others = text.starts_with("-r") || text.starts_with("-c") ||
                        text.starts_with("--requirement") || text.starts_with("--constraint");
    if (others || (is_protobuf(text) && holds_back(text))) return;
  }
  for (const PipPackage& package : all.packages) {
    const std::string release = is_tensorflow(package.name) ? version_at(package.version) : "";
    if (release.empty() || package.hashed || !takes_any_protobuf(Version(release))) continue;
    if (auto severity = severity_of(Version(release), {}))
      report.add("KL024", file, package.span, protobuf_text(release, *severity)).severity = *severity;
  }
}

}  // namespace kiln::lint
