// The input of rules: pieces of shell with the place where they run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/base/text.h"
#include "factory/source/pip_words.h"
#include "factory/source/shell.h"
#include "factory/source/source_file.h"

namespace kiln::lint {

// The program after `sudo`, `env`, `exec`, `command`, `time`, `nice` and `python -m pip`.
struct Call {
  std::string program;  // the last part of its path: "pip"; "" when there is none (an assignment)
  const ShellToken* word = nullptr;
  std::vector<const ShellToken*> arguments;
  bool sudo = false;

  bool has(std::string_view argument) const;         // as a whole word
  bool has_prefix(std::string_view argument) const;  // a word that starts with it
  const ShellToken* find(std::string_view argument) const;
  // The first argument that is no option; `with_value` are options that take the next word.
  const ShellToken* subcommand(const std::vector<std::string_view>& with_value = {}) const;
};
Call call_of(const ShellCommand& command);

// Where a piece of shell runs.
enum class ScriptRole {
  recipe,       // a recipe's script in the image
  build,        // a recipe's script in a stage that is thrown away
  test,         // a recipe's test
  host,         // a recipe's rootfs script, on the build host
  run,          // RUN of the last stage of a Dockerfile
  run_dropped,  // RUN of an earlier stage
  post,         // %post of a definition file
  environment,  // %environment
  other,        // any further section: %test, %runscript, %setup
};
bool in_recipe(ScriptRole place);  // a script of a recipe, wherever it runs
bool stays(ScriptRole place);      // its files stay in an image

struct ScriptUnit {
  const SourceFile* file = nullptr;
  Span span;
  ScriptRole place = ScriptRole::recipe;
  ShellText shell;
  bool unattended = false;   // DEBIAN_FRONTEND is set around it
  bool keeps_pip = false;    // the method has a cache for pip
  bool assumes_yes = false;  // apt's configuration answers its questions
  bool stops = false;        // its shell was started with -e
  bool is_sourced = false;   // the shell of another script reads it, and goes on

  std::string_view text() const {
    return std::string_view(file->text()).substr(span.begin, span.end - span.begin);
  }
  bool mentions(std::string_view words) const { return contains(text(), words); }
};

// A command that calls pip, also through `uv` and `python -m`.
struct PipCall {
  Call call;
  PipWords words;
  std::vector<PipPackage> packages;  // named on the command line
};

// nullopt for every other command.
std::optional<PipCall> pip_call(const ShellCommand& command);

// True when the script defines a function `pip` that adds this option to every call.
bool wrapped_with(const ScriptUnit& unit, std::string_view option);

// A command that calls apt-get, apt or aptitude.
struct AptCall {
  const ShellCommand* command;
  Call call;
  const ShellToken* verb;  // "install"

  // The requested packages, as written: "cmake", "cmake=3.16*", "./a.deb", "$PACKAGES".
  std::vector<const ShellToken*> packages() const;
};

std::vector<AptCall> apt_calls(const ScriptUnit& unit);

}  // namespace kiln::lint
