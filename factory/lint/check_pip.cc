// pip and conda: what is installed must be named exactly, and nothing left behind.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "factory/base/text.h"
#include "factory/lint/checks.h"
#include "factory/lint/release_facts.h"
#include "factory/lint/unit.h"

namespace kiln::lint {
namespace {

void check_versions(const PipCall& pip, const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  bool reported = false;
  for (const PipPackage& one : pip.packages) {
    if (one.url.starts_with("git+") && !has_commit(one.url) && !contains(one.url, '$')) {
      add(report, "KL010", unit, command, one.span, "git+ without a commit installs the newest commit");
    } else if (!one.exact) {
      add(report, "KL013", unit, command, one.span,
          fmt::format("'{}' is installed without a version", one.name))
          .package = one.name;
      reported = true;
    }
  }
  bool from_index =
      std::ranges::any_of(pip.packages, [](const PipPackage& one) { return !one.url.starts_with("git+"); });
  bool fetches = !pip.words.no_index && (!pip.words.files.empty() || from_index);
  if (!fetches || reported || pip.words.hashes || wrapped_with(unit, "--require-hashes")) return;
  Finding& finding = add(report, "KL014", unit, command, pip.words.verb->span,
                         "no hash verifies the files that pip downloads");
  if (!in_recipe(unit.place)) finding.severity = Severity::note;
}

void check_cache(const PipCall& pip, const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  if (!stays(unit.place) || unit.keeps_pip || pip.call.program == "uv") return;
  for (std::string_view word :
       {"PIP_NO_CACHE_DIR", "/root/.cache", "~/.cache", "pip cache purge", "type=cache"})
    if (unit.mentions(word)) return;
  if (pip.call.has("--no-cache-dir") || wrapped_with(unit, "--no-cache-dir")) return;
  Finding& finding =
      add(report, "KL051", unit, command, pip.words.verb->span, "pip's cache stays in the layer");
  if (in_recipe(unit.place)) finding.severity = Severity::note;
  finding.fix = {{{pip.words.verb->span.end, pip.words.verb->span.end}, " --no-cache-dir"}};
}

// PATH=/opt/venv/bin:…, which finds this pip before the system's.
bool puts_own_folder_first(const ShellToken& word) {
  if (assigned_name(word.text) != "PATH") return false;
  std::string_view first = std::string_view(word.text).substr(word.text.find('=') + 1);
  if (first.starts_with("$PATH") || first.starts_with("${PATH")) return false;
  first = first.substr(0, first.find(':'));
  if (!contains(first, '/')) return false;
  first = first.substr(0, first.find('$', 1));
  return !(first.empty() || is_one_of(first, "/usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin"));
}

bool enters_environment(const ScriptUnit& unit) {
  return unit.mentions("/bin/activate") || unit.mentions("VIRTUAL_ENV=") ||
         std::ranges::any_of(unit.shell.commands, [](const ShellCommand& command) {
           const Call call = call_of(command);
           const bool conda =
               call.program == "conda" || call.program == "mamba" || call.program == "micromamba";
           return (conda && call.has("activate")) ||
                  std::ranges::any_of(command.words, puts_own_folder_first);
         });
}

// Into a folder of its own: a virtual environment, --target, --prefix.
bool is_apart(const PipCall& pip, const ScriptUnit& unit) {
  const std::string& path = pip.call.word->text;
  bool system = !contains(path, '/') || path.starts_with("/usr/bin/") || path.starts_with("/bin/");
  if (!system) return true;
  if (pip.call.program == "uv" && !pip.call.has("--system")) return true;  // it takes an environment only
  for (std::string_view option : {"--target", "-t", "--prefix", "--root", "--python"})
    if (pip.call.has_prefix(option)) return true;
  return contains(unit.shell.functions, "pip") || enters_environment(unit);
}

void check_place(const PipCall& pip, const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  if (unit.place != ScriptRole::recipe && unit.place != ScriptRole::build) return;
  if (pip.words.verb->text == "install" && !is_apart(pip, unit))
    add(report, "KL080", unit, command, pip.call.word->span, "this pip writes into the system's Python");
}

// `curl URL` needs the name, and a checksum finds the wrong file.
bool is_checked_download(const Call& call, const ScriptUnit& unit) {
  return (call.program == "curl" || call.program == "wget") && unit.mentions("sha256sum");
}

void check_wheels(const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  const Call call = call_of(command);
  if (is_checked_download(call, unit) || (call.program == "echo" && unit.mentions("sha256sum"))) return;
  for (const ShellToken& word : command.words)
    if (std::string wheel = wheel_name(word.text); !wheel.empty())
      add(report, "KL022", unit, command, word.span,
          fmt::format("'{}' is one name of many that this wheel may have", wheel));
}

}  // namespace

std::string wheel_name(std::string_view text) {
  std::size_t end = text.find(".whl");
  if (end == std::string_view::npos) return "";
  end += std::string_view(".whl").size();
  std::size_t start = text.substr(0, end).find_last_of("/ =\"'");
  std::string_view name = text.substr(start == std::string_view::npos ? 0 : start + 1,
                                      end - (start == std::string_view::npos ? 0 : start + 1));
  // name-version[-build]-python-abi-platform.whl (PEP 427)
  if (std::ranges::count(name, '-') < 4 || name.find_first_of("*?$") != std::string_view::npos) return "";
  return std::string(name);
}

std::string wheel_python(std::string_view wheel) {
  const std::vector<std::string_view> parts = split(wheel, '-');
  if (parts.size() < 5) return "";
  std::string_view tag = parts[parts.size() - 3];
  std::string_view abi = parts[parts.size() - 2];
  return tag.starts_with("cp") && abi != "abi3" && abi != "none" ? std::string(tag) : "";
}

void check_pip(const ScriptUnit& unit, Report& report) {
  for (const ShellCommand& command : unit.shell.commands) {
    check_wheels(unit, command, report);
    auto pip = pip_call(command);
    if (!pip) continue;
    check_versions(*pip, unit, command, report);
    check_cache(*pip, unit, command, report);
    check_place(*pip, unit, command, report);
  }
}

// KL026: two package indexes for one pip, either of which may answer for any name.

namespace {

constexpr std::string_view kText = "pip takes each package from the index with the higher version";

const ShellToken* extra_index_of(const Call& call) {
  for (const ShellToken* word : call.arguments)
    if (word->text == "--extra-index-url" || word->text.starts_with("--extra-index-url=")) return word;
  return nullptr;
}

// A local version (1.13.0+cu117) is on no public index: it names the index that it is from.
bool name_their_index(const PipCall& pip) {
  return pip.words.files.empty() && !pip.packages.empty() &&
         std::ranges::all_of(pip.packages,
                             [](const PipPackage& one) { return one.exact && contains(one.version, '+'); });
}

// uv asks its indexes in order, and stays with the first that knows the name.
bool asks_in_order(const PipCall& pip) {
  return pip.call.program == "uv" && !pip.call.has_prefix("--index-strategy=unsafe") &&
         !pip.call.has("unsafe-best-match") && !pip.call.has("unsafe-first-match");
}

void check_call(const PlacedCommand& placed, const PipCall& pip, Report& report) {
  const ShellToken* option = extra_index_of(pip.call);
  if (option == nullptr || asks_in_order(pip) || name_their_index(pip) || pip.words.hashes ||
      pip.words.no_index || wrapped_with(*placed.unit, "--require-hashes"))
    return;
  add(report, "KL026", *placed.unit, *placed.command, option->span, std::string(kText));
}

// `pip config set global.extra-index-url URL`.
void check_configuration(const PlacedCommand& placed, Report& report) {
  const Call call = call_of(*placed.command);
  if (!is_pip(call.program) || !call.has("config") || !call.has("set")) return;
  for (const ShellToken* word : call.arguments)
    if (word->text.ends_with("extra-index-url"))
      add(report, "KL026", *placed.unit, *placed.command, word->span, std::string(kText));
}

}  // namespace

void check_indexes(const WholeFile& whole, Report& report) {
  for (const auto& [placed, pip] : whole.pip_calls()) check_call(placed, pip, report);
  for (const PlacedCommand& placed : whole.commands()) check_configuration(placed, report);
  for (const Setting& setting : whole.settings)
    if (setting.name == "PIP_EXTRA_INDEX_URL" && !setting.value.empty())
      report.add("KL026", *whole.file, setting.span, std::string(kText));
}

void check_indexes_of(const SourceFile& file, const RequirementsFile& all, Report& report) {
  const bool hashed = std::ranges::all_of(all.packages, [](const PipPackage& one) { return one.hashed; });
  if (hashed && !all.packages.empty()) return;
  for (int line = 1; line <= static_cast<int>(file.lines()); ++line) {
    const std::string_view text = file.line_text(line);
    if (text.starts_with("--extra-index-url"))
      report.add("KL026", file, {file.start_of(line), file.start_of(line) + text.size()}, std::string(kText));
  }
}

// TensorFlow's wheels that take any protobuf: 4.21 and later break them.

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
  const bool newer = std::ranges::any_of(pythons, [](const Version& python) {
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
