// What rules look at: pieces of shell with where they run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "factory/lint/shell_call.h"
#include "factory/source/requirements_file.h"
#include "factory/source/source_file.h"

namespace kiln::lint {

// Where a piece of shell runs.
enum class ScriptPlace {
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
bool in_recipe(ScriptPlace place);  // a script of a recipe, wherever it runs
bool stays(ScriptPlace place);      // what it writes stays in an image

struct ScriptUnit {
  const SourceFile* file = nullptr;
  Span span;
  ScriptPlace place = ScriptPlace::recipe;
  ShellText shell;
  bool unattended = false;   // DEBIAN_FRONTEND is set around it
  bool keeps_pip = false;    // the method has a cache for what pip keeps
  bool assumes_yes = false;  // apt's configuration answers its questions
  bool stops = false;        // its shell was started with -e
  bool is_sourced = false;   // the shell of another script reads it, and goes on

  std::string_view text() const {
    return std::string_view(file->text()).substr(span.begin, span.end - span.begin);
  }
  bool mentions(std::string_view words) const { return text().find(words) != std::string_view::npos; }
};

}  // namespace kiln::lint
