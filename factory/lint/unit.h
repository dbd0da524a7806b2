// What rules look at: pieces of shell with where they run, instructions of Dockerfiles, packages that pip is
// asked for.
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

// One instruction of a Dockerfile; its arguments are as written, continuation lines included.
struct Instruction {
  std::string name;  // upper case: RUN
  Span name_span;
  Span arguments;
  std::size_t stage = 0;  // counts FROMs, from 1; 0 before the first
};

struct Dockerfile {
  std::vector<Instruction> instructions;
  std::size_t stages = 0;
  std::vector<ShellComment> comments;  // whole lines
};

// Line by line, as BuildKit reads it: continuation lines, `# escape=` is not looked for, here-documents
// belong to their instruction.
Dockerfile read_dockerfile(const SourceFile& file);

// NAME=value pairs of ENV, ARG and LABEL; `ENV NAME value` too. A value is without its quotes.
struct Assignment {
  std::string name;
  std::string value;
  bool has_value = false;
  Span span;
};
std::vector<Assignment> read_assignments(const SourceFile& file, const Instruction& instruction);

struct Section {
  std::string name;  // "post", "environment"; "" for the header
  Span span;         // of what is below its line
};
// Singularity/Apptainer definition file: the header and its sections.
std::vector<Section> read_definition(const SourceFile& file);

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
