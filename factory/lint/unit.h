// What rules look at: pieces of shell with where they run, packages that pip is asked for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lint/shell.h"
#include "lint/source.h"

namespace kiln::lint {

// Where a piece of shell runs.
enum class Place {
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
bool in_recipe(Place place);  // a script of a recipe, wherever it runs
bool stays(Place place);      // what it writes stays in an image

struct ScriptUnit {
  const SourceFile* file = nullptr;
  Span span;
  Place place = Place::recipe;
  ShellText shell;

  std::string_view text() const {
    return std::string_view(file->text()).substr(span.begin, span.end - span.begin);
  }
  bool mentions(std::string_view words) const { return text().find(words) != std::string_view::npos; }
};

// A package that pip is asked for, on the command line or in a requirements file.
struct Requirement {
  std::string name;  // normalised: lower case, runs of -_. are one -
  std::string extras;
  std::string version;  // behind ==, "" without
  bool hashed = false;
  bool exact = false;  // == or ===, or a URL
  std::string url;     // `name @ URL`, or a URL alone
  Span span;
};
// One requirement as pip writes it (PEP 508), without markers. nullopt-like: name "" for an option, a path or
// a variable.
Requirement read_requirement(std::string_view text, Span span);

struct Requirements {
  std::vector<Requirement> packages;
  std::string index;  // of --index-url or --extra-index-url, "" = the default
};
Requirements read_requirements(const SourceFile& file);

}  // namespace kiln::lint
