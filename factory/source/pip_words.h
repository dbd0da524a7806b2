// Requirements for pip: one package as PEP 508 writes it, and the lines of a requirements file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/source/shell.h"
#include "factory/source/source_file.h"

namespace kiln {

struct PipPackage {
  std::string name;  // normalised
  std::string extras;
  std::string version;              // after ==, "" without
  bool hashed = false;              // the line names a hash
  std::vector<std::string> sha256;  // those that it names, in hex
  bool exact = false;               // == or ===, or a URL
  std::string url;                  // `name @ URL`, or a URL alone
  Span span;
};

// Without its marker. The name and the URL are "" for an option, a path or a variable.
PipPackage read_pip_package(std::string_view text, Span span);

// PEP 503: lower case, runs of -_. are one -.
std::string normal_package_name(std::string_view name);

struct RequirementsFile {
  std::vector<PipPackage> packages;
  std::string index;  // of --index-url or --extra-index-url, "" = the default
};
RequirementsFile read_requirements_file(const SourceFile& file);

// The command line of pip, taken apart.

// Of `pip install`, `pip download` and `pip wheel`.
struct PipWords {
  const ShellToken* verb = nullptr;         // "install"
  std::vector<const ShellToken*> operands;  // packages, URLs and paths that are asked for
  std::vector<std::string> files;           // after -r, as written
  std::string index;                        // the last of --index-url and the like, "" = the default
  bool hashes = false;                      // --require-hashes
  bool no_index = false;                    // only what is given
};

// `words`: all words after "pip". nullopt for another verb.
std::optional<PipWords> read_pip_words(const std::vector<const ShellToken*>& words);

// pip, pip2, pip3, pip3.11: without its folder.
bool is_pip(std::string_view program);

}  // namespace kiln
