// The command line of pip, taken apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "factory/source/shell_tokens.h"

namespace kiln {

// Of `pip install`, `pip download` and `pip wheel`.
struct PipWords {
  const ShellToken* verb = nullptr;         // "install"
  std::vector<const ShellToken*> operands;  // packages, URLs and paths that are asked for
  std::vector<std::string> files;           // behind -r, as written
  std::string index;                        // the last of --index-url and the like, "" = the default
  bool hashes = false;                      // --require-hashes
  bool no_index = false;                    // only what is given
};

// `words`: all behind "pip". nullopt for another verb.
std::optional<PipWords> read_pip_words(const std::vector<const ShellToken*>& words);

// pip, pip2, pip3, pip3.11: without its folder.
bool is_pip(std::string_view program);

}  // namespace kiln
