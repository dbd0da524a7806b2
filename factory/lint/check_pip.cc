// pip and conda: what is installed must be named exactly, and nothing left behind.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/base/text.h"
#include "factory/lint/check_script.h"
#include "factory/lint/pip_call.h"

namespace kiln::lint {
namespace {

void check_versions(const PipCall& pip, const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  bool reported = false;
  for (const PipPackage& one : pip.packages) {
    if (one.url.starts_with("git+") && !has_commit(one.url) && one.url.find('$') == std::string::npos) {
      add(report, "KL010", unit, command, one.span, "git+ without a commit is whatever upstream has today");
    } else if (!one.exact) {
      add(report, "KL013", unit, command, one.span,
          fmt::format("'{}' is installed in whatever version is newest", one.name))
          .package = one.name;
      reported = true;
    }
  }
  bool from_index = std::any_of(pip.packages.begin(), pip.packages.end(),
                                [](const PipPackage& one) { return !one.url.starts_with("git+"); });
  bool fetches = !pip.words.no_index && (!pip.words.files.empty() || from_index);
  if (!fetches || reported || pip.words.hashes || wrapped_with(unit, "--require-hashes")) return;
  Finding& finding = add(report, "KL014", unit, command, pip.words.verb->span,
                         "pip takes whatever file the index has for these versions");
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
  static constexpr std::array<std::string_view, 7> kSystem = {
      "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin", ""};
  if (assigned_name(word.text) != "PATH") return false;
  std::string_view first = std::string_view(word.text).substr(word.text.find('=') + 1);
  if (first.starts_with("$PATH") || first.starts_with("${PATH")) return false;
  first = first.substr(0, first.find(':'));
  if (first.find('/') == std::string_view::npos) return false;
  first = first.substr(0, first.find('$', 1));
  return std::find(kSystem.begin(), kSystem.end(), first) == kSystem.end();
}

bool enters_environment(const ScriptUnit& unit) {
  const auto& commands = unit.shell.commands;
  return unit.mentions("/bin/activate") || unit.mentions("VIRTUAL_ENV=") ||
         std::any_of(commands.begin(), commands.end(), [](const ShellCommand& command) {
           const Call call = call_of(command);
           const bool conda =
               call.program == "conda" || call.program == "mamba" || call.program == "micromamba";
           return (conda && call.has("activate")) ||
                  std::any_of(command.words.begin(), command.words.end(), puts_own_folder_first);
         });
}

// Into a folder of its own: a virtual environment, --target, --prefix.
bool is_apart(const PipCall& pip, const ScriptUnit& unit) {
  const std::string& path = pip.call.word->text;
  bool system =
      path.find('/') == std::string::npos || path.starts_with("/usr/bin/") || path.starts_with("/bin/");
  if (!system) return true;
  if (pip.call.program == "uv" && !pip.call.has("--system")) return true;  // it takes an environment only
  for (std::string_view option : {"--target", "-t", "--prefix", "--root", "--python"})
    if (pip.call.has_prefix(option)) return true;
  const auto& names = unit.shell.functions;
  return std::find(names.begin(), names.end(), "pip") != names.end() || enters_environment(unit);
}

void check_place(const PipCall& pip, const ScriptUnit& unit, const ShellCommand& command, Report& report) {
  if (unit.place != ScriptPlace::recipe && unit.place != ScriptPlace::build) return;
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
  if (std::count(name.begin(), name.end(), '-') < 4 || name.find_first_of("*?$") != std::string_view::npos)
    return "";
  return std::string(name);
}

std::string wheel_python(std::string_view wheel) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= wheel.size();) {
    std::size_t end = std::min(wheel.find('-', start), wheel.size());
    parts.push_back(wheel.substr(start, end - start));
    start = end + 1;
  }
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

}  // namespace kiln::lint
