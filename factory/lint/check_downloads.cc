// Downloads: what is fetched must be checked.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "factory/lint/check_script.h"

namespace kiln::lint {
namespace {

bool is_download(const Call& call) {
  if (call.program != "curl" && call.program != "wget" && call.program != "aria2c") return false;
  if (call.has("-I") || call.has("--head") || call.has("--version") || call.has("--spider")) return false;
  return std::any_of(call.arguments.begin(), call.arguments.end(), [](const ShellToken* word) {
    return has_url(word->text) || word->text.find('$') != std::string::npos;
  });
}

bool is_shell(std::string_view program) {
  static constexpr std::array<std::string_view, 6> kShells = {"sh",  "bash",   "dash",
                                                              "zsh", "python", "python3"};
  return std::find(kShells.begin(), kShells.end(), program) != kShells.end();
}

bool is_check(const Call& call) {
  static constexpr std::array<std::string_view, 10> kPrograms = {
      "sha256sum", "sha512sum", "sha384sum", "b2sum", "shasum", "gpg", "gpgv", "minisign", "cosign", "rhash"};
  if (call.program == "openssl") return call.has("dgst");
  return std::find(kPrograms.begin(), kPrograms.end(), call.program) != kPrograms.end();
}

// The shell that a download is piped into, or that runs it as $(…): null without.
const ShellCommand* runner_of(const ShellCommand& download, const ScriptUnit& unit) {
  for (const ShellCommand& other : unit.shell.commands) {
    const Call call = call_of(other);
    bool piped = other.pipeline == download.pipeline && other.span.begin > download.span.begin &&
                 is_shell(call.program);
    bool inside = download.in_substitution && other.span.begin < download.span.begin &&
                  other.span.end >= download.span.end &&
                  (is_shell(call.program) || (!other.words.empty() && other.words.front().text == "eval"));
    if (piped || inside) return &other;
  }
  return nullptr;
}

bool keeps(std::string_view program) {
  static constexpr std::array<std::string_view, 10> kPrograms = {
      "apt-key", "tar", "bsdtar", "gunzip", "unzip", "xz", "zstd", "tee", "dd", "cpio"};
  return std::find(kPrograms.begin(), kPrograms.end(), program) != kPrograms.end();
}

// False for a download that is only read: an answer that grep or a variable takes.
bool is_kept(const ShellCommand& download, const Call& call, const ScriptUnit& unit) {
  if (call.has("-o") || call.has("-O") || call.has_prefix("--output")) return true;
  if (download.after != "|") return !download.in_substitution;
  const auto& commands = unit.shell.commands;
  return std::any_of(commands.begin(), commands.end(), [&](const ShellCommand& other) {
    return other.pipeline == download.pipeline && other.span.begin > download.span.begin &&
           keeps(call_of(other).program);
  });
}

bool checked_later(const ShellCommand& download, const ScriptUnit& unit) {
  const auto& commands = unit.shell.commands;
  return std::any_of(commands.begin(), commands.end(), [&](const ShellCommand& other) {
    return other.span.begin > download.span.begin && is_check(call_of(other));
  });
}

}  // namespace

bool has_url(std::string_view text) {
  return text.find("http://") != std::string_view::npos || text.find("https://") != std::string_view::npos ||
         text.find("ftp://") != std::string_view::npos;
}

void check_downloads(const ScriptUnit& unit, Report& report) {
  if (unit.place == ScriptPlace::environment) return;
  for (const ShellCommand& command : unit.shell.commands) {
    const Call call = call_of(command);
    for (const ShellToken& word : command.words)
      if (std::string branch = branch_in_url(word.text); !branch.empty())
        add(report, "KL011", unit, command, word.span,
            fmt::format("{} in this URL is a branch: it moves", branch));
    if (!is_download(call)) continue;
    if (runner_of(command, unit) != nullptr)
      add(report, "KL017", unit, command, command.span,
          fmt::format("what {} gets is run unseen", call.program));
    else if (is_kept(command, call, unit) && !checked_later(command, unit))
      add(report, "KL012", unit, command, command.span,
          fmt::format("nothing checks what {} gets", call.program));
  }
}

}  // namespace kiln::lint
