// Clones and branches.
#include <fmt/format.h>

#include <algorithm>

#include "factory/base/text.h"
#include "factory/lint/checks.h"

namespace kiln::lint {
namespace {

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
}

// Names that a project moves: master, r2.1, release/1.4, 1.9.x.
bool is_branch(std::string_view name) {
  for (std::string_view prefix : {"refs/heads/", "remotes/", "origin/"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (is_one_of(name, "master main develop devel dev trunk nightly latest stable next")) return true;
  if (name.starts_with('r') && is_digits(name.substr(1))) return true;
  return name.starts_with("release/") || name.starts_with("releases/") || name.starts_with("branch-") ||
         name.ends_with(".x");
}

// A variable that a person would put a commit into.
bool is_commit_variable(std::string_view text) {
  if (!contains(text, '$')) return false;
  const std::string capitals = upper_case(text);
  for (std::string_view part : {"COMMIT", "SHA", "REV", "HASH", "CHECKSUM"})
    if (contains(capitals, part)) return true;
  return false;
}

struct Git {
  const ShellCommand* command;
  Call call;
  std::string verb;

  bool pins() const {
    if (verb != "checkout" && verb != "reset" && verb != "switch" && verb != "fetch" && verb != "worktree" &&
        verb != "clone")
      return false;
    return std::ranges::any_of(call.arguments, [](const ShellToken* word) {
      return (has_commit(word->text) && !has_url(word->text)) || is_commit_variable(word->text);
    });
  }

  // The branch that a clone, checkout, fetch or switch asks for.
  const ShellToken* branch() const {
    const auto& words = call.arguments;
    for (std::size_t i = 0; i < words.size(); ++i) {
      std::string_view text = words[i]->text;
      if (text.starts_with("--branch=")) text.remove_prefix(std::string_view("--branch=").size());
      bool named = verb != "clone" ||
                   (i > 0 && (words[i - 1]->text == "-b" || words[i - 1]->text == "--branch")) ||
                   words[i]->text.starts_with("--branch=");
      bool creates = verb == "checkout" && i > 0 && words[i - 1]->text == "-b";
      if (named && !creates && is_branch(text)) return words[i];
    }
    return nullptr;
  }
};

std::vector<Git> git_calls(const ScriptUnit& unit) {
  std::vector<Git> calls;
  for (const ShellCommand& command : unit.shell.commands) {
    Call call = call_of(command);
    if (call.program != "git") continue;
    const ShellToken* verb = call.subcommand({"-C", "-c", "--git-dir", "--work-tree"});
    if (verb != nullptr) calls.push_back({&command, call, verb->text});
  }
  return calls;
}

// What git abbreviates a commit to: `b2ee0f4`.
bool is_abbreviated(std::string_view word) {
  constexpr std::size_t kShortest = 7;
  return word.size() >= kShortest && word.size() < 40 && std::ranges::all_of(word, is_hex) &&
         std::ranges::any_of(word, is_digit);
}

// A checkout behind the clone that nearly pins it; nullptr without.
const ShellToken* abbreviation(std::vector<Git>::const_iterator clone,
                               std::vector<Git>::const_iterator next) {
  for (auto git = clone + 1; git < next; ++git)
    if (git->verb == "checkout" || git->verb == "reset")
      for (const ShellToken* word : git->call.arguments)
        if (is_abbreviated(word->text)) return word;
  return nullptr;
}

// Clones that no pin follows before the next clone, as many as there are more clones than pins.
void check_clones(const std::vector<Git>& calls, const ScriptUnit& unit, Report& report) {
  auto is_clone = [](const Git& git) { return git.verb == "clone"; };
  auto pins = std::ranges::count_if(calls, [](const Git& git) { return git.pins(); });
  auto unpinned = std::ranges::count_if(calls, is_clone) - pins;
  for (auto clone = calls.begin(); clone != calls.end() && unpinned > 0; ++clone) {
    if (!is_clone(*clone) || clone->pins()) continue;
    auto next = std::find_if(clone + 1, calls.end(), is_clone);
    if (std::any_of(clone + 1, next, [](const Git& git) { return git.pins(); })) continue;
    --unpinned;
    if (clone->branch() != nullptr) continue;  // reported as a branch
    if (const ShellToken* commit = abbreviation(clone, next))
      add(report, "KL010", unit, *clone->command, commit->span,
          fmt::format("'{}' is only the beginning of a commit", commit->text));
    else
      add(report, "KL010", unit, *clone->command, clone->command->span, "this clone names no commit");
  }
}

void check_branches(const std::vector<Git>& calls, const ScriptUnit& unit, Report& report) {
  bool pinned = std::ranges::any_of(calls, [](const Git& git) { return git.pins(); });
  for (const Git& git : calls) {
    if (git.verb == "pull") {
      add(report, "KL011", unit, *git.command, git.command->span, "git pull takes the newest commit");
    } else if (git.verb == "submodule" && git.call.has("--remote")) {
      add(report, "KL011", unit, *git.command, git.call.find("--remote")->span,
          "--remote takes the newest commits of the submodules");
    } else if (git.verb == "clone" || git.verb == "checkout" || git.verb == "switch" || git.verb == "fetch") {
      const ShellToken* branch = git.branch();
      if (branch != nullptr && !(pinned && git.verb != "checkout"))
        add(report, "KL011", unit, *git.command, branch->span,
            fmt::format("'{}' is a branch: it moves", branch->text));
    }
  }
}

}  // namespace

bool has_commit(std::string_view text) {
  std::size_t run = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_hex(text[i])) {
      ++run;
    } else {
      if (run == 40) return true;
      run = 0;
    }
  }
  return false;
}

std::string branch_in_url(std::string_view text) {
  if (!has_url(text)) return "";
  for (std::string_view name : {"master", "main", "develop", "trunk"}) {
    for (std::string_view form :
         {"/archive/refs/heads/{}.", "/archive/{}.", "/raw/{}/", "/zipball/{}", "/tarball/{}", "/blob/{}/"}) {
      std::string part(form);
      part.replace(part.find("{}"), 2, name);
      if (contains(text, part)) return part;
    }
    if (contains(text, "://raw.") && contains(text, fmt::format("/{}/", name)))
      return fmt::format("/{}/", name);
  }
  return "";
}

void check_git(const ScriptUnit& unit, Report& report) {
  const std::vector<Git> calls = git_calls(unit);
  check_clones(calls, unit, report);
  check_branches(calls, unit, report);
}

// Downloads: what is fetched must be checked.

namespace {

bool is_download(const Call& call) {
  if (call.program != "curl" && call.program != "wget" && call.program != "aria2c") return false;
  if (call.has("-I") || call.has("--head") || call.has("--version") || call.has("--spider")) return false;
  return std::ranges::any_of(call.arguments, [](const ShellToken* word) {
    return has_url(word->text) || contains(word->text, '$');
  });
}

bool is_shell(std::string_view program) { return is_one_of(program, "sh bash dash zsh python python3"); }

bool is_check(const Call& call) {
  if (call.program == "openssl") return call.has("dgst");
  return is_one_of(call.program, "sha256sum sha512sum sha384sum b2sum shasum gpg gpgv minisign cosign rhash");
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
  return is_one_of(program, "apt-key tar bsdtar gunzip unzip xz zstd tee dd cpio");
}

// False for a download that is only read: an answer that grep or a variable takes.
bool is_kept(const ShellCommand& download, const Call& call, const ScriptUnit& unit) {
  if (call.has("-o") || call.has("-O") || call.has_prefix("--output")) return true;
  if (download.after != "|") return !download.in_substitution;
  return std::ranges::any_of(unit.shell.commands, [&](const ShellCommand& other) {
    return other.pipeline == download.pipeline && other.span.begin > download.span.begin &&
           keeps(call_of(other).program);
  });
}

bool checked_later(const ShellCommand& download, const ScriptUnit& unit) {
  return std::ranges::any_of(unit.shell.commands, [&](const ShellCommand& other) {
    return other.span.begin > download.span.begin && is_check(call_of(other));
  });
}

}  // namespace

bool has_url(std::string_view text) {
  return contains(text, "http://") || contains(text, "https://") || contains(text, "ftp://");
}

void check_downloads(const ScriptUnit& unit, Report& report) {
  if (unit.place == ScriptRole::environment) return;
  for (const ShellCommand& command : unit.shell.commands) {
    const Call call = call_of(command);
    for (const ShellToken& word : command.words)
      if (std::string branch = branch_in_url(word.text); !branch.empty())
        add(report, "KL011", unit, command, word.span,
            fmt::format("{} in this URL is a branch: it moves", branch));
    if (!is_download(call)) continue;
    if (runner_of(command, unit) != nullptr)
      add(report, "KL017", unit, command, command.span,
          fmt::format("a shell runs what {} downloads, and nothing checks it", call.program));
    else if (is_kept(command, call, unit) && !checked_later(command, unit))
      add(report, "KL012", unit, command, command.span,
          fmt::format("no checksum verifies what {} downloads", call.program));
  }
}

}  // namespace kiln::lint
